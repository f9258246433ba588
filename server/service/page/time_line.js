// A round's events along its time, with a slider to go through them.

import { h, s } from "./dom.js";
import { fine, kind, sentenceOf, span } from "./words.js";

const LANES = ["mark", "act", "money", "card", "sensed", "fault", "doubt", "judgement"];
/** @type {Record<string, number>} */
const ROW = { mark: 0, judgement: 0, doubt: 0, fault: 0, act: 1, money: 2, card: 3, sensed: 4 };
const WIDTH = 1000;
const HEIGHT = 74;

/**
 * Draw the time line of `events` from `from` to `to` (ns). `flags` are moments of mistakes and suspected mistakes.
 * `onSeek` is called with the moment gone to. Returns { drawn, show(at) }.
 */
export function timeLine(
  /** @type {{ events: TableEvent[], from: number, to: number, flags: { at: number, name: string }[], onSeek: (moment: number) => void }} */ {
    events,
    from,
    to,
    flags,
    onSeek,
  },
) {
  const x = (/** @type {number} */ at) => ((at - from) / Math.max(to - from, 1)) * WIDTH;
  const now = s("line", { class: "now", y1: 0, y2: HEIGHT });
  const ticks = events
    .filter((event) => event.type !== "ledger_posted")
    .map((event) =>
      s(
        "rect",
        {
          class: `tick ${kind(event)}`,
          x: x(event.at) - 1.5,
          y: 6 + (ROW[kind(event)] ?? 4) * 13,
          width: 3,
          height: 11,
          rx: 1,
        },
        s("title", {}, `${fine(event.at)} ${sentenceOf(event)}`),
      ),
    );
  const marks = flags.map((flag) => s("path", { class: `flag ${flag.name}`, d: `M${x(flag.at)} ${HEIGHT}l-6 9h12z` }));
  const slider = h("input", {
    type: "range",
    min: 0,
    max: Math.round((to - from) / 1e6),
    step: 10,
    "aria-label": "Moment of the round",
    oninput: () => onSeek(from + Number(slider.value) * 1e6),
  });
  const drawn = h(
    "div",
    { class: "line" },
    s(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT + 10}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      ticks,
      marks,
      now,
    ),
    slider,
  );
  return {
    drawn,
    show(/** @type {number} */ at) {
      now.setAttribute("x1", x(at));
      now.setAttribute("x2", x(at));
      slider.value = Math.round((at - from) / 1e6);
      slider.setAttribute("aria-valuetext", `${span((at - from) / 1e9)}, ${fine(at)}`);
    },
  };
}

/** What the colours of the time line mean. */
export const legend = () =>
  h(
    "ul",
    { class: "legend" },
    LANES.map((lane) =>
      h(
        "li",
        { class: lane },
        {
          mark: "round",
          act: "players",
          money: "chips",
          card: "cards",
          sensed: "sensors",
          fault: "faults",
          doubt: "to decide",
          judgement: "settlements",
        }[lane],
      ),
    ),
  );
