// Small charts as SVG, each with the same figures as a table.

import { h, s } from "./dom.js";

const WIDTH = 560;
const HEIGHT = 190;
const EDGE = { left: 52, right: 10, top: 12, bottom: 26 };

/**
 * A chart of `series` ([{ name, tone, points: [{ x, y }] }]) as lines, or as bars where `bars`.
 *
 * @param x  how an x is written
 * @param y  how a y is written
 */
export function chart({ title, about, series, x, y, bars = false }) {
  const points = series.flatMap((one) => one.points);
  if (!points.length) return panel(title, about, h("p", { class: "quiet" }, "Nothing to show yet."));
  const axes = scales(points, bars);
  return panel(title, about,
    draw(title, series, axes, { x, y, bars }),
    series.length > 1 && h("ul", { class: "legend" }, series.map((one) => h("li", { class: one.tone }, one.name))),
    h("details", {}, h("summary", {}, "As a table"), asTable(title, series, x, y)));
}

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
    grid(axes, y), labels(axes, x), series.map((one, index) => (bars ? drawBars(one, axes, index, series.length, { x, y }) : drawLine(one, axes, { x, y }))));
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
  return xs.filter((_, index) => index % every === 0).map((one) =>
    s("text", { class: "axis", x: across(one), y: HEIGHT - 7, "text-anchor": anchor(across(one)) }, x(one)));
}

/** A label at the edge stays within the chart. */
const anchor = (at) => (at > WIDTH - 40 ? "end" : "middle");

const drawLine = ({ tone, points }, { across, up }, { x, y }) => [
  s("polyline", { class: `curve ${tone}`, points: points.map((one) => `${across(one.x)},${up(one.y)}`).join(" ") }),
  points.length <= 80 && points.map((one) => s("circle", { class: `dot ${tone}`, cx: across(one.x), cy: up(one.y), r: 2.6 }, s("title", {}, `${x(one.x)}: ${y(one.y)}`))),
];

function drawBars({ tone, points }, { across, up, slot }, index, many, { x, y }) {
  const width = Math.min(34, (slot * 0.7) / many);
  return points.map((one) => s("rect", {
    class: `bar ${tone}`, x: across(one.x) - (width * many) / 2 + index * width, y: Math.min(up(0), up(one.y)), width,
    height: Math.max(1, Math.abs(up(0) - up(one.y))), rx: 2,
  }, s("title", {}, `${x(one.x)}: ${y(one.y)}`)));
}

function asTable(title, series, x, y) {
  const xs = [...new Set(series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => (a < b ? -1 : 1));
  const value = (one, at) => one.points.find((point) => point.x === at)?.y;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, figures` }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, ""), series.map((one) => h("th", { scope: "col", class: "num" }, one.name)))),
    h("tbody", {}, xs.map((at) => h("tr", {}, h("th", { scope: "row" }, x(at)),
      series.map((one) => h("td", { class: "num" }, value(one, at) === undefined ? "–" : y(value(one, at)))))))));
}
