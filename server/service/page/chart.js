// Charts of up to five series, drawn by uPlot, each with the same figures as a table.

import { h, s } from "./dom.js";
import { houseZone } from "./house.js";

const { uPlot } = /** @type {any} */ (window);
const NS_PER_MS = 1e6;
const SERIES = 5;
const DASHES = [[], [8, 4], [2, 4], [12, 4, 2, 4], [5, 3]];
/** Paths about (0, 0) for the legend and the canvas: disc, square, triangle, diamond, plus. */
const MARKS = [
  "M3.4 0A3.4 3.4 0 1 1-3.4 0A3.4 3.4 0 1 1 3.4 0Z",
  "M-3.4-3.4H3.4V3.4H-3.4Z",
  "M0-4.2L4.1 3.4H-4.1Z",
  "M0-4.8L4.8 0 0 4.8-4.8 0Z",
  "M-1.2-4.2H1.2V-1.2H4.2V1.2H1.2V4.2H-1.2V1.2H-4.2V-1.2H-1.2Z",
];
/** Lines over the bars of a series, in a square of 8. */
const HATCHES = ["", "M0 8L8 0", "M0 4H8", "M4 0V8", "M0 8L8 0M0 0L8 8"];
const MOST_MARKED = 80;
const HEIGHT_PX = 210;
const BARS_SHARE = 0.7;
/** Bars are as narrow as if there were at least so many groups of them. */
const LEAST_GROUPS = 4;

/**
 * A chart of up to five `series` ([{ name, points: [{ x, y }] }]) as lines, or as bars where `bars`
 * or where there is but one x. Each series has a colour, a dash and a mark or a hatch of its own.
 * Hovering writes the figures into the legend; dragging zooms, a double click shows all again.
 *
 * @param x  how an x is written
 * @param y  how a y is written
 * @param step  nanoseconds between two points of a line; it ends where points are farther apart
 */
export function chart(
  /** @type {{ title: string, about: string, series: Series[], x: Written, y: Written, step?: number, bars?: boolean }} */ {
    title,
    about,
    series: all,
    x,
    y,
    step = Infinity,
    bars: asked = false,
  },
) {
  const series = all.slice(0, SERIES);
  const xs = [...new Set(series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => a - b);
  if (!xs.length) return panel(title, about, h("p", { class: "quiet" }, "Nothing to show yet."));
  const figures = series.map((one) => {
    const found = new Map(one.points.map((point) => [point.x, point.y]));
    return { name: one.name, ys: xs.map((at) => found.get(at) ?? null) };
  });
  const plotted = asked || xs.length === 1 ? inBars(xs, figures, x, y) : inLines(...withGaps(xs, figures, step), x, y);
  return panel(
    title,
    about,
    draw(title, plotted),
    h("details", {}, h("summary", {}, "As a table"), asTable(title, xs, figures, x, y)),
  );
}

const panel = (/** @type {string} */ title, /** @type {string} */ about, /** @type {Child[]} */ ...children) =>
  h(
    "section",
    { class: "panel chart", "aria-label": title },
    h("h2", {}, title),
    h("p", { class: "quiet" }, about),
    children,
  );

const tone = (/** @type {string} */ name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The plot, as wide as the place it is put in. */
function draw(/** @type {string} */ title, /** @type {Answer} */ { options, data }) {
  const place = h("div", { class: "plot" });
  const plot = new uPlot({ width: 560, height: HEIGHT_PX, ...options }, data, place);
  const canvas = plot.root.querySelector(".u-wrap");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${title}; the figures stand in the table below`);
  new ResizeObserver(
    ([{ contentRect }]) => contentRect.width && plot.setSize({ width: contentRect.width, height: HEIGHT_PX }),
  ).observe(place);
  return place;
}

/** Lines end where nothing was played for more than a step (a day of 25 hours is one): a point without a figure stands there. */
function withGaps(/** @type {number[]} */ xs, /** @type {Figures[]} */ figures, /** @type {number} */ step) {
  const gaps = xs.slice(1).flatMap((at, index) => (at - xs[index] > 1.5 * step ? [xs[index] + step] : []));
  const all = [...xs, ...gaps].sort((a, b) => a - b);
  const place = new Map(xs.map((at, index) => [at, index]));
  const filled = figures.map((one) => ({ ...one, ys: all.map((at) => one.ys[place.get(at) ?? -1] ?? null) }));
  return /** @type {[number[], Figures[]]} */ ([all, filled]);
}

function inLines(
  /** @type {number[]} */ xs,
  /** @type {Figures[]} */ figures,
  /** @type {Written} */ x,
  /** @type {Written} */ y,
) {
  const at = (/** @type {number} */ ms) => x(ms * NS_PER_MS);
  const series = figures.map((one, index) => ({
    label: key(one.name, index, false),
    value: written(y),
    width: 2,
    stroke: tone(`--tone-${index + 1}`),
    dash: DASHES[index],
    points: {
      show: (
        /** @type {Answer} */ _,
        /** @type {Answer} */ __,
        /** @type {number} */ first,
        /** @type {number} */ last,
      ) => last - first < MOST_MARKED,
      fill: tone(`--tone-${index + 1}`),
      paths: marks(index),
    },
  }));
  return {
    options: {
      ...common(),
      ms: 1,
      tzDate: (/** @type {number} */ ms) => uPlot.tzDate(new Date(ms), houseZone()),
      axes: axes((/** @type {Answer} */ _, /** @type {number[]} */ shown) => shown.map(at), y),
      series: [
        { label: "Time", value: (/** @type {Answer} */ _, /** @type {number} */ ms) => (ms === null ? "–" : at(ms)) },
        ...series,
      ],
    },
    data: [xs.map((one) => one / NS_PER_MS), ...figures.map((one) => one.ys)],
  };
}

function inBars(
  /** @type {number[]} */ xs,
  /** @type {Figures[]} */ figures,
  /** @type {Written} */ x,
  /** @type {Written} */ y,
) {
  const width = BARS_SHARE / figures.length;
  const name = (/** @type {number} */ index) => (xs[index] === undefined ? "" : x(xs[index]));
  const series = figures.map((one, index) => ({
    label: key(one.name, index, true),
    value: written(y),
    width: 0,
    fill: hatched(index),
    points: { show: false },
    paths: uPlot.paths.bars({
      disp: {
        x0: {
          unit: 1,
          values: (/** @type {Answer} */ { data }) =>
            data[0].map((/** @type {number} */ group) => group - BARS_SHARE / 2 + index * width),
        },
        size: { unit: 1, values: () => [width] },
      },
    }),
  }));
  const room = Math.max(0, LEAST_GROUPS - xs.length) / 2 + 0.5;
  const shared = common();
  return {
    options: {
      ...shared,
      scales: {
        ...shared.scales,
        x: {
          time: false,
          range: (/** @type {Answer} */ _, /** @type {number} */ low, /** @type {number} */ high) =>
            xs.length === 1 ? [-room, room] : [low - room, high + room],
        },
      },
      axes: axes(
        (/** @type {Answer} */ _, /** @type {number[]} */ shown) =>
          shown.map((/** @type {number} */ one) => name(one).replace(/ (?=\d+:)/, "\n")),
        y,
        [1, 2, 3, 4, 6, 12, 24, 48, 96],
      ),
      series: [
        {
          label: "Time",
          value: (/** @type {Answer} */ _, /** @type {number} */ group) => (group === null ? "–" : name(group)),
        },
        ...series,
      ],
    },
    data: [xs.map((_, index) => index), ...figures.map((one) => one.ys)],
  };
}

const written = (/** @type {Written} */ y) => (/** @type {Answer} */ _, /** @type {number | null} */ value) =>
  value === null ? "–" : y(value);

const common = () => ({
  cursor: { drag: { x: true, y: false } },
  legend: { markers: { show: false, stroke: () => "", fill: () => "" } },
  scales: {
    y: {
      range: (/** @type {Answer} */ _, /** @type {number} */ low, /** @type {number} */ high) =>
        uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.1, true),
    },
  },
});

function axes(/** @type {Answer} */ names, /** @type {Written} */ y, /** @type {number[] | null} */ incrs = null) {
  const shared = {
    stroke: tone("--quiet"),
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    grid: { stroke: tone("--line"), width: 1 },
    ticks: { show: false },
  };
  return [
    { ...shared, ...(incrs && { incrs }), values: names, space: incrs ? 50 : 90, grid: { show: false } },
    { ...shared, values: (/** @type {Answer} */ _, /** @type {number[]} */ shown) => shown.map(y), size: 56 },
  ];
}

/** The name of a series behind what it looks like, small. */
const key = (/** @type {string} */ name, /** @type {number} */ index, /** @type {boolean} */ bars) =>
  h(
    "span",
    { class: "key" },
    s(
      "svg",
      { class: `series-${index + 1}`, viewBox: "0 0 30 12", width: 30, height: 12, "aria-hidden": "true" },
      bars
        ? [
            s("rect", { class: "mark", x: 8, width: 14, height: 12 }),
            s("path", { class: "hatch", transform: "translate(11 2)", d: HATCHES[index] }),
          ]
        : [
            s("line", { class: "curve", x2: 30, y1: 6, y2: 6, "stroke-dasharray": DASHES[index].join(" ") }),
            s("path", { class: "mark", transform: "translate(15 6)", d: MARKS[index] }),
          ],
    ),
    name,
  );

/** How uPlot draws a series' marks. */
const marks =
  (/** @type {number} */ index) =>
  (/** @type {Answer} */ plot, /** @type {number} */ of, /** @type {number} */ first, /** @type {number} */ last) => {
    const fill = new Path2D();
    const mark = new Path2D(MARKS[index]);
    const scale = devicePixelRatio;
    for (let at = first; at <= last; at++) {
      if (plot.data[of][at] === null) continue;
      const [left, top] = [plot.valToPos(plot.data[0][at], "x", true), plot.valToPos(plot.data[of][at], "y", true)];
      fill.addPath(mark, new DOMMatrix([scale, 0, 0, scale, left, top]));
    }
    return { fill, stroke: null, clip: null, flags: 0 };
  };

/** The fill of a series' bars: its colour with its hatch, which identifies it where colours do not. */
function hatched(/** @type {number} */ index) {
  const canvas = h("canvas", { width: 8, height: 8 });
  const brush = canvas.getContext("2d");
  brush.fillStyle = tone(`--tone-${index + 1}`);
  brush.fillRect(0, 0, 8, 8);
  brush.strokeStyle = tone("--ground");
  brush.lineWidth = 1.6;
  brush.stroke(new Path2D(HATCHES[index]));
  const pattern = brush.createPattern(canvas, "repeat");
  return () => pattern;
}

function asTable(
  /** @type {string} */ title,
  /** @type {number[]} */ xs,
  /** @type {Figures[]} */ figures,
  /** @type {Written} */ x,
  /** @type {Written} */ y,
) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, figures` },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, ""),
          figures.map((one) => h("th", { scope: "col", class: "num" }, one.name)),
        ),
      ),
      h(
        "tbody",
        {},
        xs.map((at, index) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, x(at)),
            figures.map((/** @type {Answer} */ { ys }) =>
              h("td", { class: "num" }, ys[index] === null ? "–" : y(ys[index])),
            ),
          ),
        ),
      ),
    ),
  );
}
