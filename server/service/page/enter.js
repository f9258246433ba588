// Entering at a running table what the floor rules, and what enters or leaves its tray: choose it, say why or how much, enter it.

import { paths, post } from "./api.js";
import { h, put } from "./dom.js";
import { currencyOf } from "./house.js";
import { capitalised, cardText, money, place } from "./words.js";

/** Changes of the tray: their name, and which way the chips go; 0 where either may be. @type {[string, string, number][]} */
const TRAY = [
  ["buy_in", "Buy-in", -1],
  ["cash_out", "Cash-out", 1],
  ["fill", "Fill", 1],
  ["credit", "Credit", -1],
  ["marker", "Marker", -1],
  ["colour_change", "Colour change", 0],
  ["other", "Other", 0],
];
/** @type {[string, string, number][]} */
const WAYS = TRAY.flatMap((one) =>
  one[2]
    ? [one]
    : [
        [one[0], `${one[1]}, chips into the tray`, 1],
        [one[0], `${one[1]}, chips out of the tray`, -1],
      ],
);
const RACK = "rack";

/**
 * The panel of a table: { drawn, look }; `look` takes in what lies on the felt. A list that is open stays as it is.
 */
export function entering(/** @type {string} */ name, /** @type {Person} */ me, /** @type {Notify} */ notify) {
  /** @type {Table | null} */
  let table = null;
  /** @type {Answer[]} */
  let offered = [];
  /** @type {Answer} */
  let chosen = null;
  const unit = 10 ** currencyOf(name).decimals;
  const what = h("select", { id: "enter-what" });
  const fields = h("div", { class: "fields" });
  const fault = h("p", { class: "bad", role: "alert" });
  const send = h("button", { type: "submit", class: "main", disabled: true }, "Choose what to enter");
  const offer = () => {
    offered = table === null ? [] : choices(table);
    const groups = [...new Set(offered.map((one) => one.group))];
    put(
      what,
      h("option", { value: "" }, "Choose…"),
      groups.map((group) =>
        h(
          "optgroup",
          { label: group },
          offered.map(
            (one, at) =>
              one.group === group && h("option", { value: String(at), selected: one.says === chosen?.says }, one.says),
          ),
        ),
      ),
    );
  };
  const choose = () => {
    chosen = offered[Number(what.value || "-1")] ?? null;
    fault.textContent = "";
    put(fields, chosen && (chosen.fact.type === "tray_changed" ? trayFields(unit) : rulingFields(chosen.fact, unit)));
    send.disabled = chosen === null;
    put(send, chosen ? `Enter as ${me.name}: ${chosen.says}` : "Choose what to enter");
    const first = /** @type {HTMLElement | null} */ (fields.querySelector("[data-first]"));
    first?.focus();
  };
  const enter = async (/** @type {Event} */ event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      const { seq, incident } = await post(`${paths.table(name)}/entries`, {
        fact: filled(chosen.fact, fields, unit),
        round: chosen.round,
      });
      notify(
        incident
          ? `Proposed: ${chosen.says}. A second person must approve it in the incident ${incident}.`
          : `Entered: ${chosen.says}. Journal entry ${seq}.`,
        "good",
      );
      chosen = null;
      offer();
      choose();
    } catch (refused) {
      fault.textContent = `${capitalised(refused.message)}.`;
      send.disabled = false;
    }
  };
  what.addEventListener("pointerdown", offer);
  what.addEventListener("focus", offer);
  what.addEventListener("change", choose);
  const drawn = h(
    "section",
    { class: "panel enter", "aria-label": "Enter" },
    h("h2", {}, "Rulings and tray"),
    h(
      "form",
      { onsubmit: enter },
      h("div", { class: "field" }, h("label", { for: "enter-what" }, "What happened"), what),
      fields,
      fault,
      send,
    ),
  );
  return {
    drawn,
    look(/** @type {Table} */ now) {
      table = now;
      if (!chosen && document.activeElement !== what) offer();
    },
  };
}

const text = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ more = {}) =>
  h(
    "div",
    { class: "field" },
    h("label", { for: `enter-${name}` }, label),
    h("input", { id: `enter-${name}`, name, autocomplete: "off", maxlength: 200, ...more }),
  );

const amountField = (/** @type {number} */ unit, /** @type {Record<string, any>} */ more = {}) =>
  text("amount", "Amount", {
    type: "number",
    min: 1 / unit,
    step: 1 / unit,
    required: true,
    inputmode: "decimal",
    ...more,
  });

/** A ruling needs a reason; of chips taken off, how many is set to what was put there last. */
const rulingFields = (/** @type {Answer} */ fact, /** @type {number} */ unit) => [
  fact.amount && amountField(unit, { value: fact.amount / unit }),
  text("reason", "Reason", { required: true, maxlength: 2000, "data-first": true }),
];

const trayFields = (/** @type {number} */ unit) => [
  amountField(unit, { "data-first": true }),
  text("spot", "Spot (if known)", { type: "number", min: 1, max: 99 }),
  text("player", "Player (if known)"),
  text("slip", "Slip (if there is one)"),
];

/** The fact with what was typed. */
function filled(/** @type {Answer} */ fact, /** @type {HTMLElement} */ fields, /** @type {number} */ unit) {
  const value = (/** @type {string} */ name) =>
    /** @type {HTMLInputElement | null} */ (fields.querySelector(`[name=${name}]`))?.value.trim() ?? "";
  const { way, ...own } = fact;
  const amount = value("amount") && Math.round(Number(value("amount")) * unit) * (way ?? 1);
  const optional = Object.entries({ spot: Number(value("spot")), player: value("player"), slip: value("slip") }).filter(
    ([, typed]) => typed,
  );
  return {
    ...own,
    ...(amount === "" ? {} : { amount }),
    ...(way ? {} : { reason: value("reason") }),
    ...Object.fromEntries(optional),
  };
}

/** What can be entered of the felt as it lies: { group, says, fact, round }. */
function choices(/** @type {Table} */ table) {
  const { round } = table;
  const tray = WAYS.map(([reason, says, way]) => ({
    group: "Tray",
    says,
    round: null,
    fact: { type: "tray_changed", reason, way },
  }));
  if (round === null) return tray;
  const hands = Object.entries(table.spots).flatMap(([spot, own]) =>
    own.hands.map((hand, number) => ({ spot: Number(spot), number, hand, own })),
  );
  const ruling = (/** @type {string} */ group, /** @type {string} */ says, /** @type {Answer} */ fact) => ({
    group,
    says,
    fact,
    round,
  });
  return [
    ruling("Round", `Call off round ${round}`, { type: "round_called_off" }),
    ...hands.map(({ spot, number, own }) =>
      ruling("Call off a hand", `Call off ${place(spot, number)}`, {
        type: "hand_called_off",
        spot,
        ...(own.hands.length > 1 ? { hand: number } : {}),
      }),
    ),
    ...moves(table, hands).map(([says, fact]) => ruling("Move a card", says, fact)),
    ...hands
      .filter(({ hand }) => hand.stake > 0)
      .map(({ spot, number, hand }) => chipsOff(spot, number, hand))
      .map(([says, fact]) => ruling("Take chips off", says, fact)),
    ruling("Shoe", "Discards shuffled and dealt on", { type: "discards_reshuffled" }),
    ...tray,
  ];
}

/** @returns {[string, Answer]} */
function chipsOff(/** @type {number} */ spot, /** @type {number} */ hand, /** @type {Hand} */ { stake, added }) {
  const kind = hand ? "split" : added ? "double" : "main";
  return [
    `Take chips off ${place(spot, hand)}, where ${money(stake)} lie`,
    { type: "wager_removed", spot, hand, kind, amount: added || stake },
  ];
}

/** Every card that is shown there to every other place, the one dealt last first. @returns {[string, Answer][]} */
function moves(/** @type {Table} */ table, /** @type {{ spot: number, number: number, hand: Hand }[]} */ hands) {
  const owners = [
    ...hands.map(({ spot, number, hand }) => ({
      to: /** @type {string | number} */ (spot),
      hand: number,
      cards: hand.cards,
    })),
    { to: "dealer", hand: 0, cards: table.dealer.cards },
  ];
  const cards = owners
    .flatMap((from) => from.cards.filter((card) => card.card !== null).map((card) => ({ from, card })))
    .sort((one, other) => (other.card.seq ?? 0) - (one.card.seq ?? 0));
  return cards.flatMap(({ from, card }) =>
    [...owners.filter((one) => one !== from), RACK].map((to) => {
      const at = (/** @type {any} */ one) => (one === RACK ? RACK : { to: one.to, hand: one.hand });
      const where = to === RACK ? "the rack" : place(/** @type {any} */ (to).to, /** @type {any} */ (to).hand);
      return /** @type {[string, Answer]} */ ([
        `${cardText(card.card)} of ${place(from.to, from.hand)} to ${where}`,
        { type: "card_moved", card: card.card, from: at(from), to: at(to) },
      ]);
    }),
  );
}
