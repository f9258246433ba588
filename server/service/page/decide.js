// Deciding a review item: the pictures, what it may be, and the choice in one's own name.

import { ask, maybe, paths, post, query } from "./api.js";
import { h, put, s } from "./dom.js";
import { cropPath } from "./evidence.js";
import { cardFace } from "./felt.js";
import { accountList, showAccounts } from "./stories.js";
import { cardName, cardText, fine, withPips } from "./words.js";

const RANKS = [..."A23456789TJQK"];
const SUITS = [..."SHDC"];
const SPOTS = 12;
const CARDS = 12;
const IS_CARD = /^[A23456789TJQK][SHDC]$/;
const WAYS = [
  { decision: "stands", key: "s", name: "The record is right" },
  { decision: "dealt", key: "d", name: "It belongs to the named hand", places: true },
  { decision: "burned", key: "b", name: "The card was burned" },
  { decision: "unreadable", key: "u", name: "Nobody can read it", asks: true },
  { decision: "void", key: "v", name: "The floor calls the round off", asks: true },
];

/** Where a second person's answer to a proposal is sent. */
export const approvalPath = (/** @type {string} */ incident, /** @type {number} */ item) => `/api/incidents/${encodeURIComponent(incident)}/reviews/${item}/approval`;

/** Where a decision on an item is sent. */
const decisionPath = (/** @type {Answer} */ review) => `/api/incidents/${encodeURIComponent(`${review.session}.${review.round}`)}/reviews/${review.item}/decision`;

/** Returns { drawn, onKey }; `done` is called with a message once it is in the journal. */
export function decider(/** @type {Answer} */ review, /** @type {Person} */ me, /** @type {(text: string) => unknown} */ done) {
  const cards = review.candidates.filter((/** @type {Answer} */ one) => IS_CARD.test(one));
  const state = { choice: null, decision: null };
  const reason = h("textarea", { id: "why", rows: 2, maxlength: 4000 });
  const fault = h("p", { class: "bad", role: "alert" });
  const where = placeFields();
  const confirm = h("button", { type: "button", class: "main", disabled: true, onclick: () => send() });
  /** @type {{ drawn: HTMLElement, decision: string, choice: Card, key: string | null }[]} */
  const buttons = [];
  const choose = (/** @type {string} */ decision, /** @type {Card} */ choice) => {
    Object.assign(state, { decision, choice });
    for (const one of buttons) one.drawn.setAttribute("aria-pressed", String(one.decision === decision && one.choice === choice));
    confirm.disabled = false;
    put(confirm, `Decide as ${me.name}: ${described(state)} `, h("kbd", {}, "Enter"));
    const way = WAYS.find((one) => one.decision === decision);
    if (way?.places) where.open();
    else if (way?.asks) reason.focus();
  };
  const option = (/** @type {string} */ decision, /** @type {Card} */ choice, /** @type {string | null} */ key, /** @type {Child[]} */ ...inside) => {
    const drawn = h("button", { type: "button", "aria-pressed": "false", class: choice ? "candidate" : "way", onclick: () => choose(decision, choice) }, inside, key && h("kbd", {}, key));
    buttons.push({ drawn, decision, choice, key });
    return drawn;
  };
  const send = async () => {
    confirm.disabled = true;
    fault.textContent = "";
    try {
      const view = await post(decisionPath(review), { decision: state.decision, choice: state.choice, card: where.value(), reason: reason.value.trim() });
      const waits = view.proposals.some((/** @type {Answer} */ one) => one.item === review.item);
      const entry = view.reviews.find((/** @type {Answer} */ one) => one.item === review.item)?.decided?.seq;
      await done(waits ? "Proposed: it takes effect once a second person approves it." : `Decided: ${described(state)}. Journal entry ${entry}.`);
    } catch (refused) {
      fault.textContent = `${refused.message}.`;
      confirm.disabled = false;
    }
  };
  put(confirm, "Choose first");
  const pictures = h("ul", { class: "looks" });
  put(pictures, h("li", { class: "quiet" }, "Loading the pictures…"));
  showLooks(pictures, review);
  const accounts = accountList();
  showAccounts(accounts, review).catch(() => null);
  const drawn = h("section", { class: "panel decide", "aria-label": "To decide" },
    h("h2", {}, "To decide"), h("p", { class: "what" }, withPips(review.what)), accounts,
    h("div", { class: "weigh" }, pictures,
      h("div", {}, h("div", { class: "candidates", role: "group", "aria-label": "Candidates" },
        cards.map((/** @type {Card} */ card, /** @type {number} */ index) => option("chosen", card, String(index + 1), face(card)))),
      other(choose))),
    h("div", { class: "ways", role: "group", "aria-label": "Or" }, WAYS.map((one) => option(one.decision, null, one.key, one.name))),
    where.drawn, h("div", { class: "field" }, h("label", { for: "why" }, "Reason"), reason), fault, confirm);
  return {
    drawn,
    onKey(/** @type {string | null} */ key) {
      const found = buttons.find((one) => one.key === key);
      if (found) choose(found.decision, found.choice);
      else if (key === "Enter" && !confirm.disabled && !document.activeElement?.closest("button, a, summary")) send();
      else return false;
      return true;
    },
  };
}

const described = (/** @type {{ decision: string | null, choice: Card }} */ { decision, choice }) => (choice ? `it is the ${cardName(choice)}` : WAYS.find((one) => one.decision === decision)?.name.toLowerCase() ?? decision);

const face = (/** @type {Card} */ card) => [
  s("svg", { class: "felt-card", viewBox: "-60 -82 120 164", role: "img", "aria-label": cardName(card) }, cardFace(card)),
];

function other(/** @type {(decision: string, choice: string | null) => void} */ choose) {
  const rank = h("select", { "aria-label": "Rank" }, RANKS.map((one) => h("option", { value: one }, one === "T" ? "10" : one)));
  const suit = h("select", { "aria-label": "Suit" }, SUITS.map((one) => h("option", { value: one }, cardText(`A${one}`)[1])));
  return h("details", {}, h("summary", {}, "Another card"),
    h("div", { class: "head-links" }, rank, suit, h("button", { type: "button", onclick: () => choose("chosen", rank.value + suit.value) }, "This one")));
}

/** A card's place in the round, where the item does not name it; named while its fields are open. */
function placeFields() {
  const spots = Array.from({ length: SPOTS }, (_, index) => String(index + 1));
  const of = (/** @type {string} */ label, /** @type {[any, string][]} */ options) => h("select", { "aria-label": label }, options.map((/** @type {Answer} */ [value, text]) => h("option", { value }, text)));
  const to = of("Place", [["dealer", "Dealer"], ...spots.map((one) => /** @type {[string, string]} */ ([one, `Spot ${one}`]))]);
  const hand = of("Hand", [0, 1, 2, 3].map((one) => [one, `Hand ${one + 1}`]));
  const nth = of("Card of the hand", Array.from({ length: CARDS }, (_, index) => [index, `Card ${index + 1}`]));
  const drawn = h("details", {}, h("summary", {}, "Name the hand"), h("div", { class: "head-links" }, to, hand, nth));
  return {
    drawn,
    open() { drawn.open = true; to.focus(); },
    value: () => (drawn.open ? { to: to.value === "dealer" ? "dealer" : Number(to.value), hand: Number(hand.value), nth: Number(nth.value) } : null),
  };
}

const LOOKS = 12;
const isSighting = (/** @type {Answer} */ event) => event?.type === "card_sighted" || event?.type === "foreign_card_sighted";

/** The camera's pictures among what the item rests on: its own sightings, and those of its facts. */
async function showLooks(/** @type {HTMLElement} */ place, /** @type {Answer} */ review) {
  const eventOf = (/** @type {number} */ seq) => ask(query(paths.events(review.session), { after: seq - 1, limit: 1 })).then(({ events: [one] }) => one).catch(() => null);
  const own = await Promise.all(review.evidence.slice(0, LOOKS).map(eventOf));
  const below = own.filter((one) => one && !isSighting(one)).flatMap((one) => one.evidence ?? []);
  const events = [...own, ...await Promise.all([...new Set(below)].filter((seq) => !review.evidence.includes(seq)).slice(0, LOOKS).map(eventOf))];
  const seen = events.filter(isSighting).slice(0, LOOKS);
  const has = seen.length > 0 && (await maybe(`${paths.session(review.session)}/footage`))?.cameras.length;
  put(place, has ? seen.map((one) => look(review, one)) : h("li", { class: "quiet" }, "There is no picture of it."));
}

const look = (/** @type {Answer} */ review, /** @type {TableEvent} */ sighting) =>
  h("li", {}, h("a", { href: `#/round/${encodeURIComponent(review.session)}/${review.round}/${sighting.seq}`, title: "See this moment of the round" },
    h("img", {
      src: cropPath(review.session, sighting.seq, { whole: true }), alt: "The card in question, marked, as the camera saw it",
      onerror: (/** @type {Answer} */ { target }) => { if (target.hasAttribute("src")) target.closest("li").remove(); },
    }), h("span", { class: "quiet" }, `Camera ${sighting.source.split(":")[1] ?? ""}, ${fine(sighting.at)}`)));
