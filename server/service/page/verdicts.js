// Mistakes, items and money as they are shown wherever a round is.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { cardMark } from "./felt.js";
import { readSentences, sentence } from "./sentences.js";
import { fine, place, signed, spoken, tone, money, withPips } from "./words.js";

/** @type {Promise<Record<string, string>> | null} */
let wordings = null;

/** What each clause says, in words: { id: says }. Asked for once, with the sentences of mistakes. */
export async function clauses() {
  wordings ??= Promise.all([ask("/api/clauses"), ask("/api/sentences")]).then(([list, sentences]) => {
    readSentences(sentences);
    return Object.fromEntries(list.map((one) => [one.id, one.says]));
  });
  return wordings;
}

export const clauseText = (says, id, ...quotes) =>
  h("blockquote", {}, h("span", { class: "mono" }, id), " ", says[id] ?? "", quotes);

const KEPT = 100;
const citations = new Map();

/** What a mistake of a round rests on, in the house's words. Kept, as a page is drawn often. */
function citationOf({ session, round }, one) {
  const key = [session, round, one.seq, one.code, one.spot, one.hand].join("/");
  if (!citations.has(key)) {
    citations.set(key, ask(`/api/sessions/${encodeURIComponent(session)}/rounds/${round}/verdicts`)
      .then((list) => list.find((it) => it.seq === one.seq && it.code === one.code && it.spot === one.spot && it.hand === one.hand) ?? null)
      .catch(() => { citations.delete(key); return null; }));
    if (citations.size > KEPT) citations.delete(citations.keys().next().value);
  }
  return citations.get(key);
}

const passage = ({ says, origin }) => h("p", { class: "cited" }, says, " ", h("cite", {}, origin));

const quoted = ({ breaks, due, settled_by: after }) => [
  breaks.passages.map(passage),
  due.map((one) => [h("p", {}, "Due by ", h("span", { class: "mono" }, one.clause), " ", one.says), one.passages.map(passage)]),
  after && [h("p", {}, "How it is settled:"), passage(after)],
];

/**
 * A mistake as a note; `go` is called to see its moment, `of` is its `{ session, round }`: what it
 * rests on is asked for there.
 */
export const mistake = (one, says, at, go, of = one.session ? one : null) => {
  const quotes = h("div", {});
  if (of) citationOf(of, one).then((found) => found && put(quotes, quoted(found)));
  return note(one, says, at, go, quotes);
};

const note = (one, says, at, go, quotes) =>
  h("article", { class: "note bad" },
    h("h3", {}, spoken(one.code), one.spot ? h("span", { class: "quiet" }, ` ${place(one.spot, one.hand ?? 0)}`) : null),
    h("p", {}, sentence(one.detail)),
    clauseText(says, one.clause, quotes),
    at && h("button", { type: "button", class: "link", onclick: go }, `See it at ${fine(at)}`));

export const item = (review, extra) =>
  h("article", { class: "note doubt" },
    h("h3", {}, "To decide"),
    h("p", {}, withPips(review.what)),
    review.candidates.length ? h("p", { class: "quiet" }, `It may be ${withPips(review.candidates.join(" or "))}.`) : null,
    extra);

/** Links to a report, as a page and on paper; `path` is of what it is about. */
export const reports = (path, name) =>
  [["html", name], ["pdf", "PDF"]].map(([form, text]) =>
    h("a", { class: "button", href: `${path}/report.${form}`, target: "_blank", rel: "noopener" }, text, form === "pdf" ? h("span", { class: "unseen" }, ` of the ${name.toLowerCase()}`) : null));

export const cardRow = (cards) => h("span", { class: "pips" }, cards.map((card) => {
  const { text, name } = cardMark(card);
  return h("span", { class: name }, text);
}));

/** What is due and paid, a row a wager; rows as `dues` of table_state.js gives them. */
export function moneyTable(rows, says) {
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing is settled yet.");
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Due and paid" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Spot", "Cards", "Outcome"].map((one) => h("th", { scope: "col" }, one)),
      ["Stake", "Due", "Paid"].map((one) => h("th", { scope: "col", class: "num" }, one)))),
    h("tbody", {}, rows.map((row) => moneyRow(row, says)))));
}

function moneyRow(row, says) {
  const isWrong = row.paid !== null && row.due !== null && row.paid !== row.due;
  const why = row.clauses.map((id) => `${id}: ${says[id] ?? ""}`).join("\n");
  return h("tr", { class: isWrong ? "wrong" : "" },
    h("th", { scope: "row" }, row.what === "insurance" ? `${row.spot} insurance` : `${row.spot}${row.isOneOfSeveral ? ` · hand ${row.hand + 1}` : ""}`),
    h("td", {}, cardRow(row.cards)),
    h("td", { title: why }, spoken(row.outcome), why && h("span", { class: "unseen" }, ` (${why})`)),
    h("td", { class: "num" }, money(row.stake)),
    h("td", { class: `num ${tone(row.due)}` }, signed(row.due)),
    h("td", { class: `num ${isWrong ? "bad strong" : ""}` }, row.paid === null ? "not seen" : signed(row.paid),
      isWrong && h("span", { class: "why" }, `${signed(row.paid - row.due)} off`)));
}
