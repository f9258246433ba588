// The house rules in force at a table, where each comes from, and what changed when.

import { ask, maybe, paths } from "./api.js";
import { h, put } from "./dom.js";
import { select } from "./rounds.js";
import { amountsOf, moment, money } from "./words.js";

/** @type {Record<string, string>} */
const TONES = { stated: "good", inferred: "doubt", default: "even", changed: "bad" };
/** Knobs that are amounts, in minor units. */
const AMOUNTS = new Set(["table_min", "table_max", "payout_unit"]);
/** @type {Record<string, string>} */
const SOURCES = {
  stated: "Stated",
  inferred: "Inferred",
  default: "Rulebook is silent",
  changed: "Set for this table",
};

export async function showRulebook(
  /** @type {PageContext} */ { main, rest: [chosen] },
  /** @type {AbortSignal} */ signal,
) {
  const [tables, sheets] = await Promise.all([ask("/api/tables", { signal }), ask("/api/rulebooks", { signal })]);
  const place = h("div", { class: "stack" });
  const names = [
    ...tables.map((/** @type {Answer} */ one) => `table ${one.table}`),
    ...sheets.map((/** @type {Answer} */ one) => `sheet ${one.id}`),
  ];
  const label = (/** @type {Answer} */ one) =>
    one.startsWith("table ")
      ? `In force at ${one.slice(6)}`
      : `Sheet: ${sheets.find(({ id }) => id === one.slice(6))?.title}`;
  const first = names.includes(`table ${chosen}`) ? `table ${chosen}` : names[0];
  const draw = async (/** @type {string} */ name) => {
    const of = name.slice(6);
    amountsOf(name.startsWith("table ") ? of : null);
    put(
      place,
      ...(name.startsWith("table ")
        ? await inForce(
            tables.find((/** @type {Answer} */ one) => one.table === of),
            signal,
          )
        : [sheetPanel(await ask(`/api/rulebooks/${encodeURIComponent(of)}`, { signal }))]),
    );
  };
  put(
    main,
    h(
      "header",
      { class: "head" },
      h("h1", {}, "Rulebook"),
      h("div", { class: "filters" }, select("Show", names, label, first, draw)),
    ),
    place,
  );
  await draw(first);
}

async function inForce(/** @type {Answer} */ { table, now }, /** @type {AbortSignal} */ signal) {
  const [rules, changes] = await Promise.all([
    maybe(`${paths.session(now.session)}/rulebook`, signal),
    maybe(`${paths.table(table)}/rules`, signal),
  ]);
  if (!rules)
    return [
      h(
        "section",
        { class: "panel" },
        h(
          "p",
          { class: "quiet" },
          `The rules of ${table} are not known yet: its journal records them with the first settlement.`,
        ),
      ),
    ];
  const { in_force: row, sheet } = rules;
  return [
    h(
      "section",
      { class: "panel" },
      h("h2", {}, "In force"),
      h("p", {}, h("b", {}, row.rulebook), ` since ${moment(row.at)}`),
      h(
        "p",
        { class: "quiet" },
        row.is_stated
          ? `The journal records every rule: entry ${row.seq} of ${row.session}.`
          : `The journal names only the rulebook: entry ${row.seq} of ${row.session}.`,
      ),
    ),
    h("section", { class: "panel" }, h("h2", {}, "Changes of the rules"), changesOf(changes ?? [])),
    sheet
      ? sheetPanel(sheet)
      : h(
          "section",
          { class: "panel" },
          h("p", { class: "quiet" }, "That rulebook is not shipped, and the journal does not record its rules."),
        ),
  ];
}

const changesOf = (/** @type {Answer[]} */ rows) =>
  h(
    "ol",
    { class: "history" },
    [...rows]
      .reverse()
      .map((row, index, all) =>
        h(
          "li",
          {},
          h("span", { class: "quiet num" }, moment(row.at)),
          h("p", {}, h("b", {}, row.rulebook), ` (${row.session})`),
          difference(row, index === all.length - 1),
        ),
      ),
  );

function difference(/** @type {Answer} */ row, /** @type {boolean} */ isFirst) {
  if (isFirst) return h("p", { class: "quiet" }, "The first rules known for this table.");
  if (row.changes === null)
    return h("p", { class: "quiet" }, "The changes are unknown: one of the two rulebooks is not known.");
  return h(
    "ul",
    {},
    row.changes.map((/** @type {Answer} */ one) =>
      h(
        "li",
        {},
        h("span", { class: "mono" }, one.knob),
        `: ${written(one.knob, one.was)} → `,
        h("b", {}, written(one.knob, one.now)),
      ),
    ),
  );
}

function sheetPanel(/** @type {Answer} */ sheet) {
  const rows = sheet.knobs.map((/** @type {Answer} */ one) => ({
    text: `${one.knob} ${one.value} ${one.quote ?? one.reason ?? ""}`.toLowerCase(),
    drawn: knob(one),
  }));
  const find = h("input", {
    id: "find-rule",
    type: "search",
    placeholder: "insurance, soft 17, split…",
    oninput: () => {
      for (const row of rows) row.drawn.hidden = !row.text.includes(find.value.toLowerCase());
    },
  });
  return h(
    "section",
    { class: "panel" },
    h(
      "header",
      { class: "head" },
      h(
        "div",
        {},
        h("h2", { class: "big" }, sheet.title),
        h("p", { class: "quiet" }, `${sheet.id} · from ${sheet.document}`),
      ),
      h("div", { class: "field inline" }, h("label", { for: "find-rule" }, "Find a rule"), find),
    ),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Rules" },
      h(
        "table",
        { class: "sheet" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ["Rule", "Value", "Source", "Quote or reason"].map((one) => h("th", { scope: "col" }, one)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((/** @type {Answer} */ row) => row.drawn),
        ),
      ),
    ),
  );
}

const written = (/** @type {string} */ knob, /** @type {string} */ value) =>
  AMOUNTS.has(knob) && /^\d+$/.test(value) ? money(Number(value)) : value;

const knob = (/** @type {Answer} */ one) =>
  h(
    "tr",
    {},
    h("th", { scope: "row", class: "mono" }, one.knob),
    h("td", {}, h("b", {}, written(one.knob, one.value))),
    h("td", {}, h("span", { class: TONES[one.source] }, SOURCES[one.source])),
    h(
      "td",
      {},
      one.quote ? h("q", {}, one.quote) : (one.reason ?? ""),
      one.document && h("span", { class: "why quiet" }, one.section ? `${one.document}, ${one.section}` : one.document),
    ),
  );
