// The felt according to the facts. Pure: the same events give the same table, live or replayed.
//
// A table is { round, decks, lastRound, seats, spots, dealer, tracks, settled, reviews,
// seq, at }. A spot is { wager, insurance, side, hands, acted }; a hand is
// { stake, added, cards, acted }; a card is { card, face, across, seq }. `card` is null where it
// was not shown. Tracks are what cameras follow: { x, y, angle, face, card, source }.

/** A table of which nothing is known. */
export const newTable = () => ({
  round: null,
  decks: null,
  isLast: false,
  seats: {},
  spots: {},
  dealer: { cards: [], peeked: null },
  tracks: {},
  sighted: {},
  settled: null,
  reviews: [],
  closedAt: null,
  openedAt: null,
  seq: 0,
  at: null,
});

/** The table after one more event; the one before stays as it was. */
export const after = (/** @type {Table} */ table, /** @type {TableEvent} */ event) =>
  taken(structuredClone(table), event);

/** The table after `events`, which are in the order of `seq`. */
export const tableOf = (/** @type {TableEvent[]} */ events) => events.reduce(taken, newTable());

/** Judged or decided later: their content is about the table, their time is not. */
const AFTERWARDS = new Set(["review_resolved", "round_settled", "review_raised", "ledger_posted"]);

function taken(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  ACTS[event.type]?.(table, event);
  table.seq = Math.max(table.seq, event.seq ?? 0);
  if (!AFTERWARDS.has(event.type)) table.at = Math.max(table.at ?? 0, event.at ?? 0);
  return table;
}

const newHand = () => ({ stake: 0, added: 0, cards: [], acted: null });

function spotOf(/** @type {Table} */ table, /** @type {string | number} */ number) {
  table.spots[number] ??= { wager: 0, insurance: 0, side: 0, hands: [newHand()] };
  return table.spots[number];
}

function handOf(/** @type {Table} */ table, /** @type {string | number} */ number, hand = 0) {
  const { hands } = spotOf(table, number);
  while (hands.length <= hand) hands.push(newHand());
  return hands[hand];
}

const cardsAt = (
  /** @type {Table} */ table,
  /** @type {string | number} */ to,
  /** @type {number | undefined} */ hand,
) => (to === "dealer" ? table.dealer.cards : handOf(table, to, hand).cards);

function open(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  Object.assign(table, {
    round: event.round,
    spots: {},
    dealer: { cards: [], peeked: null },
    settled: null,
    reviews: [],
    closedAt: null,
    openedAt: event.at,
  });
  const followed = Object.entries(table.sighted).filter(([, key]) => key in table.tracks);
  table.sighted = Object.fromEntries(followed);
}

function wager(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const sign = event.type === "wager_removed" ? -1 : 1;
  const amount = sign * event.amount;
  const spot = spotOf(table, event.spot);
  /** @type {string} */
  const kind = event.kind;
  if (kind === "insurance" || kind === "side") {
    spot[kind] += amount;
    return;
  }
  if (kind === "toke" || kind === "coupon") return;
  const hand = handOf(table, event.spot, event.hand);
  hand.stake += amount;
  if (event.kind === "main") spot.wager += amount;
  if (event.kind === "double") hand.added += amount;
}

function deal(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const cards = cardsAt(table, event.to, event.hand ?? 0);
  const isDoubled = event.to !== "dealer" && handOf(table, event.to, event.hand).added > 0;
  cards.push({
    card: event.card ?? null,
    face: event.face ?? "up",
    seq: event.seq,
    across: isDoubled && cards.length === 2,
  });
  name(table, event);
}

function expose(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const cards = cardsAt(table, event.to, event.hand ?? 0);
  const turned = cards.find((one) => one.face === "down") ?? cards.find((one) => one.card === null);
  if (turned) Object.assign(turned, { card: event.card ?? null, face: "up" });
  name(table, event);
}

/** Let a card lie where the floor moved it. */
function move(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const { from, to } = event;
  const left = from === "rack" ? [] : cardsAt(table, from.to, from.hand ?? 0);
  const at = left.map((one) => one.card).lastIndexOf(event.card ?? null);
  const found = at < 0 ? [] : left.splice(at, 1);
  const card = found[0] ?? { card: event.card ?? null, face: "up", seq: event.seq, across: false };
  if (to !== "rack") cardsAt(table, to.to, to.hand ?? 0).push(card);
}

/** Tell the cameras' tracks that a fact rests on which card they follow. */
function name(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  for (const seq of event.evidence ?? []) {
    const track = table.tracks[table.sighted[seq]];
    if (track) Object.assign(track, { card: event.card ?? null, to: event.to });
  }
}

function act(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const hand = handOf(table, event.spot, event.hand);
  hand.acted = event.action;
  if (event.action !== "split" || hand.cards.length < 2) return;
  const { hands } = spotOf(table, event.spot);
  const empty = hands.findIndex((one) => one.cards.length === 0);
  const target = empty >= 0 ? hands[empty] : hands[hands.push(newHand()) - 1];
  target.cards.push(/** @type {CardOnFelt} */ (hand.cards.pop()));
}

function sight(/** @type {Table} */ table, /** @type {TableEvent} */ event) {
  const key = `${event.source}/${event.track}`;
  const before = table.tracks[key];
  table.tracks[key] = {
    source: event.source,
    x: event.x_mm,
    y: event.y_mm,
    angle: event.angle_deg,
    face: event.face,
    card: before?.card ?? null,
    to: before?.to ?? null,
    isForeign: false,
  };
  table.sighted[event.seq] = key;
}

/** @type {Record<string, (table: Table, event: TableEvent) => void>} */
const ACTS = {
  shoe_started: (table, event) => Object.assign(table, { decks: event.decks, isLast: false }),
  cut_card_reached: (table) => {
    table.isLast = true;
  },
  player_seated: (table, event) => {
    for (const spot of event.spots) table.seats[spot] = event.player;
  },
  player_left: (table, event) => {
    for (const spot of event.spots) delete table.seats[spot];
  },
  round_opened: open,
  wager_placed: wager,
  wager_removed: wager,
  card_dealt: deal,
  card_exposed: expose,
  card_moved: move,
  hole_card_checked: (table, event) => {
    table.dealer.peeked = event.blackjack;
  },
  player_acted: act,
  round_closed: (table, event) => {
    table.closedAt = event.at;
  },
  round_settled: (table, event) => {
    if (event.result.round === table.round) table.settled = event.result;
  },
  review_raised: (table, event) => {
    if (event.round === table.round) table.reviews.push(event.review);
  },
  card_sighted: sight,
  foreign_card_sighted: (table, event) => {
    const track = table.tracks[`${event.source}/${event.track}`];
    if (track) track.isForeign = true;
  },
  card_gone: (table, event) => {
    delete table.tracks[`${event.source}/${event.track}`];
  },
};

const pips = (/** @type {string} */ [rank]) => (rank === "A" ? 1 : "TJQK".includes(rank) ? 10 : Number(rank));

/** A hand's points: { total, soft }, or null where a card of it is not known. */
export function points(/** @type {CardOnFelt[]} */ cards) {
  if (cards.length === 0 || cards.some((one) => one.card === null || one.face === "down")) return null;
  const values = cards.map(({ card }) => pips(/** @type {string} */ (card)));
  const low = values.reduce((sum, value) => sum + value, 0);
  const soft = values.includes(1) && low <= 11;
  return { total: soft ? low + 10 : low, soft };
}

/**
 * The cards of a hand as its verdict counts them: { cards, counted, burned }, those burned last.
 * Once settled the verdict says what the hand is: people may have decided on a card since it was dealt.
 */
export function judged(
  /** @type {CardOnFelt[]} */ lying,
  /** @type {Answer} */ verdict,
  /** @type {boolean} */ isSettled,
) {
  if (!verdict) return { cards: lying, counted: lying, burned: [] };
  const whole = [...verdict.cards, ...verdict.burned];
  const isOther = lying.length !== whole.length || lying.some((one, at) => one.face === "up" && one.card !== whole[at]);
  const isTold = isSettled && isOther && verdict.cards.some((/** @type {Card} */ card) => card !== null);
  const cards = isTold ? whole.map((card) => ({ card, face: "up", across: false })) : lying;
  const counts = verdict.cards.length;
  return {
    cards: cards.map((one, at) => ({ ...one, isBurned: at >= counts })),
    counted: cards.slice(0, counts),
    burned: verdict.burned.slice(0, Math.max(0, cards.length - counts)),
  };
}

/** @type {Record<string, string>} */
const PHASES = {
  waiting: "No wagers yet",
  wagers: "Wagers open",
  deal: "In play: the deal",
  players: "In play: the players",
  dealer: "Dealer plays",
  settling: "Paying",
  taken_up: "Cards taken up",
};

/** Where a round stands, in words; `phase` as the service names it. */
export function standing(/** @type {Table} */ table, /** @type {string} */ phase) {
  if (table.round === null) return "No round yet";
  if (table.reviews.length && !isFinal(table)) return "Waiting for a decision";
  return table.settled ? "Settled" : PHASES[phase];
}

/** The last phase that began with event `seq` or before it; `begun` as the service lists a round's. */
export const phaseAt = (/** @type {{ seq: number, phase: string }[]} */ begun, /** @type {number} */ seq) =>
  begun.findLast((one) => one.seq <= seq)?.phase ?? "waiting";

const isFinal = (/** @type {Table} */ table) => table.settled?.status === "final";
