// The accounts of a round that an item is between: what each settles to, and who speaks for it.

import { ask, paths, query } from "./api.js";
import { h, put } from "./dom.js";
import { countOf } from "./house.js";
import { inWords, place, signed, spoken } from "./words.js";

/** @type {Record<string, string>} */
const SENSES = { camera: "Camera", shoe: "Shoe", chips: "Chips", console: "Entries", play: "Usual play" };

/** The accounts that an item is between, with their figures, told once somebody asks for them. */
export function figures(/** @type {Answer} */ review) {
  const list = h("ol", { class: "accounts", "aria-label": "What may have happened" });
  const drawn = h(
    "details",
    {
      ontoggle: () => {
        if (drawn.open) showAccounts(list, review).catch(() => null);
      },
    },
    h("summary", {}, "The figures"),
    list,
  );
  return drawn;
}

async function showAccounts(/** @type {HTMLElement} */ at, /** @type {Answer} */ review) {
  const answer = await ask(query(paths.events(review.session), { after: review.seq - 1, limit: 1 }));
  const [raised] = /** @type {TableEvent[]} */ (answer.events);
  const accounts = raised?.accounts ?? [];
  put(
    at,
    accounts.length
      ? accounts.map(account)
      : h(
          "li",
          { class: "quiet" },
          `It rests on ${review.evidence.length ? `the journal's entries ${review.evidence.join(", ")}` : "no single entry"}.`,
        ),
  );
}

const account = (/** @type {Answer} */ one, /** @type {number} */ index) =>
  h(
    "li",
    {},
    h("b", {}, index ? likelihood(one.odds) : "As recorded"),
    h("p", {}, inWords(one.tells)),
    h(
      "ul",
      {},
      one.hands.map((/** @type {Answer} */ hand) =>
        h(
          "li",
          {},
          `${spoken(place(hand.spot, hand.hand))}: ${spoken(hand.outcome).toLowerCase()} `,
          h("span", { class: "num" }, signed(hand.net)),
        ),
      ),
    ),
    one.mistakes.length
      ? one.mistakes.map((/** @type {string} */ code) => h("p", { class: "bad" }, spoken(code)))
      : h("p", { class: "good" }, "No mistake"),
    h(
      "p",
      { class: "tags" },
      one.witnesses.map((/** @type {Answer} */ { sense, odds }) =>
        h(
          "em",
          { class: odds < 1 ? "doubt" : "good" },
          `${SENSES[sense] ?? spoken(sense)} ${odds < 1 ? "against" : "for"} it, ${ratio(odds)}`,
        ),
      ),
    ),
  );

/** `9.6 times likelier`: than the account that is stated. */
const likelihood = (/** @type {number} */ odds) =>
  odds === 1 ? "As likely" : `${times(odds)} times ${odds < 1 ? "less likely" : "likelier"}`;

const ratio = (/** @type {number} */ odds) => `${times(odds)} to 1`;

/** How many times, in two digits, which are all that the odds bear. */
const times = (/** @type {number} */ odds) => {
  const more = Number((odds < 1 ? 1 / odds : odds).toPrecision(2));
  return more < 10 ? String(more) : countOf(more);
};
