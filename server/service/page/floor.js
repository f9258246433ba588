// All tables within one screen, what needs somebody first.

import { ask, follow, maybe, query } from "./api.js";
import { atFault, tableState } from "./devices.js";
import { h, put } from "./dom.js";
import { faultText } from "./faults.js";
import { incidentTitle } from "./findings.js";
import { ago, counted, deviceName } from "./words.js";

const EVERY_MS = 15000;
const SOON_MS = 700;
const FEW = 8;
const MANY = 24;
const TELLING = new Set([
  "round_opened",
  "round_closed",
  "round_settled",
  "review_raised",
  "review_resolved",
  "reader_fault",
  "camera_fault",
  "camera_recovered",
  "device_returned",
]);
export async function showFloor(
  /** @type {PageContext} */ { main, may, onLeave, onReturn },
  /** @type {AbortSignal} */ signal,
) {
  const tiles = h("div", { class: "tiles" });
  const feed = h("ol", { class: "feed" });
  const standing = h("p", { class: "quiet" });
  put(
    main,
    h("h1", { class: "unseen" }, "Floor"),
    h(
      "div",
      { class: may("see_rounds") ? "floor" : "floor wide" },
      h("section", { "aria-label": "Tables" }, standing, tiles),
      may("see_rounds") &&
        h("section", { class: "panel aside", "aria-label": "Newest incidents" }, h("h2", {}, "Newest incidents"), feed),
    ),
  );
  const draw = async () => {
    const [tables, found] = await Promise.all([
      ask("/api/tables", { signal }),
      may("see_rounds") ? newest(signal) : [],
    ]);
    const rows = tables
      .map((/** @type {Answer} */ one) => tile(one, found))
      .sort((/** @type {Answer} */ a, /** @type {Answer} */ b) => b.weight - a.weight || a.name.localeCompare(b.name));
    tiles.classList.toggle("few", rows.length <= FEW);
    tiles.classList.toggle("many", rows.length > MANY);
    put(
      tiles,
      rows.map((/** @type {Answer} */ one) => one.drawn),
    );
    put(feed, found.length ? found.map(entry) : h("li", { class: "quiet" }, nothing(tables)));
    standing.textContent = summary(tables, found);
  };
  await draw();
  watch(draw, may("see_rounds"), onLeave, signal);
  onReturn(signal, () => draw().catch(() => null));
}

function watch(
  /** @type {() => Promise<void>} */ draw,
  /** @type {boolean} */ mayFollow,
  /** @type {During} */ onLeave,
  /** @type {AbortSignal} */ signal,
) {
  /** @type {number | undefined} */
  let soon;
  const again = () => {
    soon ??= setTimeout(async () => {
      await draw().catch(() => null);
      soon = undefined;
    }, SOON_MS);
  };
  const end = mayFollow
    ? follow(
        null,
        (_, event) => {
          if (TELLING.has(event.type)) again();
        },
        () => null,
      )
    : () => null;
  const timer = setInterval(again, EVERY_MS);
  onLeave(signal, () => {
    end();
    clearInterval(timer);
    clearTimeout(soon);
  });
}

async function newest(/** @type {AbortSignal} */ signal) {
  const page = await maybe(query("/api/incidents", { limit: 40 }), signal);
  return (page?.items ?? []).filter((/** @type {Answer} */ one) => one.state !== "closed").sort(bySeverity);
}

/** There is no incident: of what is still played or read, so far; of what cannot be read, nobody knows. */
function nothing(/** @type {Answer[]} */ tables) {
  if (!tables.length) return "There is no table yet.";
  if (tables.some(({ now }) => now.fault)) return "No incident in what can be read.";
  return tables.every(({ now }) => now.presence === "recorded") ? "No incident." : "No incident so far.";
}

/** @type {Record<string, number>} */
const WEIGHTS = { high: 3, medium: 2, low: 1 };
const bySeverity = (/** @type {Answer} */ one, /** @type {Answer} */ other) =>
  WEIGHTS[other.severity] - WEIGHTS[one.severity] || other.at - one.at;

function summary(/** @type {Answer[]} */ tables, /** @type {Answer[]} */ found) {
  const dealing = tables.filter(
    (/** @type {Answer} */ { now }) => now.presence === "live" && now.state === "round open",
  ).length;
  const recorded = tables.filter((/** @type {Answer} */ { now }) => now.presence === "recorded").length;
  const ill = tables.filter((/** @type {Answer} */ { now }) => atFault(now).length || now.fault).length;
  const parts = [
    `${counted(tables.length, "table")}: ${dealing} in play${recorded ? `, ${recorded} recorded` : ""}.`,
    found.length ? `${counted(found.length, "open incident")}.` : "",
    ill ? `${counted(ill, "table")} with a device at fault.` : recorded < tables.length ? "No device faults." : "",
  ];
  return parts.filter(Boolean).join(" ");
}

function tile(/** @type {Answer} */ { table, now }, /** @type {Answer[]} */ found) {
  const own = found.filter((one) => one.table === table);
  const worst = Math.max(0, ...own.map((one) => WEIGHTS[one.severity]));
  const ill = now.fault || atFault(now).length;
  const [state, name] = tableState(now);
  const hours = now.started_at && now.last_at > now.started_at ? (now.last_at - now.started_at) / 3.6e12 : 0;
  const pace = now.rounds >= 2 && hours > 0 ? Math.round(now.rounds / hours) : null;
  const alarm = worst === 3 || now.fault ? "alarm" : worst || now.reviews || ill ? "warn" : "";
  return {
    name: table,
    weight:
      (now.fault ? 100 : 0) + worst * 10 + (now.reviews ? 5 : 0) + (ill ? 8 : 0) + (now.presence === "live" ? 1 : 0),
    drawn: h(
      "a",
      { class: `tile ${alarm}`, href: `#/table/${encodeURIComponent(table)}` },
      h("div", { class: "tile-head" }, h("strong", {}, table), h("span", { class: `state ${name}` }, state)),
      h(
        "dl",
        {},
        pair("Round", now.round ?? "–"),
        pair("Pace", pace === null ? "–" : `${pace}/h`),
        pair("Mistakes", now.violations, now.violations ? "bad" : ""),
        now.suspected > 0 && pair("Suspected", now.suspected, "doubt"),
        pair("Decide", now.reviews, now.reviews ? "doubt" : ""),
      ),
      h("p", { class: ill ? "devices ill" : "devices" }, devices(now)),
    ),
  };
}

const pair = (/** @type {string} */ name, /** @type {any} */ value, tone = "") =>
  h("div", {}, h("dt", {}, name), h("dd", { class: `num ${tone}` }, value));

function devices(/** @type {Answer} */ now) {
  if (now.fault) return now.fault;
  const faults = atFault(now);
  if (faults.length)
    return faults.map((/** @type {Answer} */ one) => `${deviceName(one.source)}: ${faultText(one.kind)}`).join(", ");
  const last = `last event ${ago(now.last_at, Date.now() * 1e6)}`;
  return now.presence === "recorded" ? `L${last.slice(1)}` : `No device faults · ${last}`;
}

const entry = (/** @type {Answer} */ one) =>
  h(
    "li",
    { class: one.severity },
    h(
      "a",
      { href: `#/incidents/${encodeURIComponent(one.id)}` },
      h("b", {}, incidentTitle(one)),
      h("span", {}, `${one.table} · round ${one.round} · ${ago(one.at, Date.now() * 1e6)}`),
      one.reviews ? h("span", { class: "doubt" }, `${counted(one.reviews, "item")} to decide`) : null,
    ),
  );
