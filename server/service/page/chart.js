// Small charts as SVG, each with the same figures as a table.

import { h, s } from "./dom.js";

const SERIES = 5;
const MARK_PX = 3.4;
const MARKS = [
  (r) => s("circle", { r }),
  (r) => s("rect", { x: -r, y: -r, width: 2 * r, height: 2 * r }),
  (r) => s("path", { d: `M0 ${-1.25 * r}L${1.2 * r} ${r}H${-1.2 * r}Z` }),
  (r) => s("path", { d: `M0 ${-1.4 * r}L${1.4 * r} 0 0 ${1.4 * r} ${-1.4 * r} 0Z` }),
  (r) => s("path", { d: `M${-r} ${-r}L${r} ${r}M${r} ${-r}L${-r} ${r}`, class: "cross" }),
];
const HATCHES = [null, "M0 8L8 0", "M0 4H8", "M4 0V8", "M0 8L8 0M0 0L8 8"];
const WIDTH = 560;
const HEIGHT = 190;
const EDGE = { left: 52, right: 10, top: 12, bottom: 26 };

/**
 * A chart of up to five `series` ([{ name, points: [{ x, y }] }]) as lines, or as bars where `bars`
 * or where there is but one x. Each series has a colour, a dash and a mark or a hatch of its own.
 *
 * @param x  how an x is written
 * @param y  how a y is written
 */
export function chart({ title, about, series: all, x, y, bars: asked = false }) {
  const series = all.slice(0, SERIES);
  const points = series.flatMap((one) => one.points);
  if (!points.length) return panel(title, about, h("p", { class: "quiet" }, "Nothing to show yet."));
  const bars = asked || new Set(points.map((one) => one.x)).size === 1;
  const axes = scales(points, bars);
  return panel(title, about,
    draw(title, series, axes, { x, y, bars }),
    series.length > 1 && h("ul", { class: "legend series" }, series.map((one, index) => h("li", {}, key(index, bars), one.name))),
    h("details", {}, h("summary", {}, "As a table"), asTable(title, series, x, y)));
}

/** What a series looks like, small. */
const key = (index, bars) =>
  s("svg", { class: `key series-${index + 1}`, viewBox: "0 0 30 12", width: 30, height: 12, "aria-hidden": "true" }, bars
    ? [s("rect", { class: "bar", x: 8, y: 0, width: 14, height: 12 }), hatch(index, { x: 8, y: 0, width: 14, height: 12 })]
    : [s("line", { class: "curve", x1: 0, x2: 30, y1: 6, y2: 6 }), s("g", { class: "dot", transform: "translate(15 6)" }, MARKS[index](MARK_PX))]);

/** Lines over a bar that tell its series where colours do not. */
function hatch(index, { x, y, width, height }) {
  if (!HATCHES[index] || height < 2) return null;
  const id = `hatch-${hatches++}`;
  return s("g", {},
    s("pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, s("path", { class: "hatch", d: HATCHES[index] })),
    s("rect", { x, y, width, height, fill: `url(#${id})` }));
}
let hatches = 0;

const panel = (title, about, ...children) =>
  h("section", { class: "panel chart", "aria-label": title }, h("h2", {}, title), h("p", { class: "quiet" }, about), children);

function scales(points, bars) {
  const xs = [...new Set(points.map((one) => one.x))].sort((a, b) => (a < b ? -1 : 1));
  const ys = points.map((one) => one.y);
  const [low, high] = [Math.min(0, ...ys), Math.max(0, ...ys)];
  const step = nice((high - low) / 4 || 1);
  const from = Math.floor(low / step) * step;
  const to = Math.max(Math.ceil(high / step) * step, from + step);
  const [left, right] = [EDGE.left, WIDTH - EDGE.right];
  const across = bars || xs.length === 1
    ? (one) => left + ((xs.indexOf(one) + 0.5) / xs.length) * (right - left)
    : (one) => left + ((one - xs[0]) / (xs.at(-1) - xs[0])) * (right - left);
  const up = (one) => HEIGHT - EDGE.bottom - ((one - from) / (to - from)) * (HEIGHT - EDGE.top - EDGE.bottom);
  return { xs, from, to, step, across, up, slot: (right - left) / xs.length };
}

/** The next of 1, 2, 5, 10 … that is not below `step`. */
function nice(step) {
  const ten = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((one) => one * ten).find((one) => one >= step * 0.999);
}

function draw(title, series, axes, { x, y, bars }) {
  return s("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}; the figures stand in the table below` },
    grid(axes, y), labels(axes, x),
    series.map((one, index) => s("g", { class: `series-${index + 1}` }, bars ? drawBars(one, axes, index, series.length, { x, y }) : drawLine(one, axes, index, { x, y }))));
}

function grid({ from, to, step, up }, y) {
  const lines = [];
  for (let at = from; at <= to + step / 2; at += step) {
    lines.push(s("line", { class: Math.abs(at) < step / 1e6 ? "zero" : "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: up(at), y2: up(at) }),
      s("text", { class: "axis", x: EDGE.left - 7, y: up(at) + 4, "text-anchor": "end" }, y(at)));
  }
  return lines;
}

function labels({ xs, across }, x) {
  const every = Math.max(1, Math.ceil(xs.length / 6));
  const shown = xs.filter((_, index) => index % every === 0);
  return shown.map((one, index) =>
    s("text", { class: shown.length > 3 && index % 2 ? "axis second" : "axis", x: across(one), y: HEIGHT - 7, "text-anchor": anchor(across(one)) }, x(one)));
}

/** A label at the edge stays within the chart. */
const anchor = (at) => (at > WIDTH - 40 ? "end" : at < EDGE.left + 20 ? "start" : "middle");

const drawLine = ({ name, points }, { across, up }, index, { x, y }) => [
  s("polyline", { class: "curve", points: points.map((one) => `${across(one.x)},${up(one.y)}`).join(" ") }),
  points.length <= 80 && points.map((one) =>
    s("g", { class: "dot", transform: `translate(${across(one.x)} ${up(one.y)})` }, MARKS[index](MARK_PX), s("title", {}, `${name}, ${x(one.x)}: ${y(one.y)}`))),
];

function drawBars({ name, points }, { across, up, slot }, index, many, { x, y }) {
  const width = Math.min(34, (slot * 0.7) / many);
  return points.map((one) => {
    const place = {
      x: across(one.x) - (width * many) / 2 + index * width, y: Math.min(up(0), up(one.y)), width: Math.max(1, width - 1.5),
      height: Math.max(1, Math.abs(up(0) - up(one.y))),
    };
    return s("g", {}, s("rect", { class: "bar", ...place, rx: 2 }), hatch(index, place), s("title", {}, `${name}, ${x(one.x)}: ${y(one.y)}`));
  });
}

function asTable(title, series, x, y) {
  const xs = [...new Set(series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => (a < b ? -1 : 1));
  const value = (one, at) => one.points.find((point) => point.x === at)?.y;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, figures` }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), series.map((one) => h("th", { scope: "col", class: "num" }, one.name)))),
    h("tbody", {}, xs.map((at) => h("tr", {}, h("th", { scope: "row" }, x(at)),
      series.map((one) => h("td", { class: "num" }, value(one, at) === undefined ? "–" : y(value(one, at)))))))));
}
