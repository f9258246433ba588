// Finding a round: by table and time, by status, newest first.

import { ask, download, query } from "./api.js";
import { addressOf } from "./address.js";
import { h, put } from "./dom.js";
import { houseExports } from "./house.js";
import { momentLink } from "./search.js";
import { clock, day, signed, tone } from "./words.js";

/** A day on which the clocks go back. */
const LONGEST_DAY_NS = 25 * 36e11;
const STATUSES = ["", "open", "final", "pending", "review"];
/** @type {Record<string, string>} */
const LABELS = {
  "": "Every status",
  open: "In play",
  final: "Final",
  pending: "Pending",
  review: "Waiting for a decision",
};

export async function showRounds(
  /** @type {PageContext} */ { main, may, rest: [table = ""], chosen },
  /** @type {AbortSignal} */ signal,
) {
  const tables = (await ask("/api/tables", { signal })).map((/** @type {Answer} */ one) => one.table);
  const body = h("tbody", {});
  const open = h("div", { class: "quiet", "aria-live": "polite" });
  const found = h("div", { class: "found", "aria-live": "polite" });
  const status = chosen.get("status") ?? "";
  const more = h("button", { type: "button", hidden: true }, "Show older rounds");
  /** @type {{ table: string, status: string, cursor: string | null }} */
  const asked = { table, status: STATUSES.includes(status) ? status : "", cursor: null };
  const load = async () => {
    const page = await ask(query("/api/rounds", { ...asked, limit: 50 }), { signal });
    if (asked.cursor === null) {
      put(body);
      put(
        open,
        may("see_money") &&
          page.items.length &&
          balanceOf(
            await ask(query("/api/balances", { table: asked.table, from_ns: page.items[0].at - LONGEST_DAY_NS }), {
              signal,
            }),
          ),
      );
    }
    body.append(...page.items.map(row));
    if (!body.children.length) put(body, h("tr", {}, h("td", { colspan: 7, class: "quiet" }, "No such round.")));
    asked.cursor = page.next;
    more.hidden = page.next === null;
  };
  more.addEventListener("click", load);
  const again = async (/** @type {Answer} */ changed) => {
    await filterBy(asked, { ...changed, cursor: null }, load);
    history.replaceState(null, "", addressOf(["rounds", asked.table], { status: asked.status }));
  };
  put(
    main,
    h("header", { class: "head" }, h("h1", {}, "Rounds"), filters(tables, asked, again)),
    found,
    open,
    h(
      "div",
      { class: "panel scroll", tabindex: 0, role: "region", "aria-label": "Rounds" },
      h(
        "table",
        { class: "rows" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Round", "Table", "Opened", "Status"].map((one) => h("th", { scope: "col" }, one)),
            ["Mistakes", "To decide", "House"].map((one) => h("th", { scope: "col", class: "num" }, one)),
          ),
        ),
        body,
      ),
    ),
    more,
    may("take_out") && takeOuts(may, asked),
  );
  const what = chosen.get("what");
  await Promise.all([load(), what && offer(found, await ask(query("/api/find", { what, table }), { signal }))]);
}

/** What the search found where it is not one round: the moments, or the rounds beside them. */
const offer = (/** @type {HTMLElement} */ found, /** @type {Answer} */ { says, moments }) =>
  put(
    found,
    h("p", { class: "strong" }, says),
    h(
      "ul",
      { class: "choices" },
      moments.map((/** @type {Answer} */ one) => choices(one, moments.length > 1)),
    ),
  );

/** The lists as files, of the table chosen. */
function takeOuts(/** @type {May} */ may, /** @type {Answer} */ asked) {
  const kinds = ["rounds", "hands", "violations", ...(may("see_money") ? ["payments", "ledger"] : [])];
  const link = (/** @type {string} */ kind, /** @type {string} */ form) =>
    h(
      "button",
      {
        type: "button",
        class: "button",
        onclick: () => download(query(`/api/exports/${kind}.${form}`, { table: asked.table })),
      },
      `${kind === "violations" ? "mistakes" : kind} .${form}`,
    );
  return h(
    "p",
    { class: "takeouts" },
    "Export as a file:",
    kinds.map((kind) => link(kind, "csv")),
    houseExports().includes("parquet") && [link("rounds", "parquet"), link("hands", "parquet")],
  );
}

/** What is still to be paid of the newest day, in each of its currencies. */
const balanceOf = (/** @type {Answer} */ { days }) =>
  days
    .filter((/** @type {Answer} */ one) => one.at === days[0].at)
    .map((/** @type {Answer} */ one) =>
      h(
        "p",
        { class: one.totals.underpaid || one.totals.overpaid ? "bad" : "" },
        `${day(one.at)}, ${one.currency}: ${one.says}.`,
      ),
    );

const filters = (
  /** @type {string[]} */ tables,
  /** @type {Answer} */ asked,
  /** @type {(changed: Answer) => unknown} */ again,
) =>
  h(
    "div",
    { class: "filters" },
    select(
      "Table",
      ["", ...tables],
      (one) => one || "Every table",
      asked.table,
      (table) => again({ table }),
    ),
    select(
      "Status",
      STATUSES,
      (one) => LABELS[one],
      asked.status,
      (status) => again({ status }),
    ),
  );

export function select(
  /** @type {string} */ name,
  /** @type {string[]} */ values,
  /** @type {(value: string) => string} */ label,
  /** @type {string} */ chosen,
  /** @type {(value: string) => unknown} */ change,
) {
  const id = `choose-${name.toLowerCase().replaceAll(" ", "-")}`;
  let shown = chosen;
  return h(
    "div",
    { class: "field inline" },
    h("label", { for: id }, name),
    h(
      "select",
      {
        id,
        async onchange(/** @type {Answer} */ { target }) {
          try {
            await change(target.value);
            shown = target.value;
          } catch (fault) {
            target.value = shown;
            throw fault;
          }
        },
      },
      values.map((one) => h("option", { value: one, selected: one === chosen }, label(one))),
    ),
  );
}

/** Load a page with another choice; what cannot be loaded is not chosen. */
export async function filterBy(
  /** @type {Answer} */ page,
  /** @type {Answer} */ choice,
  /** @type {(page: Answer) => Promise<void>} */ load,
) {
  const before = Object.fromEntries(Object.keys(choice).map((name) => [name, page[name]]));
  Object.assign(page, choice);
  try {
    await load(page);
  } catch (fault) {
    Object.assign(page, before);
    throw fault;
  }
}

/** A moment as links to its round, or to those before and after it. */
function choices(/** @type {Answer} */ { written, round, go_to, before, after }, /** @type {boolean} */ isOneOfMany) {
  if (round)
    return h("li", {}, h("a", { class: "button", href: momentLink(round, go_to) }, `${written}: round ${round.round}`));
  const link = (/** @type {string} */ name, /** @type {Answer} */ one) =>
    one &&
    h(
      "a",
      { class: "button", href: `#/round/${encodeURIComponent(one.session)}/${one.round}` },
      `${name}: round ${one.round}, ${day(one.at)} ${clock(one.at)}`,
    );
  return h(
    "li",
    {},
    isOneOfMany && h("span", { class: "quiet" }, `${written}: nothing was dealt. `),
    link("Before", before),
    link("After", after),
    !before && !after && "No round of this table yet.",
  );
}

const row = (/** @type {Answer} */ one) =>
  h(
    "tr",
    {},
    h(
      "th",
      { scope: "row" },
      h("a", { href: `#/round/${encodeURIComponent(one.session)}/${one.round}` }, `Round ${one.round}`),
    ),
    h("td", {}, one.table),
    h("td", { class: "num start" }, `${day(one.at)} ${clock(one.at)}`),
    h("td", {}, h("span", { class: `badge ${BADGES[one.status]}` }, LABELS[one.status])),
    h(
      "td",
      { "data-label": "Mistakes", class: `num ${one.violations ? "bad strong" : "quiet"}` },
      one.violations,
      one.suspected > 0 && h("span", { class: "doubt" }, ` ${one.suspected} suspected`),
    ),
    h("td", { "data-label": "To decide", class: `num ${one.reviews ? "doubt strong" : "quiet"}` }, one.reviews),
    h(
      "td",
      {
        "data-label": "House",
        class: `num ${one.status === "final" ? tone(one.net) : "quiet"}`,
        title: one.status === "review" ? "If the review confirms it" : null,
      },
      one.status === "open" ? "–" : signed(one.net, one.table),
    ),
  );

/** @type {Record<string, string>} */

export const BADGES = { open: "even", final: "good", pending: "doubt", review: "doubt" };
export const statusLabel = (/** @type {string} */ status) => LABELS[status];
