// How a table and its devices stand, in words: what lasts is a state, what has passed is a count.

import { passedNames, plain } from "./faults.js";
import { counted } from "./words.js";

/** Faults that have passed, as a count: `2 pictures left out`. */
export const passedText = (/** @type {{ kind: string, count: number }} */ { kind, count }) => {
  const [one, many] = passedNames(kind);
  return one ? counted(count, one, many) : `${plain(kind)}, ${counted(count, "time")}`;
};

/** @type {Record<string, string[]>} */
const STATES = {
  "no round": ["No round yet", "idle"],
  "round open": ["In play", "live"],
  "between rounds": ["Between", "idle"],
  unreadable: ["Unreadable", "bad"],
};
/** @type {Record<string, string[]>} */
const NOT_LIVE = { quiet: ["Quiet", "idle"], recorded: ["Recorded", "idle"] };

/** How a table stands on the floor: [text, name of its tone]. Only a live table is in play. */
export const tableState = (/** @type {Answer} */ now) =>
  now.state === "unreadable" ? STATES.unreadable : (NOT_LIVE[now.presence] ?? STATES[now.state]);

/** Whether a table's page follows it as it happens: [text, name of its tone, why]. */
export function liveState(/** @type {Answer} */ now, /** @type {string} */ stream) {
  if (now.presence === "recorded")
    return ["Recorded", "idle", "The journal is closed: this is the table's last state."];
  if (stream !== "live")
    return [stream === "ended" ? "Signed out" : "Reconnecting", "bad", "The page shows the last known state."];
  if (now.presence === "quiet") return ["Quiet", "idle", "The journal is being written, but its last event is old."];
  return ["Live", "live", "Events are shown as they happen."];
}

/** The faults of a table that is at work; those at the end of a recording are history. */
export const atFault = (/** @type {Answer} */ now) => (now.presence === "recorded" ? [] : now.troubles);
