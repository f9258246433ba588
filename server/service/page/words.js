// How amounts, times, cards and codes are written. Amounts are minor units of the table's currency,
// times nanoseconds (UTC), written in the house's zone and locale.

import { faultText, plain } from "./faults.js";
import { amountOf, clockOf, countOf, currencyOf, dayOf, isForeign, offsetOf } from "./house.js";

/** @type {Record<string, string>} */
const RANKS = { T: "10" };
/** @type {Record<string, string>} */
const SUITS = { S: "♠", H: "♥", D: "♦", C: "♣", "?": "" };
/** @type {Record<string, string>} */
const SUIT_NAMES = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
/** @type {Record<string, string>} */
const RANK_NAMES = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };

/** @type {string | null} */
let tableShown = null;

/** Say of which table the amounts of the page are, where it shows one alone. */
export const amountsOf = (/** @type {string | null} */ table) => {
  tableShown = table;
};

/** `1,234.50`; of a table that deals in another currency than the house `1,235 JPY`. */
export function money(/** @type {number} */ minor, table = tableShown) {
  const currency = currencyOf(table);
  return amountOf(minor, currency) + (isForeign(table) ? `\u00a0${currency.code}` : "");
}

/** `15` for 1500 and `7.50` for 750: where there is little room. */
export function brief(/** @type {number} */ minor, table = tableShown) {
  const currency = currencyOf(table);
  const unit = 10 ** currency.decimals;
  return minor % unit
    ? amountOf(minor, currency)
    : amountOf(minor / unit, { code: `${currency.code} whole`, decimals: 0 });
}

const plus = (/** @type {number | null | undefined} */ minor, /** @type {(minor: number) => string} */ text) =>
  minor === null || minor === undefined ? "open" : (minor > 0 ? "+" : "") + text(minor);

export const signed = (/** @type {number | null | undefined} */ minor, table = tableShown) =>
  plus(minor, (one) => money(one, table));
export const signedBrief = (/** @type {number | null | undefined} */ minor, table = tableShown) =>
  plus(minor, (one) => brief(one, table));

export const tone = (/** @type {number | null} */ cents) =>
  cents === null || cents === undefined ? "doubt" : cents > 0 ? "good" : cents < 0 ? "bad" : "even";

export const rank = (/** @type {string} */ card) => RANKS[card[0]] ?? card[0];
export const suit = (/** @type {string} */ card) => SUITS[card[1]];
export const isRed = (/** @type {Card} */ card) => card !== null && "HD".includes(card[1]);
export const cardText = (/** @type {Card} */ card) => (card === null ? "?" : rank(card) + suit(card));

/** Write the cards that a sentence of the journal names, `2H`, as everywhere else: `2♥`. */
export const withPips = (/** @type {string} */ text) => text.replace(/\b[2-9TJQKA][SHDC]\b/g, cardText);

/** Write the cards that a hand could not take; nothing for none. */
export const burnedText = (/** @type {Card[]} */ burned) =>
  burned.length ? `${burned.map(cardText).join(" ")} burned, not counted` : "";

/** Write the total of the dealer's counted cards and how the hand ended: `soft 17 stand`. */
export function dealerText(/** @type {Answer} */ { total, soft, outcome }) {
  const ended = plain(outcome);
  return total === null || outcome === "blackjack" ? ended : `${soft && total < 21 ? "soft " : ""}${total} ${ended}`;
}

/** Write a sentence of the journal as everywhere else: its cards, and its amounts in the house's format. */
export const inWords = (/** @type {string} */ text) =>
  withPips(text).replace(/-?\b\d{1,3}(?:,\d{3})*\.\d\d\b(?!\d|\s?(?:s|ms|mm|px|%)\b)/g, (amount) =>
    money(Number(amount.replace(/[,.]/g, ""))),
  );

export function cardName(/** @type {Card} */ card) {
  if (card === null) return "a card not shown";
  const name = RANK_NAMES[card[0]] ?? card[0];
  return card[1] in SUIT_NAMES ? `${name} of ${SUIT_NAMES[card[1]]}` : name;
}

/** Begin a sentence with a capital letter. */
export const capitalised = (/** @type {string} */ text) => text[0].toUpperCase() + text.slice(1);

/** Write a code of the journal as words: `dealer_hit_hard_17`. */
export const spoken = (/** @type {string} */ code) => capitalised(plain(code));

const date = (/** @type {number} */ at) => new Date(at / 1e6);

/** Write a moment; 0 stands for one of which no entry states the time. */
const at = (/** @type {(moment: Date) => string} */ write) => (/** @type {number} */ moment) =>
  moment ? write(date(moment)) : "no time";

export const day = at(dayOf);

export const clock = at(clockOf);

/** How far the house's clocks are from UTC at a moment: `UTC+02:00`. */
export const offset = at(offsetOf);

export const fine = at((moment) => `${clockOf(moment)}.${String(moment.getMilliseconds()).padStart(3, "0")}`);

export const moment = (/** @type {number} */ at) =>
  at === null ? "never" : !at ? "no time" : `${day(at)}, ${clock(at)} ${offset(at)}`;

/** Seconds as `0:07.3`. */
export function span(/** @type {number} */ seconds) {
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - minutes * 60).toFixed(1).padStart(4, "0")}`;
}

/** How long ago something was, in two or three letters. */
export function ago(/** @type {number} */ at, /** @type {number} */ now) {
  if (at === null) return "never";
  const seconds = Math.max(0, (now - at) / 1e9);
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h ago`;
  return day(at);
}

/** A moment, and how long ago it was as long as that is not its date once more. */
export function momentAndAge(/** @type {number} */ at, /** @type {number} */ now) {
  const since = ago(at, now);
  return at === null || since === day(at) ? moment(at) : `${moment(at)} (${since})`;
}

/** Up to which entry a table's signature proves a record on the floor that ends with `last`. */
export function provenText(/** @type {number} */ proven, /** @type {number} */ last) {
  if (proven >= last) return `proven up to entry ${countOf(proven)}`;
  const left = `${counted(last - proven, "entry", "entries")} not yet signed`;
  return proven ? `proven up to entry ${countOf(proven)}; ${left}` : `nothing proven; ${left}`;
}

export const counted = (/** @type {number} */ number, /** @type {string} */ one, many = `${one}s`) =>
  `${countOf(number)} ${number === 1 ? one : many}`;

export const place = (/** @type {string | number} */ to, hand = 0) =>
  to === "dealer" ? "dealer" : `spot ${to}${hand ? `, hand ${hand + 1}` : ""}`;

const placeOrRack = (/** @type {any} */ one) => (one === "rack" ? "the rack" : place(one.to, one.hand));

/** Which wager, where it is not the player's own main one: ` (side, pairs, ANN)`. */
function ofWager(/** @type {TableEvent} */ e) {
  const words = [(e.kind ?? "main") === "main" ? null : e.kind, e.bet, e.bettor].filter(Boolean);
  return words.length ? ` (${words.join(", ")})` : "";
}

const ofRuling = (/** @type {TableEvent} */ e) => (e.reason ? `: ${e.reason}` : "");

/** A device's name for people: `camera:overhead` is the camera overhead. */
export const deviceName = (/** @type {string} */ source) => source.replace(":", " ");

/** @type {Record<string, string>} */
const CIRCLES = { 0: "", I: ", insurance", S: ", side wager" };

const faultOf = (/** @type {TableEvent} */ e) =>
  `${deviceName(e.source)}: ${faultText(e.kind)}${e.count > 1 ? ` (${countOf(e.count)})` : ""}`;

/** @type {Record<string, (e: TableEvent) => string>} */
const SENTENCES = {
  shoe_started: (e) => `Fresh shoe, ${counted(e.decks, "deck")}`,
  card_burned: (e) => `Burned ${e.card ? cardText(e.card) : "a card"}`,
  card_boxed: (e) => `Boxed card ${e.card ? cardText(e.card) : ""}`,
  cut_card_reached: () => "Cut card: last round of this shoe",
  player_seated: (e) => `${e.player} takes ${e.spots.map((/** @type {number} */ one) => `spot ${one}`).join(", ")}`,
  player_left: (e) => `${e.player} leaves ${e.spots.map((/** @type {number} */ one) => `spot ${one}`).join(", ")}`,
  round_opened: (e) => `Round ${e.round} opens`,
  wager_placed: (e) => `${place(e.spot, e.hand)} wagers ${money(e.amount)}${ofWager(e)}`,
  wager_removed: (e) =>
    e.by === "floor"
      ? `Floor takes ${money(e.amount)} off ${place(e.spot, e.hand)}${ofWager(e)}`
      : `${place(e.spot, e.hand)} takes back ${money(e.amount)}${ofWager(e)}`,
  card_dealt: (e) => `${e.face === "down" ? "Face down" : cardText(e.card ?? null)} to ${place(e.to, e.hand)}`,
  card_exposed: (e) => `${place(e.to, e.hand)} shows ${cardText(e.card)}`,
  hole_card_checked: (e) => `Dealer peeks: ${e.blackjack ? "blackjack" : "no blackjack"}`,
  player_acted: (e) => `${place(e.spot, e.hand)}: ${plain(e.action)}${e.manner ? ` (${e.manner})` : ""}`,
  cards_touched: (e) => `${place(e.spot)} touches cards with ${plain(e.manner)}`,
  payment_made: (e) =>
    `${place(e.spot, e.hand)} ${e.amount < 0 ? "pays" : "is paid"} ${money(Math.abs(e.amount))}${ofWager(e)}`,
  hand_called_off: (e) => `Floor calls off ${place(e.spot, e.hand ?? 0)}${ofRuling(e)}`,
  round_called_off: (e) => `Floor calls the round off${ofRuling(e)}`,
  card_moved: (e) =>
    `Floor moves ${cardText(e.card)} from ${placeOrRack(e.from)} to ${placeOrRack(e.to)}${ofRuling(e)}`,
  discards_reshuffled: () => "Discards shuffled and dealt on",
  tray_changed: (e) =>
    `Tray ${signed(e.amount)}: ${plain(e.reason)}${e.player ? `, ${e.player}` : ""}${e.slip ? `, slip ${e.slip}` : ""}`,
  tray_counted: (e) => `Tray counted: ${money(e.amount)}`,
  round_closed: () => "Cards taken up",
  round_settled: (e) => `Round ${e.result.round} settled: house ${signed(e.result.net)}`,
  review_raised: (e) => `To decide: ${inWords(e.review.what)}`,
  review_resolved: (e) =>
    `${deviceName(e.source)} decides item ${e.item + 1} of round ${e.round}: ${e.says ? inWords(e.says) : e.choice ? cardText(e.choice) : e.decision}`,
  rules_stated: (e) => `Rules in force: ${e.rulebook}`,
  program_stated: (e) => `Program: Pitwatch ${e.version}, hash ${e.program_hash.slice(0, 12)}`,
  ledger_posted: (e) => `${e.account} ${signed(e.amount)}: ${e.memo}`,
  shoe_card_read: (e) => (e.card ? `Shoe reads ${cardText(e.card)}` : "Shoe reads a card"),
  shoe_cut_card: () => "Shoe reads the cut card",
  shoe_loaded: () => "Fresh shoe loaded",
  reader_fault: (e) => faultOf(e),
  device_returned: (e) => `${deviceName(e.source)} is connected again`,
  card_sighted: (e) => `Camera sees a card ${e.change === "new" ? "come to rest" : e.change}, face ${e.face}`,
  foreign_card_sighted: () => "Camera sees a card from no deck in use",
  card_gone: () => "Camera sees a card taken up",
  camera_fault: (e) => faultOf(e),
  camera_recovered: (e) => `${deviceName(e.source)} has recovered (${faultText(e.kind)})`,
  plate_read: (e) =>
    `Plate at spot ${e.spot}${CIRCLES[e.circle] ?? `, hand ${Number(e.circle) + 1}`}: ${money(e.amount)}`,
  console_entry: (e) => `${deviceName(e.source)} enters${e.fact ? `: ${sentenceOf(e.fact)}` : ""}`,
  clock_anchored: (e) => `${deviceName(e.source)} has its clock set`,
  clock_synchronisation: (e) => `Host's clock: ${e.state}`,
  clock_checked: (e) => `${deviceName(e.source)} found the host's clock right`,
  clock_compared: () => "Host's clock differs from the table's",
};

/** Describe an event in a line. */
export const sentenceOf = (/** @type {TableEvent} */ event) =>
  capitalised((SENTENCES[event.type] ?? ((e) => spoken(e.type)))(event));

/** @type {Record<string, string>} */
const KINDS = {
  round_opened: "mark",
  round_closed: "mark",
  round_settled: "judgement",
  ledger_posted: "ledger",
  review_raised: "doubt",
  reader_fault: "fault",
  camera_fault: "fault",
  foreign_card_sighted: "fault",
  shoe_started: "mark",
  cut_card_reached: "mark",
  rules_stated: "mark",
  program_stated: "mark",
  review_resolved: "judgement",
  card_dealt: "card",
  card_exposed: "card",
  card_burned: "card",
  card_boxed: "card",
  hole_card_checked: "card",
  wager_placed: "money",
  wager_removed: "money",
  payment_made: "money",
  tray_counted: "money",
  tray_changed: "money",
  hand_called_off: "mark",
  round_called_off: "mark",
  card_moved: "card",
  discards_reshuffled: "mark",
  player_acted: "act",
  cards_touched: "act",
  player_seated: "act",
  player_left: "act",
};

/** What sort of event it is; `sensed` is what one sensor reported. */
export const kind = (/** @type {TableEvent} */ event) => KINDS[event.type] ?? "sensed";
