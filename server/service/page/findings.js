// Mistakes, items and money as they are shown wherever a round is.

import { ask } from "./api.js";
import { h, put } from "./dom.js";
import { cardMark } from "./felt.js";
import { question, readSentences, sentence } from "./sentences.js";
import { fine, place, signed, spoken, tone, money, withPips } from "./words.js";

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
    citations.set(key, ask(`/api/sessions/${encodeURIComponent(session)}/rounds/${round}/verdicts`)
      .then((list) => list.find((/** @type {Answer} */ it) => it.seq === one.seq && it.code === one.code && it.spot === one.spot && it.hand === one.hand) ?? null)
      .catch(() => { citations.delete(key); return null; }));
    if (citations.size > KEPT) citations.delete(citations.keys().next().value);
  }
  return citations.get(key);
}

/** Ask for what a round's mistakes rest on, so that their notes are whole as they are drawn. */
export const readCitations = (/** @type {Answer} */ row) =>
  Promise.all((row.result?.violations ?? []).map((/** @type {Answer} */ one) => citationOf(row, one)));

const passage = (/** @type {Answer} */ { says, origin }) => h("p", { class: "cited" }, says, " ", h("cite", {}, origin));

const quoted = (/** @type {Answer} */ { breaks, due, settled_by: after }) => [
  breaks.passages.map(passage),
  due.map((/** @type {Answer} */ one) => [h("p", {}, "Due by ", h("span", { class: "mono" }, one.clause), " ", one.says), one.passages.map(passage)]),
  after && [h("p", {}, "How it is settled:"), passage(after)],
];

/** What an incident is about, in a line. */
export function incidentTitle(/** @type {Answer} */ row) {
  const about = [...row.codes.map(spoken), ...row.questions];
  if (about.length) return about.join(", ");
  return row.reviews + row.decided ? "Doubtful reading" : row.by_hand ? "Opened by hand" : "No incident";
}

/**
 * A mistake as a note, a suspected one as a question; `go` is called to see its moment, `of` is its `{ session, round }`: what it
 * rests on is asked for there.
 */
export const mistake = (/** @type {Answer} */ one, /** @type {Clauses} */ texts, /** @type {number | null} */ at, /** @type {(() => unknown) | null} */ go, of = one.session ? one : null) => {
  const quotes = h("div", {});
  const heading = one.suspected
    ? h("h3", {}, one.question ? question(one.question) : `${spoken(one.code)}?`)
    : h("h3", {}, spoken(one.code), one.spot ? h("span", { class: "quiet" }, ` ${place(one.spot, one.hand ?? 0)}`) : null);
  if (of) citationOf(of, one).then((/** @type {Answer} */ found) => {
    if (!found) return;
    put(quotes, quoted(found));
    if (one.suspected) put(heading, question(found.question));
  });
  return note(one, texts, at, go, heading, quotes);
};

const note = (/** @type {Answer} */ one, /** @type {Clauses} */ texts, /** @type {number | null} */ at, /** @type {(() => unknown) | null} */ go, /** @type {Child} */ heading, /** @type {Child} */ quotes) =>
  h("article", { class: `note ${one.suspected ? "doubt" : "bad"}` }, heading,
    one.suspected ? h("p", { class: "quiet" }, "Suspected mistake: ", spoken(one.code).toLowerCase()) : null,
    h("p", {}, sentence(one.detail)),
    clauseText(texts, one.clause, quotes),
    at && h("button", { type: "button", class: "link", onclick: go }, `See it at ${fine(at)}`));

export const item = (/** @type {Answer} */ review, /** @type {Child} */ extra = null) =>
  h("article", { class: "note doubt" },
    h("h3", {}, "To decide"),
    h("p", {}, withPips(review.what)),
    review.candidates.length ? h("p", { class: "quiet" }, `It may be ${withPips(review.candidates.join(" or "))}.`) : null,
    extra);

/** Links to a report, as a page and on paper; `path` is of what it is about. */
export const reports = (/** @type {string} */ path, /** @type {string} */ name) =>
  [["html", name], ["pdf", "PDF"]].map(([form, text]) =>
    h("a", { class: "button", href: `${path}/report.${form}`, target: "_blank", rel: "noopener" }, text, form === "pdf" ? h("span", { class: "unseen" }, ` of the ${name.toLowerCase()}`) : null));

export const cardRow = (/** @type {Card[]} */ cards) => h("span", { class: "pips" }, cards.map((card) => {
  const { text, name } = cardMark(card);
  return h("span", { class: name }, text);
}));

/** What is due and paid, a row a wager; rows as `dues` of table_state.js gives them. */
export function moneyTable(/** @type {Due[]} */ rows, /** @type {Clauses} */ texts) {
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing is settled yet.");
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Due and paid" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Spot", "Cards", "Outcome"].map((one) => h("th", { scope: "col" }, one)),
      ["Stake", "Due", "Paid"].map((one) => h("th", { scope: "col", class: "num" }, one)))),
    h("tbody", {}, rows.map((row) => moneyRow(row, texts)))));
}

function moneyRow(/** @type {Due} */ row, /** @type {Clauses} */ texts) {
  const off = row.paid === null || row.due === null ? 0 : row.paid - row.due;
  const isWrong = off !== 0;
  const why = row.clauses.map((id) => `${id}: ${texts[id] ?? ""}`).join("\n");
  return h("tr", { class: isWrong ? "wrong" : "" },
    h("th", { scope: "row" }, row.what === "insurance" ? `${row.spot} insurance` : `${row.spot}${row.isOneOfSeveral ? ` · hand ${row.hand + 1}` : ""}`),
    h("td", {}, cardRow(row.cards)),
    h("td", { title: why }, spoken(row.outcome), why && h("span", { class: "unseen" }, ` (${why})`)),
    h("td", { class: "num" }, money(row.stake)),
    h("td", { class: `num ${tone(row.due)}` }, signed(row.due)),
    h("td", { class: `num ${isWrong ? "bad strong" : ""}` }, row.paid === null ? "not seen" : signed(row.paid),
      isWrong && h("span", { class: "why" }, `${signed(off)} off`)));
}
