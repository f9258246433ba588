// How a table and its devices stand, in words: what lasts is a state, what has passed is a count.

import { counted } from "./words.js";

/** @type {Record<string, string[]>} */
const FAULTS = {
  link_lost: ["no signal", "loss of signal", "losses of signal"],
  restarts_spent: ["lost too often; next try later", "pause after too many losses", "pauses after too many losses"],
  left_out: ["pictures dropped", "dropped picture"],
  damaged: ["damaged packets", "damaged packet"],
  unwatched: ["not watched", "time unwatched", "times unwatched"],
  size_changed: ["picture size changed", "change of picture size", "changes of picture size"],
  black: ["picture black", "black picture"],
  overexposed: ["picture overexposed", "overexposed picture"],
  frozen: ["picture frozen", "frozen picture"],
  unfocused: ["picture unfocused", "unfocused picture"],
  moved: ["camera moved", "move of the camera", "moves of the camera"],
  obstructed: ["view obstructed", "obstructed view"],
  covered: ["felt covered", "time covered", "times covered"],
  checksum: ["bad checksum", "bad checksum"],
  gap: ["cards missing", "gap in the draws", "gaps in the draws"],
};
const plain = (/** @type {string} */ kind) => kind.replaceAll("_", " ");

/** A fault that lasts, as a state. */
export const faultText = (/** @type {string} */ kind) => FAULTS[kind]?.[0] ?? plain(kind);

/** Faults that have passed, as a count: `2 dropped pictures`. */
export const passedText = (/** @type {{ kind: string, count: number }} */ { kind, count }) => {
  const [, one, many] = FAULTS[kind] ?? [];
  return one ? counted(count, one, many) : `${plain(kind)}, ${counted(count, "time")}`;
};

/** @type {Record<string, string[]>} */
const STATES = {
  "no round": ["No round yet", "idle"], "round open": ["In play", "live"],
  "between rounds": ["Between", "idle"], unreadable: ["Unreadable", "bad"],
};
/** @type {Record<string, string[]>} */
const NOT_LIVE = { quiet: ["Quiet", "idle"], recorded: ["Recorded", "idle"] };

/** How a table stands on the floor: [text, name of its tone]. Only a live table is in play. */
export const tableState = (/** @type {Answer} */ now) =>
  (now.state === "unreadable" ? STATES.unreadable : NOT_LIVE[now.presence] ?? STATES[now.state]);

/** Whether a table's page follows it as it happens: [text, name of its tone, why]. */
export function liveState(/** @type {Answer} */ now, /** @type {string} */ stream) {
  if (now.presence === "recorded") return ["Recorded", "idle", "The journal is closed: this is the table's last state."];
  if (stream !== "live") return [stream === "ended" ? "Signed out" : "Reconnecting", "bad", "The page shows the last known state."];
  if (now.presence === "quiet") return ["Quiet", "idle", "The journal is being written, but its last event is old."];
  return ["Live", "live", "Events are shown as they happen."];
}

/** The faults of a table that is at work; those at the end of a recording are history. */
export const atFault = (/** @type {Answer} */ now) => (now.presence === "recorded" ? [] : now.troubles);
