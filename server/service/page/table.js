// One table live: the felt, its camera, what happens, and what is due when it settles.

import { ask, eventsBetween, follow, maybe, paths, roundStart } from "./api.js";
import { h, painting, put } from "./dom.js";
import { drawFelt } from "./felt.js";
import { countOf } from "./house.js";
import { footageOf, noPicture, pictureFrame } from "./picture.js";
import { after, dues, newTable, phase, tableOf } from "./table_state.js";
import { ago, amountsOf, clock, kind, moment, say as sentence, signed, tone } from "./words.js";
import { clauses, item, mistake, moneyTable, reports } from "./verdicts.js";

const TICKER = 60;
const FACTS = new Set(["card", "money", "act", "mark", "judgement", "doubt", "fault"]);

export async function showTable({ main, rest: [name], may, onLeave }, signal) {
  const found = await ask(paths.table(name), { signal });
  amountsOf(name);
  const page = { name, found, may, state: newTable(), said: [], stream: "waiting", felt: null, picture: null };
  if (!may("see_rounds")) {
    put(main, heading(page, false), health(found.now));
    return;
  }
  const { session } = found.now;
  const [footage, events, says] = await Promise.all([footageOf(session, null, signal), begun(found.now, signal), clauses()]);
  page.state = tableOf(events);
  page.said = events.filter(isTold).slice(-TICKER).reverse();
  page.footage = footage;
  const last = events.at(-1)?.seq ?? found.now.last_seq;
  const places = frame(main, page, footage);
  const draw = painting(() => drawAll(places, page, says));
  const end = follow({ [session]: last }, (_, event) => {
    page.state = after(page.state, event);
    if (isTold(event)) page.said = [event, ...page.said].slice(0, TICKER);
    draw();
  }, (stream) => { page.stream = stream; draw(); });
  const timer = setInterval(async () => {
    page.found = (await maybe(paths.table(name)).catch(() => null)) ?? page.found;
    if (page.found.now.session !== session) dispatchEvent(new HashChangeEvent("hashchange"));
    else draw();
  }, 20000);
  onLeave(signal, () => { end(); page.picture?.end(); clearInterval(timer); });
  draw();
}

const isTold = (event) => FACTS.has(kind(event));

/** The events of the round in play, or of the last one, with what came before it. */
async function begun(now, signal) {
  if (now.round === null) return eventsBetween(now.session, 0, now.last_seq, signal);
  const from = await roundStart(now.session, now.round, signal);
  return eventsBetween(now.session, from, now.last_seq, signal);
}

function frame(main, page, footage) {
  const places = {
    head: h("div", {}), felt: h("div", { class: "felt-place" }), due: h("section", { class: "panel", "aria-label": "Due at settlement" }),
    found: h("div", { class: "notes", "aria-live": "polite" }), ticker: h("ol", { class: "ticker", tabindex: 0, "aria-label": "Events, newest first" }),
    health: h("section", { class: "panel", "aria-label": "Devices" }),
  };
  const camera = footage?.cameras[0];
  page.picture = camera ? pictureFrame(camera, { live: true }) : null;
  put(main, places.head,
    h("div", { class: "table-page" },
      h("div", { class: "left" }, places.felt, places.found, places.due),
      h("div", { class: "right" }, page.picture?.frame ?? noPicture(), places.health,
        h("section", { class: "panel" }, h("h2", {}, "As it happens"), places.ticker))));
  return places;
}

function drawAll(places, page, says) {
  const { state } = page;
  put(places.head, heading(page, true));
  put(places.felt, drawFelt(state, page.footage.layout));
  page.picture?.show(state);
  put(places.found, verdictsOf(state, says, page.found.now.session));
  put(places.due, h("h2", {}, state.settled ? `Round ${state.round}: due and paid` : "Due and paid"),
    state.settled ? moneyTable(dues(state), says) : h("p", { class: "quiet" }, "Shown when the round settles."));
  put(places.health, h("h2", {}, "Devices"), health(asOf(page)));
  put(places.ticker, page.said.map((event) => h("li", { class: kind(event) },
    h("time", { class: "num" }, clock(event.at)), h("span", {}, sentence(event)))));
}

function verdictsOf(state, says, session) {
  const found = state.settled?.violations ?? [];
  return [...found.map((one) => mistake(one, says, null, null, { session, round: state.settled.round })), ...(state.settled?.reviews ?? state.reviews).map((one) => item(one))];
}

/** The session as it was told last, with what the stream has brought since. */
const asOf = (page) => ({
  ...page.found.now, troubles: troubles(page), last_seq: Math.max(page.found.now.last_seq, page.state.seq),
  last_at: Math.max(page.found.now.last_at ?? 0, page.state.at ?? 0) || null,
});

function troubles(page) {
  const known = page.found.now.troubles.map((one) => `${one.source} ${one.kind}`);
  const fresh = Object.entries(page.state.troubles).filter(([key]) => !known.includes(key));
  return [...page.found.now.troubles, ...fresh.map(([, event]) => ({ source: event.source, kind: event.kind, since: event.at }))];
}

function heading(page, isFull) {
  const { state, found } = page;
  const house = state.settled;
  return h("header", { class: "head" },
    h("div", {}, h("h1", {}, page.name),
      h("p", { class: "quiet" }, isFull && state.round !== null ? `Round ${state.round} · ${phase(state)}${state.isLast ? " · last of this shoe" : ""}` : `Last event ${moment(found.now.last_at)}`)),
    house && h("div", { class: `figure ${tone(house.net)}` }, h("b", { class: "num" }, signed(house.net)), h("span", {}, "house, this round")),
    h("div", { class: "head-links" },
      isFull && h("span", { class: `state ${page.stream === "live" ? "live" : "bad"}` }, { live: "Live", waiting: "Reconnecting", ended: "Ended" }[page.stream]),
      isFull && state.round !== null && h("a", { class: "button", href: `#/round/${encodeURIComponent(found.now.session)}/${state.round}` }, "Replay this round"),
      isFull && h("a", { class: "button", href: `#/rounds/${encodeURIComponent(page.name)}` }, "All rounds"),
      isFull && page.may("take_out") && reports(paths.session(found.now.session), "Session report")));
}

function health(now) {
  const rows = now.fault ? [["Journal", now.fault, "bad"]] : [["Journal", `read to event ${countOf(now.last_seq)}`, "good"]];
  for (const one of now.troubles) rows.push([one.source, `${one.kind.replaceAll("_", " ")} since ${clock(one.since)}`, "bad"]);
  if (!now.troubles.length) rows.push(["Sensors", "no fault is told of", "good"]);
  rows.push(["Last event", `${moment(now.last_at)} (${ago(now.last_at, Date.now() * 1e6)})`, ""]);
  return h("dl", { class: "facts" }, rows.map(([what, text, name]) => [h("dt", {}, what), h("dd", { class: name }, text)]));
}
