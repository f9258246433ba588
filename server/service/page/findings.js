// Mistakes, items and money as they are shown wherever a round is.

import { ask, seenAt } from "./api.js";
import { h, put } from "./dom.js";
import { cardMark } from "./felt.js";
import { readSentences, sentence, sentences } from "./sentences.js";
import { burnedText, capitalised, dealerText, fine, inWords, money, place, signed, spoken, tone } from "./words.js";

/** @type {Promise<Record<string, string>> | null} */
let wordings = null;

/** The text of each clause: { id: text }. Asked for once, with the sentences of mistakes. */
export async function clauses() {
  wordings ??= Promise.all([ask("/api/clauses"), ask("/api/sentences")]).then(([list, sentences]) => {
    readSentences(sentences);
    return Object.fromEntries(list.map((/** @type {Answer} */ one) => [one.id, one.says]));
  });
  return wordings;
}

export const clauseText = (/** @type {Clauses} */ texts, /** @type {string} */ id, /** @type {Child[]} */ ...quotes) =>
  h("blockquote", {}, h("span", { class: "mono" }, id), " ", texts[id] ?? "", quotes);

const KEPT = 100;
const citations = new Map();

/** What a mistake of a round rests on, in the house's words. Kept, as a page is drawn often. */
function citationOf(/** @type {Answer} */ { session, round }, /** @type {Answer} */ one) {
  const key = [session, round, one.seq, one.code, one.spot, one.hand].join("/");
  if (!citations.has(key)) {
    citations.set(
      key,
      ask(`/api/sessions/${encodeURIComponent(session)}/rounds/${round}/verdicts`)
        .then(
          (list) =>
            list.find(
              (/** @type {Answer} */ it) =>
                it.seq === one.seq && it.code === one.code && it.spot === one.spot && it.hand === one.hand,
            ) ?? null,
        )
        .catch(() => {
          citations.delete(key);
          return null;
        }),
    );
    if (citations.size > KEPT) citations.delete(citations.keys().next().value);
  }
  return citations.get(key);
}

/** Ask for what a round's mistakes rest on, so that their notes are whole as they are drawn. */
export const readCitations = (/** @type {Answer} */ row) =>
  Promise.all((row.result?.violations ?? []).map((/** @type {Answer} */ one) => citationOf(row, one)));

const passage = (/** @type {Answer} */ { says, origin }) =>
  h("p", { class: "cited" }, says, " ", h("cite", {}, origin));

const quoted = (/** @type {Answer} */ { breaks, due, settled_by: after }) => [
  breaks.passages.map(passage),
  due.map((/** @type {Answer} */ one) => [
    h("p", {}, "Due by ", h("span", { class: "mono" }, one.clause), " ", one.says),
    one.passages.map(passage),
  ]),
  after && [h("p", {}, "How it is settled:"), passage(after)],
];

/** What an incident is about, in a line. */
export function incidentTitle(/** @type {Answer} */ row) {
  const about = [...row.codes.map(spoken), ...row.questions.map(inWords)];
  if (about.length) return about.join(", ");
  return row.reviews + row.decided ? "Question to decide" : row.by_hand ? "Opened by hand" : "No incident";
}

/**
 * A mistake as a note. The round's item asks whether a suspected one happened. `go` is called with
 * the moment at which it can be seen, `of` is its `{ session, round }`: what it rests on is asked for there.
 */
export const mistake = (
  /** @type {Answer} */ one,
  /** @type {Clauses} */ texts,
  /** @type {((at: number) => unknown) | null} */ go,
  of = one,
) => {
  const [cameTo, quotes] = [h("p", { class: "strong", hidden: true }), h("div", {})];
  const name = one.suspected ? `Suspected mistake: ${spoken(one.code).toLowerCase()}` : spoken(one.code);
  const heading = h(
    "h3",
    {},
    name,
    one.spot ? h("span", { class: "quiet" }, ` ${place(one.spot, one.hand ?? 0)}`) : null,
  );
  citationOf(of, one).then((/** @type {Answer} */ found) => {
    if (!found) return;
    put(quotes, quoted(found));
    put(cameTo, sentences(found.came_to));
    cameTo.hidden = !found.came_to.length;
  });
  return note(one, texts, heading, [cameTo, quotes], go && toSee(of.session, one.seq, go));
};

/** A button that names the moment it goes to, once the service has told when the event can be seen. */
function toSee(/** @type {string} */ session, /** @type {number} */ seq, /** @type {(at: number) => unknown} */ go) {
  const place = h("div", {});
  seenAt(session, seq)
    .then(
      (at) =>
        at !== null &&
        put(place, h("button", { type: "button", class: "link", onclick: () => go(at) }, `See it at ${fine(at)}`)),
    )
    .catch(() => null);
  return place;
}

const note = (
  /** @type {Answer} */ one,
  /** @type {Clauses} */ texts,
  /** @type {Child} */ heading,
  /** @type {HTMLElement[]} */ [cameTo, quotes],
  /** @type {Child} */ see,
) =>
  h(
    "article",
    { class: `note ${one.suspected ? "doubt" : "bad"}` },
    heading,
    h("p", {}, sentence(one.detail)),
    cameTo,
    clauseText(texts, one.clause, quotes),
    see,
  );

export const item = (/** @type {Answer} */ review, /** @type {Child} */ extra = null) =>
  h(
    "article",
    { class: "note doubt" },
    h("h3", {}, "To decide"),
    h("p", {}, inWords(review.what)),
    review.candidates.length
      ? h("p", { class: "quiet" }, `It may be: ${inWords(review.candidates.join(", or "))}.`)
      : null,
    extra,
  );

/** Links to a report, as a page and on paper; `path` is of what it is about. */
export const reports = (/** @type {string} */ path, /** @type {string} */ name) =>
  [
    ["html", name],
    ["pdf", "PDF"],
  ].map(([form, text]) =>
    h(
      "a",
      { class: "button", href: `${path}/report.${form}`, target: "_blank", rel: "noopener" },
      text,
      form === "pdf" ? h("span", { class: "unseen" }, ` of the ${name.toLowerCase()}`) : null,
    ),
  );

export const cardRow = (/** @type {Card[]} */ cards) =>
  h(
    "span",
    { class: "pips" },
    cards.map((card) => {
      const { text, name } = cardMark(card);
      return h("span", { class: name }, text);
    }),
  );

/** A hand as small cards; those that it could not take follow apart. */
const handCards = (/** @type {Answer} */ { cards, burned }) => [
  cardRow(cards),
  burned.length ? [" ", cardRow(burned), h("span", { class: "why" }, burnedText(burned))] : null,
];

/** What is due and paid in a round, a row a wager, and what it came to. */
export function moneyTable(/** @type {Answer} */ { result, balance }, /** @type {Clauses} */ texts) {
  if (!balance) return h("p", { class: "quiet" }, "Nothing is settled yet.");
  const spots = new Map(result.spots.map((/** @type {Answer} */ one) => [one.spot, one]));
  return [
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Every wager, due and paid" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Spot", "Cards", "Outcome"].map((one) => h("th", { scope: "col" }, one)),
            ["Stake", "Due", "Paid", "Difference"].map((one) => h("th", { scope: "col", class: "num" }, one)),
          ),
        ),
        h(
          "tbody",
          {},
          dealerRow(result.dealer),
          balance.lines.map((/** @type {Answer} */ line) => moneyRow(line, spots.get(line.spot), texts)),
        ),
        h("tfoot", {}, sumRow("All spots", money(balance.stake), balance, 1), sumRow("House", "", balance, -1)),
      ),
    ),
    h("p", { class: "quiet" }, sentences(balance.says)),
  ];
}

const dealerRow = (/** @type {Answer} */ dealer) =>
  h(
    "tr",
    {},
    h("th", { scope: "row" }, "Dealer"),
    h("td", {}, handCards(dealer)),
    h("td", {}, capitalised(dealerText(dealer))),
    h("td", { colspan: 4 }),
  );

function moneyRow(/** @type {Answer} */ line, /** @type {Answer} */ spot, /** @type {Clauses} */ texts) {
  const hand = line.kind === "main" ? spot?.hands.find((/** @type {Answer} */ one) => one.hand === line.hand) : null;
  const why = (hand?.clauses ?? []).map((/** @type {string} */ id) => `${id}: ${texts[id] ?? ""}`).join("\n");
  const outcome = hand?.outcome ?? (line.kind === "main" ? "no wager" : line.kind);
  const name =
    line.kind === "main"
      ? `${line.spot}${line.hand || spot?.hands.length > 1 ? ` · hand ${line.hand + 1}` : ""}`
      : `${line.spot} ${line.kind}`;
  return h(
    "tr",
    { class: line.difference ? "wrong" : "" },
    h("th", { scope: "row" }, name),
    h("td", {}, hand && handCards(hand)),
    h("td", { title: why }, spoken(outcome), why && h("span", { class: "unseen" }, ` (${why})`)),
    h("td", { class: "num" }, money(line.stake)),
    amounts(line, 1),
  );
}

const sumRow = (
  /** @type {string} */ name,
  /** @type {string} */ stake,
  /** @type {Answer} */ balance,
  /** @type {number} */ sign,
) => h("tr", {}, h("th", { scope: "row", colspan: 3 }, name), h("td", { class: "num" }, stake), amounts(balance, sign));

/** Due, paid and their difference, of a wager or a sum; the house's have the other sign. */
function amounts(/** @type {Answer} */ { due, paid, difference }, /** @type {number} */ sign) {
  const of = (/** @type {number | null} */ amount) => (amount === null ? null : sign * amount || 0);
  return [
    h("td", { class: `num ${tone(of(due))}` }, signed(of(due))),
    h("td", { class: "num" }, paid === null ? "not seen" : signed(of(paid))),
    h("td", { class: `num ${difference ? "bad strong" : "quiet"}` }, difference === null ? "" : signed(of(difference))),
  ];
}
