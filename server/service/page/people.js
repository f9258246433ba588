// Accounts: who may sign in, and as what.

import { ask, post } from "./api.js";
import { h, put } from "./dom.js";
import { form } from "./sign_in.js";
import { moment } from "./words.js";

const ROLES = ["surveillance", "pit", "audit", "engineer", "admin"];

export async function showPeople({ main, me, say }, signal) {
  const rows = h("tbody", {});
  const draw = async () => put(rows, (await ask("/api/accounts", { signal })).map((one) => row(one, me, change)));
  const change = async (name, body, done) => {
    try {
      await ask(`/api/accounts/${encodeURIComponent(name)}`, { method: "PATCH", body });
      say(done, "good");
    } catch (refused) {
      say(`${refused.message}.`, "bad");
    }
    await draw();
  };
  const add = form("Add an account", [
    labelled("Name", h("input", { id: "new-name", name: "name", required: true, pattern: "[a-z][a-z0-9._\\-]{0,39}", autocomplete: "off" }), "Small letters, digits, dot, dash."),
    labelled("Role", h("select", { id: "new-role", name: "role" }, ROLES.map((one) => h("option", {}, one)))),
    labelled("First password", h("input", { id: "new-password", name: "password", type: "password", minlength: 12, required: true, autocomplete: "new-password" }), "12 characters or more; they change it on their own page."),
  ], "Add", async (sent, drawn) => {
    await post("/api/accounts", sent);
    say(`${sent.name} may sign in now.`, "good");
    drawn.reset();
    await draw();
  });
  put(main, h("header", { class: "head" }, h("h1", {}, "People")),
    h("div", { class: "columns wide-left" },
      h("section", { class: "panel", "aria-label": "Accounts" }, h("table", { class: "rows" },
        h("thead", {}, h("tr", {}, ["Name", "Role", "Since", ""].map((one) => h("th", { scope: "col" }, one || h("span", { class: "unseen" }, "Change"))))), rows)),
      h("section", { class: "panel" }, h("h2", {}, "Add an account"), add)));
  await draw();
}

const labelled = (label, input, hint) => h("div", { class: "field" }, h("label", { for: input.id }, label), input, hint && h("small", {}, hint));

const row = (one, me, change) =>
  h("tr", { class: one.active ? "" : "closed" },
    h("th", { scope: "row" }, one.name, one.active ? null : h("span", { class: "quiet" }, " closed")),
    h("td", {}, h("select", { "aria-label": `Role of ${one.name}`, disabled: one.name === me.name, onchange: (event) => change(one.name, { role: event.target.value }, `${one.name} is ${event.target.value} now.`) },
      ROLES.map((role) => h("option", { selected: role === one.role }, role)))),
    h("td", { class: "num start" }, moment(one.made_ns)),
    h("td", { class: "num" }, one.name !== me.name && h("button", {
      type: "button", onclick: () => change(one.name, { active: !one.active }, one.active ? `${one.name} may not sign in any more.` : `${one.name} may sign in again.`),
    }, one.active ? "Close" : "Open again")));
