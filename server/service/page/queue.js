// Incidents: a queue worked by keyboard. Findings are seen, decided, commented on and closed; nothing is removed.

import { ask, maybe, post, takeOut } from "./api.js";
import { checkConnection } from "./connection.js";
import { approvalPath, decider } from "./decide.js";
import { h, isTyping, put } from "./dom.js";
import { form } from "./sign_in.js";
import { filterBy, select } from "./rounds.js";
import { clauses, incidentTitle, item as itemNote, mistake, reports } from "./findings.js";
import { figures } from "./stories.js";
import { capitalised, cardText, clock, counted, day, inWords, moment, momentAndAge, spoken } from "./words.js";

const STATES = ["", "open", "assigned", "closed"];
/** @type {Record<string, string>} */
const NAMES = { "": "Open and assigned", open: "Open", assigned: "Assigned", closed: "Closed" };
/** @type {Record<string, string>} */
const TONES = { high: "bad", medium: "doubt", low: "even" };
/** The detail lies below the queue, not beside it. */
const STACKED = matchMedia("(max-width: 860px)");
/** @type {Record<string, number>} */
const WEIGHTS = { high: 3, medium: 2, low: 1 };

export async function showQueue(
  /** @type {PageContext} */ { main, me, may, rest: [chosen = null], notify, onLeave, onReturn },
  /** @type {AbortSignal} */ signal,
) {
  /** @type {any} */
  const page = {
    main,
    me,
    may,
    notify,
    chosen,
    state: "",
    table: "",
    rows: [],
    clauseTexts: await clauses(),
    list: h("ol", { class: "queue", "aria-label": "Incidents" }),
    detail: h("section", { class: "detail", "aria-live": "polite" }),
    decider: null,
  };
  const tables = (await ask("/api/tables", { signal })).map((/** @type {Answer} */ one) => one.table);
  put(
    main,
    h(
      "header",
      { class: "head" },
      h("h1", {}, "Incidents"),
      h(
        "div",
        { class: "filters" },
        select(
          "State",
          STATES,
          (one) => NAMES[one],
          "",
          (state) => filterBy(page, { state }, load),
        ),
        select(
          "Table",
          ["", ...tables],
          (one) => one || "Every table",
          "",
          (table) => filterBy(page, { table }, load),
        ),
      ),
    ),
    h("div", { class: "queue-page" }, h("div", { class: "panel queue-place" }, page.list), page.detail),
  );
  await load(page);
  if (page.chosen === null && page.rows.length) page.chosen = page.rows[0].id;
  mark(page);
  await open(page);
  addEventListener("keydown", (event) => onKey(page, event), { signal });
  watch(page, onLeave, onReturn, signal);
}

async function load(/** @type {Answer} */ page) {
  const states = page.state ? [page.state] : ["open", "assigned"];
  const asked = new URLSearchParams([
    ...states.map((one) => ["state", one]),
    ["limit", 200],
    ...(page.table ? [["table", page.table]] : []),
  ]);
  page.rows = (await ask(`/api/incidents?${asked}`)).items.sort(
    (/** @type {Answer} */ a, /** @type {Answer} */ b) => WEIGHTS[b.severity] - WEIGHTS[a.severity] || b.at - a.at,
  );
  draw(page);
}

/** A change comes as the incident's row; the list keeps its order while somebody works on it. */
function watch(
  /** @type {Answer} */ page,
  /** @type {During} */ onLeave,
  /** @type {During} */ onReturn,
  /** @type {AbortSignal} */ signal,
) {
  /** @type {EventSource | null} */
  let source = null;
  const follow = () => {
    source?.close();
    source = new EventSource("/api/incidents/stream");
    source.onmessage = take;
    source.onerror = () => checkConnection();
  };
  const take = (/** @type {Answer} */ { data }) => {
    const row = JSON.parse(data);
    const at = page.rows.findIndex((/** @type {Answer} */ one) => one.id === row.id);
    if (at >= 0) page.rows[at] = row;
    else if (wanted(page, row)) page.rows.unshift(row);
    draw(page);
  };
  follow();
  onReturn(signal, () => {
    follow();
    load(page).catch(() => null);
  });
  onLeave(signal, () => source?.close());
}

const wanted = (/** @type {Answer} */ page, /** @type {Answer} */ row) =>
  (page.state ? row.state === page.state : row.state !== "closed") && (!page.table || row.table === page.table);

function draw(/** @type {Answer} */ page) {
  put(
    page.list,
    page.rows.length
      ? page.rows.map((/** @type {Answer} */ row) => entry(page, row))
      : h("li", { class: "quiet" }, "No incident here."),
  );
  mark(page);
}

/** A round at which nothing was found and that nobody opened has a page all the same. */
const isIncident = (/** @type {Answer} */ row) =>
  row.violations + row.suspected + row.reviews + row.decided > 0 || row.by_hand;

const entry = (/** @type {Answer} */ page, /** @type {Answer} */ row) =>
  h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: `entry ${row.severity}`, "data-id": row.id, onclick: () => choose(page, row.id) },
      h("b", {}, incidentTitle(row)),
      h("span", { class: "quiet" }, `${row.table} · round ${row.round} · ${day(row.at)} ${clock(row.at)}`),
      h(
        "span",
        { class: "tags" },
        row.reviews > 0 && h("em", { class: "doubt" }, `${row.reviews} to decide`),
        row.assignee && h("em", {}, row.assignee),
        row.comments > 0 && h("em", {}, counted(row.comments, "comment")),
        row.state === "closed" && h("em", { class: "good" }, "closed"),
      ),
    ),
  );

function mark(/** @type {Answer} */ page) {
  for (const one of page.list.querySelectorAll("[data-id]")) {
    if (one.dataset.id === page.chosen) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
  page.list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

async function choose(/** @type {Answer} */ page, /** @type {string} */ id) {
  page.chosen = id;
  history.replaceState(null, "", `#/incidents/${encodeURIComponent(id)}`);
  mark(page);
  await open(page);
  if (STACKED.matches) page.detail.scrollIntoView();
}

async function open(/** @type {Answer} */ page) {
  page.decider = null;
  if (page.chosen === null) {
    put(page.detail, h("div", { class: "panel" }, h("p", { class: "quiet" }, "Choose an incident.")));
    return;
  }
  const id = page.chosen;
  const found = await maybe(`/api/incidents/${encodeURIComponent(id)}`);
  if (id !== page.chosen) return;
  if (found === null) put(page.detail, h("div", { class: "panel" }, h("p", {}, "There is no such incident.")));
  else drawDetail(page, found);
}

function drawDetail(/** @type {Answer} */ page, /** @type {Answer} */ found) {
  const { incident } = found;
  const waiting = found.reviews.filter((/** @type {Answer} */ one) => !one.decided);
  const link = `#/round/${encodeURIComponent(incident.session)}/${incident.round}`;
  const done = async (/** @type {string} */ text) => {
    page.notify(text, "good");
    await load(page);
    await open(page);
  };
  page.decider =
    waiting.length && page.may("resolve_reviews") ? decider(waiting[0], page.me, done, { left: waiting.length }) : null;
  const proposals = found.proposals.map((/** @type {Answer} */ one) => proposal(page, incident.id, one, done));
  put(
    page.detail,
    h(
      "header",
      { class: "head" },
      h(
        "div",
        {},
        h("h2", { class: "big" }, incidentTitle(incident)),
        h(
          "p",
          { class: "quiet" },
          `${incident.table} · round ${incident.round} · ${momentAndAge(incident.at, Date.now() * 1e6)}`,
        ),
      ),
      isIncident(incident) &&
        h(
          "div",
          { class: "badges" },
          h("span", { class: `badge ${TONES[incident.severity]}` }, `${spoken(incident.severity)} severity`),
          h(
            "span",
            { class: `badge ${incident.state === "closed" ? "good" : "even"}` },
            incident.assignee && incident.state !== "closed"
              ? `Assigned to ${incident.assignee}`
              : NAMES[incident.state],
          ),
        ),
      h(
        "div",
        { class: "head-links" },
        h("a", { class: "button", href: link, title: "Key o" }, "Watch the round"),
        files(page, incident),
      ),
    ),
    proposals,
    page.decider?.drawn,
    h(
      "div",
      { class: "notes" },
      found.violations.map((/** @type {Answer} */ one) =>
        mistake(one, page.clauseTexts, () => {
          location.hash = `${link}/${one.seq}`;
        }),
      ),
      (page.decider ? waiting.slice(1) : waiting).map((/** @type {Answer} */ one) => itemNote(one, figures(one))),
      found.reviews.filter((/** @type {Answer} */ one) => one.decided).map(decided),
    ),
    h("div", { class: "columns" }, actions(page, found, done), history_(found)),
  );
}

const decided = (/** @type {Answer} */ review) =>
  h(
    "article",
    { class: "note" },
    h("h3", { class: "good" }, "Decided"),
    h("p", {}, inWords(review.what)),
    h("p", {}, decisionText(review.decided)),
    h(
      "p",
      { class: "quiet" },
      `${review.decided.person}${review.decided.approved_by ? ` with ${review.decided.approved_by}` : ""}, ${moment(review.decided.at)}${review.decided.reason ? `: ${review.decided.reason}` : ""}`,
    ),
  );

const decisionText = (/** @type {Answer} */ { decision, choice, says }) =>
  says ? `${capitalised(inWords(says))}.` : choice ? `The card is ${cardText(choice)}.` : `${spoken(decision)}.`;

/** A decision that waits for a second person. */
function proposal(
  /** @type {Answer} */ page,
  /** @type {Answer} */ incident,
  /** @type {Answer} */ one,
  /** @type {(text: string) => unknown} */ done,
) {
  const own = one.person === page.me.name;
  const answer = (/** @type {boolean} */ approve, /** @type {string} */ text) =>
    post(approvalPath(incident, one.item), { approve, proposal: one.seq })
      .then(() => done(text))
      .catch(refused(page));
  return h(
    "section",
    { class: "panel", "aria-label": "Proposed" },
    h("h2", {}, "A second person must approve this"),
    h("p", {}, `${one.person} proposes: ${decisionText(one)} ${one.reason}`),
    page.may("resolve_reviews") &&
      h(
        "div",
        { class: "head-links" },
        !own &&
          h(
            "button",
            { type: "button", class: "main", onclick: () => answer(true, "Approved: the decision is in force.") },
            `Approve as ${page.me.name}`,
          ),
        h(
          "button",
          { type: "button", onclick: () => answer(false, own ? "Withdrawn." : "Declined.") },
          own ? "Withdraw it" : "Decline",
        ),
      ),
    own && h("p", { class: "quiet" }, "Another person must approve it."),
  );
}

/** Say why something was refused. */
const refused =
  (/** @type {Answer} */ page) =>
  (/** @type {Answer} */ { message }) =>
    page.notify(`${message}.`, "bad");

const files = (/** @type {Answer} */ page, /** @type {Answer} */ incident) =>
  page.may("take_out") && [
    reports(`/api/incidents/${encodeURIComponent(incident.id)}`, "Report"),
    page.may("see_undealt") &&
      h(
        "button",
        {
          type: "button",
          title: "Video, events and their proof in one file; pitwatch verify checks it anywhere",
          onclick: () =>
            takeOut(`/api/incidents/${encodeURIComponent(incident.id)}/evidence.zip`, `${incident.id}.zip`)
              .then(() => page.notify("Exported. Its recording is now held.", "good"))
              .catch(refused(page)),
        },
        "Evidence file",
      ),
  ];

function actions(
  /** @type {Answer} */ page,
  /** @type {Answer} */ found,
  /** @type {(text: string) => unknown} */ done,
) {
  const { incident } = found;
  if (!page.may("work_incidents"))
    return h(
      "section",
      { class: "panel" },
      h("h2", {}, "Work"),
      h("p", { class: "quiet" }, `The ${page.me.role} role can only read.`),
    );
  const path = `/api/incidents/${encodeURIComponent(incident.id)}`;
  const isClosed = incident.state === "closed";
  const assign = (/** @type {string | null} */ to) =>
    post(`${path}/assignment`, { to })
      .then(() => done(to ? `Assigned to ${to}.` : "No longer assigned."))
      .catch(refused(page));
  const text = (/** @type {string} */ id, /** @type {string} */ label, /** @type {string} */ name) =>
    h(
      "div",
      { class: "field" },
      h("label", { for: id }, label),
      h("textarea", { id, name, rows: 2, required: true, maxlength: 4000 }),
    );
  return h(
    "section",
    { class: "panel", "aria-label": "Work" },
    h("h2", {}, "Work"),
    h(
      "div",
      { class: "head-links" },
      incident.assignee !== page.me.name &&
        h(
          "button",
          { type: "button", id: "take", title: "Key a", onclick: () => assign(page.me.name) },
          "Take it ",
          h("kbd", {}, "a"),
        ),
      incident.assignee !== null && h("button", { type: "button", onclick: () => assign(null) }, "Unassign"),
    ),
    form("Comment", [text("comment", "Comment", "text")], "Comment", (/** @type {Answer} */ { text: comment }) =>
      post(`${path}/comments`, { text: comment }).then(() => done("Comment saved.")),
    ),
    form(
      isClosed ? "Reopen" : "Close",
      [text("reason", isClosed ? "Why reopen it" : "Why it is closed", "reason")],
      isClosed ? "Reopen it" : "Close it",
      (/** @type {Answer} */ { reason }) =>
        post(`${path}/${isClosed ? "reopening" : "closing"}`, { reason }).then(() =>
          done(isClosed ? "Reopened." : "Closed."),
        ),
    ),
    h(
      "p",
      { class: "keys inline" },
      [
        ["j k", "next, previous"],
        ["a", "take"],
        ["c", "comment"],
        ["x", "close"],
        ["o", "watch"],
      ].map(([key, what]) => h("span", {}, h("kbd", {}, key), ` ${what}`)),
    ),
  );
}

/** @type {Record<string, (one: Answer) => string>} */
const TOLD = {
  case_opened: (one) => `opened it by hand: ${one.text}`,
  case_assigned: (one) =>
    one.to ? (one.to === one.person ? "took it" : `assigned it to ${one.to}`) : "removed the assignment",
  case_commented: (one) => one.text,
  case_closed: (one) => `closed it: ${one.reason}`,
  case_reopened: (one) => `reopened it: ${one.reason}`,
  decision_proposed: (one) =>
    `proposed: ${one.item === null ? one.says : spoken(one.decision)}${one.reason ? `. ${one.reason}` : ""}`,
  decision_approved: (one) => `approved ${one.proposed_by}'s decision, entry ${one.entry}`,
  decision_declined: (one) =>
    one.person === one.proposed_by ? "withdrew the proposal" : `declined ${one.proposed_by}'s proposal`,
};

/** What people did with it, decisions among it, in the order of time. */
function deeds(/** @type {Answer} */ found) {
  const done = found.history.map((/** @type {Answer} */ one) => ({
    at: one.at,
    person: one.person,
    text: TOLD[one.type]?.(one) ?? spoken(one.type),
  }));
  const decisions = new Map(
    found.reviews
      .filter((/** @type {Answer} */ one) => one.decided)
      .map((/** @type {Answer} */ one) => [one.decided.seq, one.decided]),
  );
  for (const one of decisions.values())
    done.push({ at: one.at, person: one.person, text: `decided: ${decisionText(one)}` });
  return done.sort((/** @type {Answer} */ one, /** @type {Answer} */ other) => one.at - other.at);
}

function history_(/** @type {Answer} */ found) {
  const done = deeds(found);
  return h(
    "section",
    { class: "panel", "aria-label": "History" },
    h("h2", {}, "History"),
    done.length
      ? h(
          "ol",
          { class: "history" },
          done.map((/** @type {Answer} */ one) =>
            h(
              "li",
              {},
              h("span", { class: "quiet num" }, moment(one.at)),
              h("p", {}, h("b", {}, one.person), " ", one.text),
            ),
          ),
        )
      : h("p", { class: "quiet" }, "Nobody has worked on it yet."),
  );
}

function onKey(/** @type {Answer} */ page, /** @type {Answer} */ event) {
  if (isTyping(event)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const at = page.rows.findIndex((/** @type {Answer} */ one) => one.id === page.chosen);
  const step = (/** @type {number} */ by) => {
    const next = page.rows[at + by];
    if (next) choose(page, next.id);
  };
  const focus = (/** @type {string} */ id) => page.detail.querySelector(`#${id}`)?.focus();
  /** @type {Record<string, () => unknown>} */
  const acts = {
    j: () => step(1),
    ArrowDown: () => step(1),
    k: () => step(-1),
    ArrowUp: () => step(-1),
    a: () => page.detail.querySelector("#take")?.click(),
    c: () => focus("comment"),
    x: () => focus("reason"),
    o: () => page.detail.querySelector(".head-links a")?.click(),
  };
  const act = acts[event.key];
  if (act) {
    event.preventDefault();
    act();
  } else if (page.decider?.onKey(event.key)) event.preventDefault();
}
