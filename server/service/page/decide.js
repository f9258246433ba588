// Answering a question about a round: what can be seen of it, its answers with what each comes to, and the choice.

import { ask, maybe, paths, post, query } from "./api.js";
import { h, put, s } from "./dom.js";
import { cropPath } from "./evidence.js";
import { cardFace } from "./felt.js";
import { figures } from "./stories.js";
import { cardName, cardText, capitalised, clock, fine, inWords } from "./words.js";

const RANKS = [..."A23456789TJQK"];
const SUITS = [..."SHDC"];
const SPOTS = 12;
const CARDS = 12;
const LEAD_NS = 2e9;
/** Answers of a question that some card, of whichever face, may answer. */
const NAMING = new Set(["account", "chosen", "unreadable"]);

/**
 * @template {string} What
 * @param {Answer} review
 * @param {What} what
 */
const path = (review, what) =>
  /** @type {const} */ (
    `/api/incidents/${encodeURIComponent(`${review.session}.${review.round}`)}/reviews/${review.item}/${what}`
  );

/** Where a second person's answer to a proposal is sent; one without an item calls off a round or a hand. */
export const approvalPath = (/** @type {string} */ incident, /** @type {number | null} */ item) =>
  `/api/incidents/${encodeURIComponent(incident)}/${item === null ? "ruling" : `reviews/${item}`}/approval`;

/**
 * The panel of a question: { drawn, ready, onKey }, ready with its answers; `done` is called with a message once it is in the journal.
 *
 * `left` is how many questions of the round are open; `pictured`: whether the page shows the round's video itself.
 */
export function decider(
  /** @type {Answer} */ review,
  /** @type {Person} */ me,
  /** @type {(text: string) => unknown} */ done,
  { left = 1, pictured = false } = {},
) {
  /** @type {Answer} */
  let chosen = null;
  /** @type {{ drawn: HTMLElement, answer: Answer }[]} */
  const buttons = [];
  const reason = h("textarea", { id: "why", rows: 2, maxlength: 2000, required: true });
  const why = h("div", { class: "field", hidden: true }, h("label", { for: "why" }, "Reason"), reason);
  const fault = h("p", { class: "bad", role: "alert" });
  const confirm = h(
    "button",
    { type: "button", class: "main", disabled: true, onclick: () => send() },
    "Choose an answer",
  );
  const choose = (/** @type {Answer} */ answer) => {
    chosen = answer;
    for (const one of buttons) one.drawn.setAttribute("aria-pressed", String(one.answer === answer));
    confirm.disabled = false;
    put(confirm, `Decide as ${me.name}: ${inWords(answer.says)} `, h("kbd", {}, "Enter"));
    why.hidden = !answer.asks_reason;
    if (answer.asks_reason) reason.focus();
  };
  const send = async () => {
    confirm.disabled = true;
    fault.textContent = "";
    try {
      const { decision, choice, card, account } = chosen;
      const view = await post(path(review, "decision"), {
        decision,
        choice,
        card,
        account,
        reason: reason.value.trim(),
      });
      const waits = view.proposals.some((/** @type {Answer} */ one) => one.item === review.item);
      const entry = view.reviews.find((/** @type {Answer} */ one) => one.item === review.item)?.decided?.seq;
      await done(
        waits
          ? "Proposed: it takes effect once a second person approves it."
          : `Decided: ${inWords(chosen.says)}. Journal entry ${entry}.`,
      );
    } catch (refused) {
      fault.textContent = `${refused.message}.`;
      confirm.disabled = false;
    }
  };
  const list = h(
    "ol",
    { class: "answers", "aria-label": "Answers" },
    h("li", { class: "quiet" }, "Working out what each answer pays…"),
  );
  const looks = h("div", { class: "looks-place" });
  const more = h("p", { class: "quiet" }, left > 1 ? `${left} questions of this round are open.` : "");
  const answered = ask(path(review, "answers"));
  const other = /** @type {HTMLDetailsElement} */ (another(choose));
  const ready = answered
    .then(({ answers }) => {
      put(
        list,
        answers.map((/** @type {Answer} */ answer, /** @type {number} */ index) => {
          const drawn = answerButton(answer, index + 1, () => choose(answer));
          buttons.push({ drawn, answer });
          return h("li", {}, drawn);
        }),
      );
      other.hidden = !answers.some((/** @type {Answer} */ { decision }) => NAMING.has(decision));
      other.open = !answers.some(
        (/** @type {Answer} */ { decision }) => decision === "chosen" || decision === "account",
      );
    })
    .catch((refused) => put(list, h("li", { class: "bad" }, `${refused.message}.`)));
  if (!pictured) answered.then((found) => showLooks(looks, review, found)).catch(() => showLooks(looks, review, null));
  const drawn = h(
    "section",
    { class: "panel decide", "aria-label": "To decide" },
    h("h2", { class: "asks" }, inWords(review.what)),
    left > 1 && more,
    h("div", { class: pictured ? "" : "weigh" }, !pictured && looks, list),
    why,
    fault,
    h("div", { class: "decide-by" }, confirm, other, figures(review)),
  );
  return {
    drawn,
    ready,
    onKey(/** @type {string | null} */ key) {
      const found = buttons[Number(key) - 1];
      if (found) choose(found.answer);
      else if (key === "Enter" && !confirm.disabled && !document.activeElement?.closest("button, a, summary")) send();
      else return false;
      return true;
    },
  };
}

const PATIENCE_MS = 2500;

/** The open question of a round, with its answers: { drawn, onKey }; null where nobody is asked. */
export async function askOf(
  /** @type {Answer} */ row,
  /** @type {{ me: Person, may: May, notify: Notify }} */ { me, may, notify },
) {
  if (!row.reviews || !may("resolve_reviews")) return null;
  const found = await maybe(`/api/incidents/${encodeURIComponent(`${row.session}.${row.round}`)}`).catch(() => null);
  const open = (found?.reviews ?? []).filter((/** @type {Answer} */ one) => !one.decided);
  if (!open.length) return null;
  const done = (/** @type {string} */ text) => {
    notify(text, "good");
    dispatchEvent(new HashChangeEvent("hashchange"));
  };
  const asked = decider(open[0], me, done, { left: open.length, pictured: true });
  await Promise.race([asked.ready, new Promise((later) => setTimeout(later, PATIENCE_MS))]);
  return asked;
}

const answerButton = (
  /** @type {Answer} */ answer,
  /** @type {number} */ number,
  /** @type {() => unknown} */ onclick,
) =>
  h(
    "button",
    { type: "button", "aria-pressed": "false", onclick },
    number < 10 && h("kbd", {}, String(number)),
    h(
      "span",
      {},
      h("b", {}, capitalised(inWords(answer.says))),
      answer.likelihood && h("em", { title: `Probability ${answer.odds}` }, answer.likelihood),
      h("span", { class: `comes-to ${answer.mistakes.length ? "wrong" : ""}` }, inWords(answer.comes_to)),
    ),
    answer.choice && face(answer.choice),
  );

const face = (/** @type {Card} */ card) =>
  s("svg", { class: "felt-card", viewBox: "-60 -82 120 164", "aria-hidden": "true" }, cardFace(card));

/** An answer that is not offered: some card is another one. */
function another(/** @type {(answer: Answer) => void} */ choose) {
  const rank = h(
    "select",
    { "aria-label": "Rank" },
    RANKS.map((one) => h("option", { value: one }, one === "T" ? "10" : one)),
  );
  const suit = h(
    "select",
    { "aria-label": "Suit" },
    SUITS.map((one) => h("option", { value: one }, cardText(`A${one}`)[1])),
  );
  const where = placeFields();
  const card = () => rank.value + suit.value;
  return h(
    "details",
    { hidden: true },
    h("summary", {}, "Another card"),
    h("p", { class: "quiet" }, "Where the question is not about one card alone, say which card of the round it is."),
    h(
      "div",
      { class: "head-links" },
      where,
      rank,
      suit,
      h(
        "button",
        {
          type: "button",
          onclick: () =>
            choose({
              says: `${where.value() ? "that card" : "it"} is the ${cardName(card())}`,
              decision: "chosen",
              choice: card(),
              card: where.value(),
              account: null,
              asks_reason: false,
            }),
        },
        "This one",
      ),
    ),
  );
}

/** A card's place in the round, where the question does not name it. */
function placeFields() {
  const spots = Array.from({ length: SPOTS }, (_, index) => String(index + 1));
  const of = (/** @type {string} */ label, /** @type {[any, string][]} */ options) =>
    h(
      "select",
      { "aria-label": label },
      options.map((/** @type {Answer} */ [value, text]) => h("option", { value }, text)),
    );
  const to = of("Place", [
    ["", "The card in question"],
    ["dealer", "Dealer"],
    ...spots.map((one) => /** @type {[string, string]} */ ([one, `Spot ${one}`])),
  ]);
  const hand = of(
    "Hand",
    [0, 1, 2, 3].map((one) => [one, `Hand ${one + 1}`]),
  );
  const nth = of(
    "Card of the hand",
    Array.from({ length: CARDS }, (_, index) => [index, `Card ${index + 1}`]),
  );
  const drawn = h("span", { class: "head-links" }, to, hand, nth);
  return Object.assign(drawn, {
    value: () =>
      to.value
        ? { to: to.value === "dealer" ? "dealer" : Number(to.value), hand: Number(hand.value), nth: Number(nth.value) }
        : null,
  });
}

const LOOKS = 12;
const SHOWN = 4;
const isSighting = (/** @type {Answer} */ event) =>
  event?.type === "card_sighted" || event?.type === "foreign_card_sighted";

/** The moments in doubt as a clip, where they were filmed, and the pictures of the cards in question. */
async function showLooks(/** @type {HTMLElement} */ place, /** @type {Answer} */ review, /** @type {Answer} */ found) {
  const footage = await maybe(`${paths.round(review.session, review.round)}/footage`).catch(() => null);
  const seen = footage?.cameras.length ? await sightings(review) : [];
  const camera = footage?.cameras.find((/** @type {Answer} */ one) => one.clip);
  put(
    place,
    camera && found && clipOf(review, camera.clip, found),
    seen.length
      ? h(
          "ul",
          { class: "looks" },
          seen.slice(0, SHOWN).map((one) => look(review, one)),
        )
      : null,
    !camera && !seen.length && h("p", { class: "quiet" }, "Nothing of this round was filmed."),
  );
}

/** The round's video around the moments in doubt: the last of them at first; played, all of them over and over. */
function clipOf(
  /** @type {Answer} */ review,
  /** @type {Answer} */ clip,
  /** @type {Answer} */ { from_ns: first, to_ns: last },
) {
  const from = Math.max(clip.from_ns, first - LEAD_NS);
  const to = last + LEAD_NS;
  const video = /** @type {HTMLVideoElement} */ (
    h("video", {
      src: clip.url,
      muted: true,
      playsinline: true,
      controls: true,
      preload: "auto",
      "aria-label": "The moments in doubt",
    })
  );
  const start = () => {
    video.currentTime = (from - clip.from_ns) / 1e9;
  };
  video.muted = true;
  video.addEventListener("loadedmetadata", () => {
    video.currentTime = (last - clip.from_ns) / 1e9;
  });
  video.addEventListener("play", start, { once: true });
  video.addEventListener("timeupdate", () => {
    if (video.currentTime > (to - clip.from_ns) / 1e9 && !video.paused) start();
  });
  const href = `#/round/${encodeURIComponent(review.session)}/${review.round}/at-${Math.round(from)}`;
  return [video, h("a", { href }, `Watch ${clock(from)} to ${clock(to)}`)];
}

/** The camera's pictures among what the item rests on: its own sightings, and those of its facts. */
async function sightings(/** @type {Answer} */ review) {
  const eventOf = (/** @type {number} */ seq) =>
    ask(query(paths.events(review.session), { after: seq - 1, limit: 1 }))
      .then(({ events: [one] }) => one)
      .catch(() => null);
  const own = await Promise.all(review.evidence.slice(0, LOOKS).map(eventOf));
  const below = own.filter((one) => one && !isSighting(one)).flatMap((one) => one.evidence ?? []);
  const events = [
    ...own,
    ...(await Promise.all(
      [...new Set(below)]
        .filter((seq) => !review.evidence.includes(seq))
        .slice(0, LOOKS)
        .map(eventOf),
    )),
  ];
  return events.filter((one) => isSighting(one) && one.face !== "down");
}

const look = (/** @type {Answer} */ review, /** @type {TableEvent} */ sighting) =>
  h(
    "li",
    {},
    h(
      "a",
      {
        href: `#/round/${encodeURIComponent(review.session)}/${review.round}/${sighting.seq}`,
        title: "See this moment of the round",
      },
      h("img", {
        src: cropPath(review.session, sighting.seq, { whole: true }),
        alt: "The card in question, marked, as the camera saw it",
        onerror: (/** @type {Answer} */ { target }) => {
          if (target.hasAttribute("src")) target.closest("li").remove();
        },
      }),
      h("span", { class: "quiet" }, fine(sighting.at)),
    ),
  );
