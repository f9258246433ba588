// One table live: the felt, its camera, what happens, and what is due when it settles.

import { ask, eventsBetween, follow, maybe, paths, roundStart } from "./api.js";
import { atFault, liveState, passedText } from "./devices.js";
import { h, painting, put } from "./dom.js";
import { entering } from "./enter.js";
import { faultText, wayOut } from "./faults.js";
import { cleared, drawFelt } from "./felt.js";
import { countOf } from "./house.js";
import { footageOf, noPicture, pictureFrame } from "./picture.js";
import { after, newTable, standing, tableOf } from "./table_state.js";
import {
  amountsOf,
  clock,
  deviceName,
  kind,
  moment,
  momentAndAge,
  provenText,
  sentenceOf,
  signed,
  tone,
} from "./words.js";
import { clauses, item, mistake, moneyTable, reports } from "./findings.js";

const TICKER = 60;
const EVERY_MS = 20_000;
const SOON_MS = 300;
/** After these the service is asked again: for the devices, for the round's balance. */
const TELLING = new Set([
  "reader_fault",
  "camera_fault",
  "camera_recovered",
  "device_returned",
  "round_settled",
  "review_raised",
]);
const FACTS = new Set(["card", "money", "act", "mark", "judgement", "doubt", "fault"]);

export async function showTable(
  /** @type {PageContext} */ { main, me, rest: [name], may, notify, onLeave, onReturn },
  /** @type {AbortSignal} */ signal,
) {
  const found = await ask(paths.table(name), { signal });
  amountsOf(name);
  /** @type {any} */
  const page = {
    name,
    found,
    may,
    state: newTable(),
    phase: found.now.phase,
    ticker: [],
    stream: "waiting",
    felt: null,
    picture: null,
  };
  if (!may("see_rounds")) {
    put(main, heading(page, false), health(found.now));
    return;
  }
  const { session } = found.now;
  const [footage, events, clauseTexts] = await Promise.all([
    footageOf(session, null, signal),
    begun(found.now, signal),
    clauses(),
  ]);
  page.state = tableOf(events);
  page.ticker = events.filter(isTickerEvent).slice(-TICKER).reverse();
  page.footage = footage;
  page.row = await settledRow(session, page.state);
  const last = events.at(-1)?.seq ?? found.now.last_seq;
  page.enter = may("resolve_reviews") && found.now.presence !== "recorded" ? entering(name, me, notify) : null;
  const places = frame(main, page, footage);
  const draw = painting(() => drawAll(places, page, clauseTexts));
  /** @type {number | undefined} */
  let soon;
  const lookAgain = async () => {
    soon = undefined;
    page.found = (await maybe(paths.table(name)).catch(() => null)) ?? page.found;
    page.row = await settledRow(session, page.state);
    if (page.found.now.last_seq >= page.state.seq) page.phase = page.found.now.phase;
    if (page.found.now.session !== session) dispatchEvent(new HashChangeEvent("hashchange"));
    else draw();
  };
  const end = follow(
    { [session]: last },
    (_, event, phase) => {
      page.state = after(page.state, event);
      page.phase = phase ?? page.phase;
      if (isTickerEvent(event)) page.ticker = [event, ...page.ticker].slice(0, TICKER);
      if (TELLING.has(event.type)) soon ??= setTimeout(lookAgain, SOON_MS);
      draw();
    },
    (stream) => {
      page.stream = stream;
      draw();
    },
  );
  const timer = setInterval(lookAgain, EVERY_MS);
  onReturn(signal, lookAgain);
  onLeave(signal, () => {
    end();
    page.picture?.end();
    clearInterval(timer);
    clearTimeout(soon);
  });
  draw();
}

/** The round in play as the service has it, once it is settled. */
const settledRow = async (/** @type {string} */ session, /** @type {Table} */ { round, settled }) =>
  settled && round !== null ? maybe(paths.round(session, round)).catch(() => null) : null;

const isTickerEvent = (/** @type {TableEvent} */ event) => FACTS.has(kind(event));

/** The events of the round in play, or of the last one, with what came before it. */
async function begun(/** @type {Answer} */ now, /** @type {AbortSignal} */ signal) {
  if (now.round === null) return eventsBetween(now.session, 0, now.last_seq, signal);
  const from = await roundStart(now.session, now.round, signal);
  return eventsBetween(now.session, from, now.last_seq, signal);
}

function frame(/** @type {HTMLElement} */ main, /** @type {Answer} */ page, /** @type {Footage | null} */ footage) {
  const places = {
    head: h("div", {}),
    felt: h("div", { class: "felt-place" }),
    due: h("section", { class: "panel", "aria-label": "Due at settlement" }),
    found: h("div", { class: "notes", "aria-live": "polite" }),
    ticker: h("ol", { class: "ticker", tabindex: 0, "aria-label": "Events, newest first" }),
    health: h("section", { class: "panel", "aria-label": "Devices" }),
  };
  const camera = footage?.cameras[0];
  page.picture = camera ? pictureFrame(camera, { live: true }) : null;
  put(
    main,
    places.head,
    h(
      "div",
      { class: "table-page" },
      h("div", { class: "left" }, places.felt, places.found, places.due),
      h(
        "div",
        { class: "right" },
        page.picture?.frame ?? noPicture(),
        page.enter?.drawn,
        places.health,
        h(
          "section",
          { class: "panel", "aria-label": "Events" },
          h("h2", {}, page.found.now.presence === "recorded" ? "Last events" : "Live events"),
          places.ticker,
        ),
      ),
    ),
  );
  return places;
}

function drawAll(
  /** @type {Record<string, HTMLElement>} */ places,
  /** @type {Answer} */ page,
  /** @type {Clauses} */ clauseTexts,
) {
  const { state } = page;
  put(places.head, heading(page, true));
  const { layout } = page.footage;
  put(
    places.felt,
    page.phase === "taken_up"
      ? drawFelt(cleared(state), page.phase, layout, null)
      : drawFelt(state, page.phase, layout),
  );
  page.picture?.show(state);
  page.enter?.look(state);
  const found = findingsOf(state, clauseTexts, page.found.now.session);
  put(places.found, found.length > 0 && h("h2", {}, "Findings"), found);
  put(
    places.due,
    h("h2", {}, state.settled ? `Round ${state.round}: due and paid` : "Due and paid"),
    state.settled && page.row
      ? moneyTable(page.row, clauseTexts)
      : h("p", { class: "quiet" }, "Shown when the round settles."),
  );
  put(places.health, h("h2", {}, "Devices"), health(asOf(page)));
  put(
    places.ticker,
    page.ticker.map((/** @type {TableEvent} */ event) =>
      h("li", { class: kind(event) }, h("time", { class: "num" }, clock(event.at)), h("span", {}, sentenceOf(event))),
    ),
  );
}

function findingsOf(/** @type {Table} */ state, /** @type {Clauses} */ clauseTexts, /** @type {string} */ session) {
  const found = state.settled?.violations ?? [];
  return [
    ...found.map((/** @type {Answer} */ one) =>
      mistake(one, clauseTexts, null, { session, round: state.settled.round }),
    ),
    ...(state.settled?.reviews ?? state.reviews).map((/** @type {Answer} */ one) => item(one)),
  ];
}

/** The session as last received, with what the stream has brought since. */
const asOf = (/** @type {Answer} */ page) => ({
  ...page.found.now,
  last_seq: Math.max(page.found.now.last_seq, page.state.seq),
  last_at: Math.max(page.found.now.last_at ?? 0, page.state.at ?? 0) || null,
});

function heading(/** @type {Answer} */ page, /** @type {boolean} */ isFull) {
  const { state, found } = page;
  const house = state.settled;
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      {},
      h("h1", {}, page.name),
      h(
        "p",
        { class: "quiet" },
        isFull && state.round !== null
          ? `Round ${state.round} · ${standing(state, page.phase)}${state.isLast ? " · last of this shoe" : ""}`
          : `Last event ${moment(found.now.last_at)}`,
      ),
    ),
    house &&
      h(
        "div",
        { class: `figure ${tone(house.net)}` },
        h("b", { class: "num" }, signed(house.net)),
        h("span", {}, house.status === "review" ? "house, if the review confirms it" : "house, this round"),
      ),
    h(
      "div",
      { class: "head-links" },
      isFull && presence(found.now, page.stream),
      isFull &&
        state.round !== null &&
        h(
          "a",
          { class: "button", href: `#/round/${encodeURIComponent(found.now.session)}/${state.round}` },
          "Replay this round",
        ),
      isFull && h("a", { class: "button", href: `#/rounds/${encodeURIComponent(page.name)}` }, "All rounds"),
      isFull && page.may("take_out") && reports(paths.session(found.now.session), "Session report"),
    ),
  );
}

function presence(/** @type {Answer} */ now, /** @type {string} */ stream) {
  const [text, name, why] = liveState(now, stream);
  return h("span", { class: `state ${name}`, title: why }, text);
}

function health(/** @type {Answer} */ now) {
  const rows = now.fault
    ? [["Journal", now.fault, "bad"]]
    : [["Journal", `read to event ${countOf(now.last_seq)}`, "good"]];
  if (now.proven !== null)
    rows.push(["Signed", provenText(now.proven, now.last_seq), now.proven < now.last_seq ? "doubt" : "good"]);
  const isOver = now.presence === "recorded";
  for (const one of now.troubles)
    rows.push([
      deviceName(one.source),
      `${faultText(one.kind)} ${isOver ? "at the end, " : ""}since ${clock(one.since)}`,
      isOver ? "quiet" : "bad",
    ]);
  for (const kind of new Set(atFault(now).map((/** @type {Answer} */ one) => one.kind)))
    if (wayOut(kind)) rows.push(["What to do", wayOut(kind), ""]);
  if (!atFault(now).length && !isOver) rows.push(["Sensors", "no fault", "good"]);
  for (const one of now.passed)
    rows.push([deviceName(one.source), `${passedText(one)}, last at ${clock(one.last_at)}`, "quiet"]);
  rows.push(["Last event", momentAndAge(now.last_at, Date.now() * 1e6), ""]);
  return h(
    "dl",
    { class: "facts" },
    rows.map(([what, text, name]) => [h("dt", {}, what), h("dd", { class: name }, text)]),
  );
}
