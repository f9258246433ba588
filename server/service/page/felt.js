// The felt as a drawing: the layout in millimetres, and on it the table according to the facts.
// Cards lie side by side and upright, larger than life, so that they are read at a glance.

import { s } from "./dom.js";
import { brief, burnedText, cardName, isRed, place, rank, signedBrief, suit, tone } from "./words.js";
import { judged, points, standing } from "./table_state.js";

const CARD = { width: 112, height: 156, step: 64 };
/** So wide is a ten's index: it stays within what shows of its card, and apart from the one before. */
const TEN_WIDTH = 46;
/** @type {Record<string, string>} */
const SUITS = {
  S: "M0-9C4-4 9-1 9 4 9 8 4 9 1.3 6L3 10H-3L-1.3 6C-4 9-9 8-9 4-9-1-4-4 0-9Z",
  H: "M0 9C-5 4-9 1-9-4-9-8-3-10 0-5 3-10 9-8 9-4 9 1 5 4 0 9Z",
  D: "M0-10 7.5 0 0 10-7.5 0Z",
  C: "M0-9A4.6 4.6 0 0 1 3.6-1.5 4.6 4.6 0 1 1 1.3 5.2L3 10H-3L-1.3 5.2A4.6 4.6 0 1 1-3.6-1.5 4.6 4.6 0 0 1 0-9Z",
};
const LETTER = 0.56;
const WIDEST = 480;
const NARROWEST = 180;

const middle = (/** @type {Point[]} */ polygon) => ({
  x: polygon.reduce((sum, /** @type {Point} */ [x]) => sum + x, 0) / polygon.length,
  y: polygon.reduce((sum, /** @type {Point} */ [, y]) => sum + y, 0) / polygon.length,
});

/**
 * Draw a table (see table_state.js) in its `phase` on `layout` (millimetres, as the table's file has
 * it). `verdict` is the round's result where it is known: which cards are burned.
 */
export function drawFelt(
  /** @type {Table} */ table,
  /** @type {string} */ phase,
  /** @type {Layout} */ layout,
  verdict = table.settled,
) {
  const half = layout.width_mm / 2;
  const title = `Felt of round ${table.round ?? "none"}: ${standing(table, phase)}. ${spokenFelt(table, verdict) || "No card lies on it"}`;
  return s(
    "svg",
    {
      class: "felt",
      viewBox: `${-half - 14} -14 ${2 * half + 28} ${layout.depth_mm + 30}`,
      role: "img",
      "aria-label": title,
    },
    cloth(half, layout.depth_mm),
    s("polyline", { class: "print", points: layout.insurance_line.map((one) => one.join()).join(" ") }),
    box(layout.tray, "tray"),
    box(layout.discard_rack, "rack"),
    dealer(table, layout, verdict),
    layout.spots.map((spot) => drawSpot(table, spot, layout, verdict)),
  );
}

/** The felt once the cards were taken up: what each spot won or lost is all that is left to show. */
export const cleared = (/** @type {Table} */ table) => ({ ...table, spots: {}, dealer: { cards: [], peeked: null } });

/** Say the felt in words, for those who do not see it. */
export function spokenFelt(/** @type {Table} */ table, verdict = table.settled) {
  const hands = Object.entries(table.spots).flatMap(([spot, { hands: own }]) =>
    own
      .map((hand, index) => ({ hand, index, ...handOf(table, verdict, Number(spot), index) }))
      .filter((one) => one.cards.length)
      .map(({ hand, index, ...one }) => `${place(spot, index)}: ${spokenCards(one)}, stake ${brief(hand.stake)}`),
  );
  const dealt = dealerHand(table, verdict);
  return [...(dealt.cards.length ? [`dealer: ${spokenCards(dealt)}`] : []), ...hands].join("; ");
}

/** @typedef {ReturnType<typeof judged>} Judged */

const dealerHand = (/** @type {Table} */ table, /** @type {Answer} */ verdict) =>
  judged(table.dealer.cards, verdict?.dealer, table.settled !== null);

const ofSpot = (/** @type {Answer} */ verdict, /** @type {number} */ spot) =>
  verdict?.spots.find((/** @type {Answer} */ one) => one.spot === spot);

const handOf = (
  /** @type {Table} */ table,
  /** @type {Answer} */ verdict,
  /** @type {number} */ spot,
  /** @type {number} */ index,
) =>
  judged(
    table.spots[spot].hands[index].cards,
    ofSpot(verdict, spot)?.hands.find((/** @type {Answer} */ one) => one.hand === index),
    table.settled !== null,
  );

const spokenCards = (/** @type {Judged} */ { counted, burned }) =>
  [
    ...counted.map((one) => (one.face === "down" ? "a card face down" : cardName(one.card))),
    ...burned.map((/** @type {Card} */ card) => `${cardName(card)} burned`),
  ].join(", ");

function cloth(/** @type {number} */ half, /** @type {number} */ depth) {
  const shoulder = depth * 0.28;
  const drop = depth - shoulder;
  return s("path", {
    class: "cloth",
    d: `M${-half} 0H${half}V${shoulder}A${half} ${drop} 0 0 1 ${-half} ${shoulder}Z`,
  });
}

const box = (/** @type {Point[]} */ corners, /** @type {string} */ name) =>
  s("polygon", { class: name, points: corners.map((one) => one.join()).join(" ") });

function dealer(/** @type {Table} */ table, /** @type {Layout} */ layout, /** @type {Answer} */ verdict) {
  const hand = dealerHand(table, verdict);
  const at = middle(layout.dealer_cards);
  if (!hand.cards.length) return s("text", { class: "whose", x: at.x, y: at.y + 12 }, "DEALER");
  const text = table.settled?.dealer.outcome === "blackjack" ? "blackjack" : total(hand.counted);
  return s(
    "g",
    {},
    row(hand.cards, at.x, at.y - 4, 1.05),
    pill(withBurned(text, hand.burned), at.x, at.y + 116, "plain"),
  );
}

const withBurned = (/** @type {string} */ text, /** @type {Card[]} */ burned) =>
  [text, burnedText(burned)].filter(Boolean).join("; ");

function total(/** @type {CardOnFelt[]} */ cards) {
  const found = points(cards);
  if (found === null) return cards.some((one) => one.face === "down") ? shownTotal(cards) : "?";
  if (found.total > 21) return `${found.total} bust`;
  return `${found.soft && found.total < 21 ? "soft " : ""}${found.total}`;
}

const shownTotal = (/** @type {CardOnFelt[]} */ cards) => {
  const found = points(cards.filter((one) => one.face === "up"));
  return found === null ? "?" : `shows ${found.soft ? "A" : found.total}`;
};

function drawSpot(
  /** @type {Table} */ table,
  /** @type {LayoutSpot} */ spot,
  /** @type {Layout} */ layout,
  /** @type {Answer} */ verdict,
) {
  const state = table.spots[spot.spot];
  const seat = table.seats[spot.spot];
  const { x_mm: x, y_mm: y, radius_mm: radius } = spot.circle;
  const result = ofSpot(table.settled, spot.spot);
  const state_class = result ? tone(result.net) : state ? "live" : "empty";
  return s(
    "g",
    { class: "place", "data-spot": spot.spot },
    s("circle", { class: `bet ${state_class}`, cx: x, cy: y, r: radius * 1.32 }),
    state?.wager ? chips(state, result, x, y) : s("text", { class: "spot", x, y: y + 20 }, spot.spot),
    state?.wager && s("text", { class: "seat", x, y: y + 36 }, seat ? `${spot.spot} · ${seat}` : `spot ${spot.spot}`),
    state && insurance(state, spot, layout),
    state && hands(table, verdict, spot, room(spot, layout)),
    result && net(result, x, y, radius),
  );
}

const chips = (
  /** @type {Spot} */ state,
  /** @type {Answer} */ result,
  /** @type {number} */ x,
  /** @type {number} */ y,
) => {
  const stake =
    (result ?? state).hands.reduce((/** @type {number} */ sum, /** @type {Answer} */ hand) => sum + hand.stake, 0) ||
    state.wager;
  return s("text", { class: "stake", x, y: y + 4 }, brief(stake));
};

const net = (
  /** @type {Answer} */ result,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {number} */ radius,
) => pill(signedBrief(result.net), x, y + radius * 1.32 + 6, tone(result.net), 44);

function insurance(/** @type {Spot} */ state, /** @type {LayoutSpot} */ spot, /** @type {Layout} */ layout) {
  if (!state.insurance) return null;
  const { x_mm: x, y_mm: y } = spot.circle;
  const [nx, ny] = layout.insurance_line.reduce((near, one) =>
    Math.hypot(one[0] - x, one[1] - y) < Math.hypot(near[0] - x, near[1] - y) ? one : near,
  );
  return s(
    "g",
    {},
    s("circle", { class: "insurance", cx: nx, cy: ny, r: 44 }),
    s("text", { class: "insured", x: nx, y: ny + 11 }, brief(state.insurance)),
  );
}

/** How wide a spot's hands may lie without covering its neighbours'. */
function room(/** @type {LayoutSpot} */ spot, /** @type {Layout} */ layout) {
  const { x, y } = middle(spot.cards);
  const away = layout.spots
    .filter((one) => one.spot !== spot.spot)
    .map((one) => middle(one.cards))
    .map((one) => Math.hypot(one.x - x, one.y - y));
  return Math.max(NARROWEST, Math.min(WIDEST, ...away));
}

function hands(
  /** @type {Table} */ table,
  /** @type {Answer} */ verdict,
  /** @type {LayoutSpot} */ spot,
  /** @type {number} */ widest,
) {
  const dealt = table.spots[spot.spot].hands
    .map((hand, index) => ({ hand, index, ...handOf(table, verdict, spot.spot, index) }))
    .filter((one) => one.cards.length);
  const at = middle(spot.cards);
  const wide = dealt.map(({ cards }) => CARD.width + CARD.step * (cards.length - 1));
  const gap = 34;
  const whole = wide.reduce((sum, one) => sum + one, 0) + gap * (dealt.length - 1);
  const scale = Math.min(1, widest / whole);
  let left = at.x - (whole * scale) / 2;
  return dealt.map(({ hand, index, ...own }, order) => {
    const x = left + (wide[order] * scale) / 2;
    left += (wide[order] + gap) * scale;
    const settled = ofSpot(table.settled, spot.spot)?.hands.find((/** @type {Answer} */ one) => one.hand === index);
    const text = withBurned(label(hand, settled, own.counted), own.burned);
    return s(
      "g",
      {},
      row(own.cards, x, at.y - 16, scale),
      pill(text, x, at.y + 82 * scale + 14, outcomeTone(settled), Math.min(34, pillSize(text, widest))),
    );
  });
}

/** Chips of a double count only as far as the verdict lets it stand. */
function label(/** @type {Hand} */ hand, /** @type {Answer} */ settled, /** @type {CardOnFelt[]} */ counted) {
  const text = ["blackjack", "surrender"].includes(settled?.outcome) ? settled.outcome : total(counted);
  const isDoubled = settled ? hand.added > 0 && settled.stake > hand.stake - hand.added : hand.added > 0;
  return isDoubled ? `${text} · double` : text;
}

const outcomeTone = (/** @type {Answer} */ settled) =>
  !settled ? "plain" : settled.outcome === "pending" || settled.outcome === "unknown" ? "doubt" : tone(settled.net);

function row(
  /** @type {CardOnFelt[]} */ cards,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {number} */ scale,
) {
  const first = -(CARD.step * (cards.length - 1)) / 2;
  return s(
    "g",
    { transform: `translate(${x} ${y}) scale(${scale})` },
    cards.map((one, index) => drawCard(one, first + index * CARD.step)),
  );
}

function drawCard(/** @type {CardOnFelt} */ { card, face, across, isBurned }, /** @type {number} */ x) {
  const { width, height } = CARD;
  const body = s("rect", {
    class: face === "up" ? "face" : "back",
    x: -width / 2,
    y: -height / 2,
    width,
    height,
    rx: 9,
  });
  const turn = across ? " rotate(90)" : "";
  return s(
    "g",
    { class: isBurned ? "burned" : null, transform: `translate(${x} ${across ? 22 : 0})${turn}` },
    body,
    face === "up" ? front(card) : weave(width, height),
  );
}

/** A card lying face up, about the origin. */
export const cardFace = (/** @type {Card} */ card) => drawCard({ card, face: "up", across: false }, 0);

const weave = (/** @type {number} */ width, /** @type {number} */ height) =>
  s("rect", { class: "weave", x: 8 - width / 2, y: 8 - height / 2, width: width - 16, height: height - 16, rx: 5 });

function front(/** @type {Card} */ card) {
  if (card === null) return s("text", { class: "unread", y: 22 }, "?");
  const colour = isRed(card) ? "red" : "black";
  const isTen = rank(card).length > 1;
  const index = s(
    "text",
    {
      class: `index ${colour}`,
      x: -28,
      y: -29,
      textLength: isTen ? TEN_WIDTH : null,
      lengthAdjust: isTen ? "spacingAndGlyphs" : null,
    },
    rank(card),
  );
  if (!(card[1] in SUITS)) return index;
  return [
    index,
    s("path", { class: colour, transform: "translate(-28 2) scale(1.35)", d: SUITS[card[1]] }),
    s("path", { class: colour, transform: "translate(18 36) scale(2.9)", d: SUITS[card[1]] }),
  ];
}

/** The size at which a pill's text fits a width. */
const pillSize = (/** @type {string} */ text, /** @type {number} */ width) => width / (text.length * LETTER + 1);

function pill(
  /** @type {string} */ text,
  /** @type {number} */ x,
  /** @type {number} */ y,
  /** @type {string} */ name,
  size = 36,
) {
  if (!text) return null;
  const width = text.length * size * LETTER + size;
  return s(
    "g",
    { class: `pill ${name}`, transform: `translate(${x} ${y})` },
    s("rect", { x: -width / 2, y: -size * 0.75, width, height: size * 1.5, rx: size * 0.75 }),
    s("text", { y: size * 0.35, "font-size": size }, text),
  );
}

/** The text of a suit and rank for lists, with its colour as class. */
export const cardMark = (/** @type {Card} */ card) => ({
  text: card === null ? "?" : rank(card) + suit(card),
  name: card === null ? "pip unknown" : `pip ${isRed(card) ? "red" : ""}`,
});
