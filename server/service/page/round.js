// One round again: its video and its felt in step, every event, every verdict, due and paid.

import { ask, eventsBetween, paths, query, roundStart, seenAt, takeOut } from "./api.js";
import { h, isTyping, painting, put } from "./dom.js";
import { askOf } from "./decide.js";
import { drawFelt } from "./felt.js";
import { evidence } from "./evidence.js";
import { footageOf, noPicture, pictureFrame } from "./picture.js";
import { BADGES, statusLabel } from "./rounds.js";
import { phaseAt, standing, tableOf } from "./table_state.js";
import { legend, timeLine } from "./time_line.js";
import { clauses, item, mistake, moneyTable, readCitations, reports } from "./findings.js";
import { amountsOf, counted, day, fine, kind, offset, provenText, sentenceOf, signed, span, tone } from "./words.js";

const AFTER = 80;
const NAMING = new Set(["ledger_posted", "review_raised", "review_resolved"]);
const LATER = new Set(["ledger_posted", "review_resolved"]);
const SPEEDS = [0.5, 1, 2, 4];
const LEAD_NS = 5e8;
/** So long before its mistake a round is watched from: the hand that errs is seen to come. */
const BEFORE_NS = 1.5e9;
const WATCHED = "at-";
/** A picture is gone to a little after its time: a browser's clock has but microseconds. */
const NEAR_NS = 1e6;
const PATIENCE_MS = 2500;

export async function showRound(
  /** @type {PageContext} */ { main, me, may, rest: [session, number, place], notify, onLeave },
  /** @type {AbortSignal} */ signal,
) {
  const round = Number(number);
  const [row, { round: newest, proven }, phases, from, footage, clauseTexts, asked] = await Promise.all([
    ask(paths.round(session, round), { signal }),
    ask(paths.session(session), { signal }),
    ask(paths.phases(session, round), { signal }),
    roundStart(session, round, signal),
    footageOf(session, round, signal),
    clauses(),
    askedMoment(session, place, signal),
  ]);
  const last = newest ?? round;
  amountsOf(row.table);
  const [events, question] = await Promise.all([
    eventsOf(session, row, from, signal),
    askOf(row, { me, may, notify }),
    readCitations(row),
  ]);
  const player = new Player(row, events, footage);
  const page = layOut(main, {
    row,
    last,
    proven,
    phases,
    events,
    footage,
    clauseTexts,
    player,
    session,
    may,
    notify,
    question,
  });
  player.onMove = painting(() => page.show(player.at));
  keys(player, signal, page.picture?.keys ?? {}, { "[": beside(row, -1, last), "]": beside(row, 1, last) });
  onLeave(signal, () => {
    player.pause();
    page.picture?.end();
  });
  addEventListener(
    "keydown",
    (event) => {
      if (!isTyping(event) && question?.onKey(event.key)) event.preventDefault();
    },
    { signal },
  );
  const loadPictures = evidence(page.pictures, { session, events, footage, go: (at) => player.go(at) });
  player.go(asked ?? (await beginning(row, events, signal)) ?? player.from);
  const opened = player.at;
  await Promise.race([player.isReady(), new Promise((done) => setTimeout(done, PATIENCE_MS))]);
  if (signal.aborted) return;
  // Who went elsewhere meanwhile looks at something: it does not start to move.
  const isUntouched = player.at === opened;
  if (isUntouched && (asked === null || place?.startsWith(WATCHED))) player.play();
  loadPictures();
}

/** The moment that an address names, by an event's number or as a time to play from. */
async function askedMoment(
  /** @type {string} */ session,
  /** @type {string | undefined} */ place,
  /** @type {AbortSignal} */ signal,
) {
  if (place?.startsWith(WATCHED)) return Number(place.slice(WATCHED.length));
  return /^[1-9]\d*$/.test(place ?? "") ? seenAt(session, Number(place), signal) : null;
}

/** Where a round begins that is watched: shortly before its mistake or what is to decide, else at the first card. */
async function beginning(
  /** @type {Answer} */ row,
  /** @type {TableEvent[]} */ events,
  /** @type {AbortSignal} */ signal,
) {
  const { violations = [], reviews = [] } = row.result ?? {};
  const seq = [
    ...violations.map((/** @type {Answer} */ one) => one.seq),
    ...reviews.flatMap((/** @type {Answer} */ one) => one.evidence),
  ][0];
  const at = seq ? await seenAt(row.session, seq, signal) : null;
  return at === null ? (events.find((event) => event.type === "card_dealt")?.at ?? null) : at - BEFORE_NS;
}

/** A round's events, with what came between it and the one before, and what follows of it later. */
async function eventsOf(
  /** @type {string} */ session,
  /** @type {Answer} */ row,
  /** @type {number} */ from,
  /** @type {AbortSignal} */ signal,
) {
  const found = await eventsBetween(session, from, row.last_seq + AFTER, signal);
  return found.filter((event) => isOf(event, row.round) && (event.seq <= row.last_seq || LATER.has(event.type)));
}

/** Judgements of the round before come after its last fact. */
const isOf = (/** @type {TableEvent} */ event, /** @type {number} */ round) =>
  (event.result?.round ?? (NAMING.has(event.type) ? event.round : round)) === round;

/** Time as it is played: by the clip where there is one, else by the host's clock. */
class Player {
  /** @type {any} */
  clip = null;
  /** @type {HTMLVideoElement | null} */
  video = null;
  isPlaying = false;
  speed = 1;
  last = 0;
  onMove = () => {};
  onState = () => {};

  constructor(/** @type {Answer} */ row, /** @type {TableEvent[]} */ events, /** @type {Footage | null} */ footage) {
    const clip = footage?.cameras.find((one) => one.clip)?.clip ?? null;
    const moments = events
      .filter((event) => event.seq >= row.seq && event.type !== "ledger_posted")
      .map((event) => event.at);
    this.from = Math.min(row.at || Infinity, ...moments) - LEAD_NS;
    this.to = row.closed_at || Math.max(row.at, ...moments);
    this.moments = [
      ...new Set(
        events.filter((event) => kind(event) !== "sensed" && kind(event) !== "ledger").map((event) => event.at),
      ),
    ]
      .filter((at) => at >= this.from && at <= this.to)
      .sort((a, b) => a - b);
    this.clip = clip;
    this.at = this.to;
  }

  go(/** @type {number} */ at) {
    this.at = Math.min(Math.max(at, this.from), this.to);
    this.seek();
    this.onMove();
  }

  /** A clip that has not come yet is gone to when it has. */
  seek() {
    if (this.video && this.video.readyState > 0)
      this.video.currentTime = Math.max(0, (this.at - this.clip.from_ns) / 1e9);
  }

  isReady() {
    return new Promise((done) => this.video?.addEventListener("canplay", done, { once: true }));
  }

  step(/** @type {number} */ by) {
    this.pause();
    const later = by > 0;
    const next = later ? this.moments.find((at) => at > this.at) : this.moments.findLast((at) => at < this.at);
    this.go(next ?? (later ? this.to : this.from));
  }

  /** The number of the picture shown: the last that is not later than the moment; -1 before all. */
  picture() {
    const since = this.at - this.clip.from_ns + NEAR_NS;
    return this.clip.frames.findLastIndex((/** @type {Answer} */ one) => one <= since);
  }

  /** Go on by single pictures of the clip. */
  stepPicture(/** @type {number} */ by) {
    this.pause();
    const { frames, from_ns } = this.clip;
    const next = Math.min(frames.length - 1, Math.max(0, this.picture() + by));
    this.go(from_ns + frames[next] + NEAR_NS);
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  play() {
    if (this.at >= this.to) this.go(this.from);
    this.isPlaying = true;
    if (this.video) {
      this.video.playbackRate = this.speed;
      this.video.play().catch(() => null);
    }
    this.last = performance.now();
    this.onState();
    requestAnimationFrame(() => this.tick());
  }

  /** The video leads while it plays; where it stands still beyond its ends, the clock does. */
  tick() {
    if (!this.isPlaying) return;
    const now = performance.now();
    const { video, clip } = this;
    const leads = video && clip && !video.paused && !video.ended && video.readyState > 1;
    this.at = leads ? clip.from_ns + video.currentTime * 1e9 : this.at + (now - this.last) * 1e6 * this.speed;
    this.last = now;
    if (this.at >= this.to) {
      this.at = this.to;
      this.pause();
    }
    this.onMove();
    requestAnimationFrame(() => this.tick());
  }

  pause() {
    this.isPlaying = false;
    this.video?.pause();
    this.onState();
  }

  setSpeed(/** @type {number} */ speed) {
    this.speed = speed;
    if (this.video) this.video.playbackRate = speed;
    this.onState();
  }
}

function layOut(
  /** @type {HTMLElement} */ main,
  /** @type {Answer} */ {
    row,
    last,
    proven,
    phases,
    events,
    footage,
    clauseTexts,
    player,
    session,
    may,
    notify,
    question,
  },
) {
  const camera = footage?.cameras.find((/** @type {Answer} */ one) => one.clip) ?? null;
  const picture = camera
    ? pictureFrame(camera, {
        clip: camera.clip,
        actions: pictureActions({ camera, player, row, session, may, notify }),
      })
    : null;
  player.video = picture?.video ?? null;
  player.video?.addEventListener("loadedmetadata", () => player.seek());
  const at = new Map(events.map((/** @type {TableEvent} */ event) => [event.seq, event.at]));
  const violations = row.result?.violations ?? [];
  const line = timeLine({
    events: events.filter((/** @type {TableEvent} */ event) => event.at >= player.from && event.at <= player.to),
    from: player.from,
    to: player.to,
    flags: violations
      .map((/** @type {Answer} */ one) => ({ at: at.get(one.seq), name: one.suspected ? "doubt" : "bad" }))
      .filter((/** @type {Answer} */ one) => one.at),
    onSeek: (moment) => {
      player.pause();
      player.go(moment);
    },
  });
  const felt = h("div", { class: "felt-place" });
  const now = h("p", { class: "num now-at" });
  const list = eventList(events, player);
  const pictures = h("section", { class: "panel", hidden: true, "aria-label": "Evidence pictures" });
  put(
    main,
    heading(row, last, may),
    proven !== null &&
      proven < row.last_seq &&
      h(
        "p",
        { class: "doubt" },
        `This round rests on entries that its table has not signed yet: ${provenText(proven, row.last_seq)}.`,
      ),
    question?.drawn,
    h("div", { class: "step" }, picture?.frame ?? noPicture(), felt),
    h("section", { class: "panel player", "aria-label": "Player" }, controls(player), now, line.drawn, legend()),
    h(
      "div",
      { class: "columns" },
      h(
        "section",
        { class: "panel", "aria-label": "Findings" },
        h("h2", {}, "Findings"),
        findings(row, clauseTexts, player),
        unread(row, events),
      ),
      h(
        "section",
        { class: "panel", "aria-label": "Due and paid" },
        h("h2", {}, "Due and paid"),
        moneyTable(row, clauseTexts),
        ledger(events),
      ),
    ),
    pictures,
    h("section", { class: "panel", "aria-label": "Events" }, h("h2", {}, `Every event (${events.length})`), list.drawn),
  );
  return {
    pictures,
    picture,
    show(/** @type {number} */ moment) {
      const state = tableOf(events.filter((/** @type {TableEvent} */ event) => event.at <= moment));
      const phase = phaseAt(phases, state.seq);
      put(felt, drawFelt(state, phase, footage.layout, row.result));
      picture?.show(state);
      if (picture) picture.caption.textContent = pictureName(camera, player);
      line.show(moment);
      now.textContent = `${span((moment - player.from) / 1e9)} of ${span((player.to - player.from) / 1e9)} · ${fine(moment)} · ${standing(state, phase)}`;
      list.show(moment);
    },
  };
}

const pictureName = (/** @type {Answer} */ camera, /** @type {Player} */ player) =>
  player.picture() < 0
    ? `Camera ${camera.name}`
    : `Camera ${camera.name} · picture ${player.picture() + 1} of ${player.clip.frames.length}`;

/** What can be done with the picture beside looking closer. */
function pictureActions(/** @type {Answer} */ { camera, player, row, session, may, notify }) {
  const steps = [
    { name: "Previous picture", key: ",", work: () => player.stepPicture(-1), text: "‹|" },
    { name: "Next picture", key: ".", work: () => player.stepPicture(1), text: "|›" },
  ];
  if (!may("take_out")) return steps;
  const path = `${paths.round(session, row.round)}/snapshots/${encodeURIComponent(camera.name)}`;
  const save = async () => {
    try {
      const at = Math.round(player.clip.from_ns + player.clip.frames[Math.max(0, player.picture())] + NEAR_NS);
      const name = await takeOut(query(path, { at: BigInt(at) }));
      notify(`Saved ${name}, signed. pitwatch verify checks it.`, "good");
    } catch (refused) {
      notify(`No snapshot: ${refused.message}.`, "bad");
    }
  };
  return [...steps, { name: "Snapshot", key: "s", work: save }];
}

/** The address of the round before or after one; null where the session has none. */
function beside(/** @type {Answer} */ { session, round }, /** @type {number} */ by, /** @type {number} */ last) {
  const number = round + by;
  return number < 1 || number > last ? null : `#/round/${encodeURIComponent(session)}/${number}`;
}

function heading(/** @type {Answer} */ row, /** @type {number} */ last, /** @type {May} */ may) {
  const [before, next] = [beside(row, -1, last), beside(row, 1, last)];
  const id = encodeURIComponent(`${row.session}.${row.round}`);
  return h(
    "header",
    { class: "head" },
    h(
      "div",
      {},
      h("h1", {}, `${row.table} · round ${row.round}`),
      h(
        "p",
        { class: "quiet" },
        row.at
          ? `${day(row.at)}, ${fine(row.at)} to ${row.closed_at ? fine(row.closed_at) : "now"}, ${offset(row.at)}`
          : "No entry states when it opened.",
      ),
    ),
    h("span", { class: `badge ${BADGES[row.status]}` }, statusLabel(row.status)),
    row.status !== "open" &&
      h(
        "div",
        { class: `figure ${tone(row.net)}` },
        h("b", { class: "num" }, signed(row.net)),
        h("span", {}, row.status === "review" ? "house, if the review confirms it" : "house"),
      ),
    h(
      "div",
      { class: "head-links" },
      before && h("a", { class: "button", href: before, title: "Key [", rel: "prev" }, "‹ Previous round"),
      next && h("a", { class: "button", href: next, title: "Key ]", rel: "next" }, "Next round ›"),
      (row.violations > 0 || row.reviews > 0 || row.decided > 0) &&
        h("a", { class: "button", href: `#/incidents/${id}` }, "Incident"),
      may("take_out") && reports(`/api/incidents/${id}`, "Report"),
    ),
  );
}

function controls(/** @type {Player} */ player) {
  const play = h("button", { type: "button", class: "main play", onclick: () => player.toggle() });
  const speed = h(
    "select",
    { id: "speed", "aria-label": "Speed", onchange: () => player.setSpeed(Number(speed.value)) },
    SPEEDS.map((one) => h("option", { value: one, selected: one === 1 }, `${one}×`)),
  );
  player.onState = () => {
    play.textContent = player.isPlaying ? "❚❚ Pause" : "▶ Play";
    play.setAttribute("aria-pressed", player.isPlaying);
  };
  player.onState();
  const key = (/** @type {string} */ name, /** @type {string} */ text) => h("span", {}, h("kbd", {}, name), ` ${text}`);
  return h(
    "div",
    { class: "controls" },
    h("button", { type: "button", "aria-label": "Previous event", onclick: () => player.step(-1) }, "‹"),
    play,
    h("button", { type: "button", "aria-label": "Next event", onclick: () => player.step(1) }, "›"),
    speed,
    h(
      "p",
      { class: "keys" },
      key("space", "play"),
      key("← →", "events"),
      player.clip && [key(", .", "pictures"), key("+ −", "closer"), key("f", "full screen")],
      key("[ ]", "rounds"),
    ),
  );
}

function findings(/** @type {Answer} */ row, /** @type {Clauses} */ clauseTexts, /** @type {Player} */ player) {
  const found = row.result?.violations ?? [];
  const items = row.result?.reviews ?? [];
  if (!row.result) return h("p", { class: "quiet" }, "The round is in play.");
  if (!found.length && !items.length) return h("p", { class: "good" }, "No mistake in this round.");
  return h(
    "div",
    { class: "notes" },
    found.map((/** @type {Answer} */ one) => mistake(one, clauseTexts, (moment) => seeIt(player, moment), row)),
    items.map((/** @type {Answer} */ one) => item(one)),
  );
}

function seeIt(/** @type {Player} */ player, /** @type {number} */ at) {
  player.pause();
  scrollTo({ top: 0 });
  player.go(at);
}

/** Say how many pictures of the round were left out: a question may come of it. */
function unread(/** @type {Answer} */ row, /** @type {TableEvent[]} */ events) {
  const own = events.filter(
    (event) => event.seq >= row.seq && event.type === "camera_fault" && event.kind === "left_out",
  );
  const number = own.reduce((sum, { count = 1 }) => sum + count, 0);
  return (
    number > 0 &&
    h(
      "p",
      { class: "doubt" },
      `${counted(number, "picture")} left out while this round was dealt: the table's machine could not keep up.`,
    )
  );
}

function ledger(/** @type {TableEvent[]} */ events) {
  const lines = events.filter((event) => event.type === "ledger_posted");
  if (!lines.length) return null;
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      `Ledger: ${lines.length} lines that sum to ${signed(lines.reduce((sum, one) => sum + one.amount, 0))}`,
    ),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Account"),
          h("th", { scope: "col" }, "For"),
          h("th", { scope: "col", class: "num" }, "Amount"),
        ),
      ),
      h(
        "tbody",
        {},
        lines.map((one) =>
          h(
            "tr",
            {},
            h("td", {}, one.account),
            h("td", {}, one.memo),
            h("td", { class: `num ${tone(one.amount)}` }, signed(one.amount)),
          ),
        ),
      ),
    ),
  );
}

function eventList(/** @type {TableEvent[]} */ events, /** @type {Player} */ player) {
  const rows = events.map((event) =>
    h(
      "li",
      { class: kind(event) },
      h(
        "button",
        {
          type: "button",
          onclick: () => {
            player.pause();
            player.go(event.at);
          },
        },
        h("span", { class: "num seq" }, event.seq),
        h("time", { class: "num" }, fine(event.at)),
        h("span", {}, sentenceOf(event)),
        h("span", { class: "rests mono" }, rests(event)),
      ),
    ),
  );
  return {
    drawn: h("ol", { class: "events", tabindex: 0, "aria-label": "Events of the round" }, rows),
    show(/** @type {number} */ moment) {
      for (const [index, one] of rows.entries()) one.classList.toggle("past", events[index].at <= moment);
    },
  };
}

const rests = (/** @type {TableEvent} */ event) => {
  const on = event.evidence ?? event.because ?? [];
  return on.length ? `based on ${on.slice(0, 4).join(", ")}${on.length > 4 ? ` and ${on.length - 4} more` : ""}` : "";
};

function keys(
  /** @type {Player} */ player,
  /** @type {AbortSignal} */ signal,
  /** @type {Record<string, () => unknown>} */ more,
  /** @type {Record<string, string | null>} */ links,
) {
  /** @type {Record<string, () => unknown>} */
  const acts = {
    ...more,
    " ": () => player.toggle(),
    ArrowRight: () => player.step(1),
    ArrowLeft: () => player.step(-1),
    Home: () => {
      player.pause();
      player.go(player.from);
    },
    End: () => {
      player.pause();
      player.go(player.to);
    },
  };
  for (const [key, link] of Object.entries(links))
    acts[key] = () => {
      if (link) location.hash = link;
    };
  addEventListener(
    "keydown",
    (event) => {
      const act = acts[event.key];
      if (
        !act ||
        isTyping(event) ||
        (event.key === " " && /** @type {Element} */ (event.target).closest("button, a, summary"))
      )
        return;
      event.preventDefault();
      act();
    },
    { signal },
  );
}
