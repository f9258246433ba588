// Figures over time: pace, hold, mistakes by shift, sensors' error rates.

import { ask, query } from "./api.js";
import { chart } from "./chart.js";
import { h, put } from "./dom.js";
import { filterBy, select } from "./rounds.js";
import { houseShifts, houseZone, shortDayOf } from "./house.js";
import { clock, counted, spoken } from "./words.js";

const MINUTE = 6e10;
const HOUR = 60 * MINUTE;
const PIECES = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR];
const PIECE_NAMES = ["1 minute", "5 minutes", "15 minutes", "1 hour", "4 hours", "1 day"];
/** @type {Record<string, string>} */
const SPANS = { "": "Everything", 1: "Last day", 7: "Last 7 days", 31: "Last 31 days" };
const MOST = 5;
const WANTED_PIECES = 30;

export async function showCharts(/** @type {PageContext} */ { main, may }, /** @type {AbortSignal} */ signal) {
  const sessions = await ask("/api/sessions", { signal });
  const tables = [...new Set(sessions.map((/** @type {Answer} */ one) => one.table).filter(Boolean))].sort();
  /** @type {Answer} */
  const page = { table: "", days: "", piece: "", may, sessions, place: h("div", { class: "charts" }), signal };
  const change = (/** @type {string} */ name) => (/** @type {string} */ value) =>
    filterBy(page, { [name]: value }, draw);
  put(
    main,
    h(
      "header",
      { class: "head" },
      h("h1", {}, "Charts"),
      h(
        "div",
        { class: "filters" },
        select("Table", ["", ...tables], (one) => one || "Every table", "", change("table")),
        select("Time", Object.keys(SPANS), (one) => SPANS[one], "", change("days")),
        select(
          "Steps",
          ["", ...PIECES.map(String)],
          (one) => (one ? PIECE_NAMES[PIECES.indexOf(Number(one))] : "By itself"),
          "",
          change("piece"),
        ),
      ),
    ),
    page.place,
  );
  await draw(page);
}

async function draw(/** @type {Answer} */ page) {
  const { table, piece, from } = asked(page);
  const fields = { table, from_ns: from, piece_ns: piece };
  const of = (/** @type {string} */ name, more = {}) =>
    ask(query(`/api/series/${name}`, { ...fields, ...more }), { signal: page.signal });
  const [pace, hold, mistakes, sensors] = await Promise.all([
    of("pace"),
    page.may("see_money") ? of("hold") : null,
    of("violations", { by_shift: true }),
    of("sensors"),
  ]);
  const x = stamp(piece);
  put(
    page.place,
    chart({
      title: "Pace",
      about: "Rounds an hour in play, a table's mean",
      x,
      y: rough,
      step: piece,
      series: paceOf(pace),
    }),
    hold &&
      chart({
        title: "Hold",
        about: "The house's gain as a share of the stakes, settled rounds",
        x,
        y: percent,
        step: piece,
        series: holdOf(hold),
      }),
    chart({
      title: "Mistakes by shift",
      about: `Per 100 rounds; shifts start at ${houseShifts().join(", ")} (${houseZone()})`,
      x: stamp(8 * HOUR),
      y: (one) => one.toFixed(1),
      bars: true,
      series: mistakesOf(mistakes),
    }),
    chart({
      title: "Sensor errors",
      about: "Share of a sensor's readings; the worst five",
      x,
      y: fine,
      step: piece,
      series: sensorsOf(sensors),
    }),
  );
}

/** What is asked for, in steps that fit the time there is. */
function asked(/** @type {Answer} */ { table, days, piece, sessions }) {
  const own = sessions.filter((/** @type {Answer} */ one) => one.last_at !== null && (!table || one.table === table));
  const end = Math.max(0, ...own.map((/** @type {Answer} */ one) => one.last_at));
  const from = days ? Math.max(0, end - Number(days) * 24 * HOUR) : 0;
  const begin = Math.max(from, Math.min(end, ...own.map((/** @type {Answer} */ one) => one.started_at)));
  const fit = PIECES.find((one) => (end - begin) / one <= WANTED_PIECES) ?? PIECES[PIECES.length - 1];
  return { table, piece: piece ? Number(piece) : fit, from: from || null };
}

/** Two digits of a small number, and no more than the whole of a large one. */
const rough = (/** @type {Answer} */ one) => (Math.abs(one) < 10 ? String(Number(one.toPrecision(2))) : one.toFixed(0));
const percent = (/** @type {Answer} */ one) => `${one.toFixed(Math.abs(one) < 10 ? 1 : 0)}%`;
const fine = (/** @type {Answer} */ one) => `${one.toFixed(one && Math.abs(one) < 1 ? 2 : 1)}%`;

const stamp = (/** @type {number} */ piece) => (/** @type {number} */ at) => {
  if (!at) return "no time";
  const time = clock(at).slice(0, -3);
  if (piece < 4 * HOUR) return time;
  const day = shortDayOf(new Date(at / 1e6));
  return piece >= 24 * HOUR ? day : `${day} ${time}`;
};

/** Fold the tables' lines into one: { at: { value, of } }. */
function folded(/** @type {Answer} */ series) {
  const found = new Map();
  for (const { points } of series.lines) {
    for (const { at, value, of } of points) {
      const sum = found.get(at) ?? { value: 0, of: 0 };
      found.set(at, { value: sum.value + value, of: sum.of + (of ?? 0) });
    }
  }
  return [...found].sort(([one], [other]) => one - other);
}

const paceOf = (/** @type {Answer} */ series) => {
  const points = folded(series)
    .filter(([, { of }]) => of > 0)
    .map(([x, { value, of }]) => ({ x, y: value / (of / HOUR) }));
  return points.length ? [{ name: "Rounds an hour", points }] : [];
};

const holdOf = (/** @type {Answer} */ series) => {
  const points = folded(series)
    .filter(([, { of }]) => of > 0)
    .map(([x, { value, of }]) => ({ x, y: (100 * value) / of }));
  return points.length ? [{ name: "Hold", points }] : [];
};

const total = (/** @type {Answer} */ line) =>
  line.points.reduce((/** @type {number} */ sum, /** @type {Answer} */ one) => sum + one.value, 0);
const per100 = (/** @type {Answer} */ one) => ({ x: one.at, y: one.of ? (100 * one.value) / one.of : 0 });

function mistakesOf(/** @type {Answer} */ series) {
  const lines = [...series.lines].sort((one, other) => total(other) - total(one)).slice(0, MOST);
  return lines.map((line) => ({
    name: `${spoken(line.label)} (${counted(total(line), "mistake")})`,
    points: line.points.map(per100),
  }));
}

function sensorsOf(/** @type {Answer} */ series) {
  const rate = (/** @type {Answer} */ line) =>
    total(line) /
    Math.max(
      1,
      line.points.reduce((/** @type {number} */ sum, /** @type {Answer} */ one) => sum + one.of, 0),
    );
  const lines = [...series.lines].sort((one, other) => rate(other) - rate(one)).slice(0, MOST);
  return lines
    .map((line) => ({
      name: line.label,
      points: line.points.filter((/** @type {Answer} */ one) => one.of > 0).map(per100),
    }))
    .filter((line) => line.points.length);
}
