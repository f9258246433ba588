// Accounts: who may sign in, and as what.

import { ask, post } from "./api.js";
import { h, put } from "./dom.js";
import { form } from "./sign_in.js";
import { moment } from "./words.js";

const ROLES = ["surveillance", "pit", "audit", "engineer", "admin"];

export async function showPeople(/** @type {PageContext} */ { main, me, notify }, /** @type {AbortSignal} */ signal) {
  const rows = h("tbody", {});
  const draw = async () =>
    put(
      rows,
      (await ask("/api/accounts", { signal })).map((/** @type {Answer} */ one) => row(one, me, change, showTokens)),
    );
  const change = async (/** @type {string} */ name, /** @type {Answer} */ body, /** @type {string} */ done) => {
    try {
      await ask(`/api/accounts/${encodeURIComponent(name)}`, { method: "PATCH", body });
      notify(done, "good");
    } catch (refused) {
      notify(`${refused.message}.`, "bad");
    }
    await draw();
  };
  const tokens = h("section", { class: "panel", "aria-label": "Tokens", hidden: true });
  const showTokens = async (/** @type {string} */ name) => {
    tokens.hidden = false;
    const held = await ask(tokensOf(name), { signal });
    put(
      tokens,
      h("h2", {}, `Tokens of ${name}`),
      held.length
        ? h(
            "ul",
            { class: "plain" },
            held.map((/** @type {Answer} */ one) =>
              h(
                "li",
                {},
                h("b", {}, one.label),
                ` ${one.scopes.join(", ")}, until ${moment(one.ends_ns)} `,
                h(
                  "button",
                  { type: "button", "aria-label": `Revoke ${one.label}`, onclick: () => revoke(name, one) },
                  "Revoke",
                ),
              ),
            ),
          )
        : h("p", { class: "quiet" }, "None."),
    );
  };
  const revoke = async (/** @type {string} */ name, /** @type {Answer} */ one) => {
    try {
      await ask(`${tokensOf(name)}/${encodeURIComponent(one.id)}`, { method: "DELETE" });
      notify(`The token ${one.label} is revoked.`, "good");
    } catch (refused) {
      notify(`${refused.message}.`, "bad");
    }
    await Promise.all([showTokens(name), draw()]);
  };
  const add = form(
    "Add an account",
    [
      labelled(
        "Name",
        h("input", {
          id: "new-name",
          name: "name",
          required: true,
          pattern: "[a-z][a-z0-9._\\-]{0,39}",
          autocomplete: "off",
        }),
        "Lower-case letters, digits, dot, dash.",
      ),
      labelled(
        "Role",
        h(
          "select",
          { id: "new-role", name: "role" },
          ROLES.map((one) => h("option", {}, one)),
        ),
      ),
      labelled(
        "First password",
        h("input", {
          id: "new-password",
          name: "password",
          type: "password",
          minlength: 12,
          required: true,
          autocomplete: "new-password",
        }),
        "12 characters or more; they change it at the first sign-in.",
      ),
      labelled(
        "Tables",
        h("input", { id: "new-tables", name: "tables", autocomplete: "off" }),
        "The tables they see, separated by commas; empty for all.",
      ),
    ],
    "Add",
    async (sent, drawn) => {
      await post("/api/accounts", { ...sent, tables: parted(sent.tables) });
      notify(`${sent.name} can sign in now.`, "good");
      drawn.reset();
      await draw();
    },
  );
  put(
    main,
    h("header", { class: "head" }, h("h1", {}, "People")),
    h(
      "div",
      { class: "columns wide-left" },
      h(
        "section",
        { class: "panel", "aria-label": "Accounts" },
        h(
          "table",
          { class: "rows" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ["Name", "Role", "Since", "Tokens", ""].map((one) =>
                h("th", { scope: "col" }, one || h("span", { class: "unseen" }, "Change")),
              ),
            ),
          ),
          rows,
        ),
      ),
      h("section", { class: "panel" }, h("h2", {}, "Add an account"), add),
      tokens,
    ),
  );
  await draw();
}

const labelled = (/** @type {string} */ label, /** @type {Answer} */ input, /** @type {string | null} */ hint = null) =>
  h("div", { class: "field" }, h("label", { for: input.id }, label), input, hint && h("small", {}, hint));

const parted = (/** @type {string} */ tables) =>
  tables
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

const tokensOf = (/** @type {string} */ name) =>
  /** @type {const} */ (`/api/accounts/${encodeURIComponent(name)}/tokens`);

const row = (
  /** @type {Answer} */ one,
  /** @type {Person} */ me,
  /** @type {(name: string, body: Answer, done: string) => Promise<void>} */ change,
  /** @type {(name: string) => Promise<void>} */ showTokens,
) =>
  h(
    "tr",
    { class: one.active ? "" : "closed" },
    h(
      "th",
      { scope: "row" },
      one.name,
      one.active ? null : h("span", { class: "quiet" }, " closed"),
      " ",
      one.role !== "admin" &&
        h("input", {
          "aria-label": `Tables of ${one.name}`,
          value: one.tables.join(", "),
          placeholder: "all tables",
          size: 12,
          autocomplete: "off",
          onchange: (/** @type {Answer} */ event) =>
            change(
              one.name,
              { tables: parted(event.target.value) },
              `${one.name} sees ${event.target.value.trim() || "all tables"} now.`,
            ),
        }),
    ),
    h(
      "td",
      {},
      h(
        "select",
        {
          "aria-label": `Role of ${one.name}`,
          disabled: one.name === me.name,
          onchange: (/** @type {Answer} */ event) =>
            change(one.name, { role: event.target.value }, `${one.name} is ${event.target.value} now.`),
        },
        ROLES.map((role) => h("option", { selected: role === one.role }, role)),
      ),
    ),
    h("td", { class: "num start" }, moment(one.made_ns)),
    h(
      "td",
      { class: "num" },
      one.tokens > 0 &&
        h(
          "button",
          { type: "button", onclick: () => showTokens(one.name) },
          String(one.tokens),
          h("span", { class: "unseen" }, ` tokens of ${one.name}`),
        ),
    ),
    h(
      "td",
      { class: "num" },
      one.name !== me.name &&
        h(
          "button",
          {
            type: "button",
            onclick: () =>
              change(
                one.name,
                { active: !one.active },
                one.active ? `${one.name} can no longer sign in.` : `${one.name} can sign in again.`,
              ),
          },
          one.active ? "Close" : "Reopen",
        ),
    ),
  );
