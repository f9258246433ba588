// The console's frame: who is signed in, the bar above every page, and which page is shown.

import { ask, keepCsrf, post } from "./api.js";
import { h, isTyping, put } from "./dom.js";
import { showCharts } from "./charts.js";
import { showFloor } from "./floor.js";
import { houseZone, loadHouse } from "./house.js";
import { showPeople } from "./people.js";
import { showQueue } from "./queue.js";
import { showRound } from "./round.js";
import { showRounds } from "./rounds.js";
import { showRulebook } from "./rulebook.js";
import { showOwn, showSignIn } from "./sign_in.js";
import { showTable } from "./table.js";
import { amountsOf, clock } from "./words.js";

const PAGES = [
  { path: "floor", name: "Floor", right: "see_tables", show: showFloor, key: "f" },
  { path: "incidents", name: "Incidents", right: "see_rounds", show: showQueue, key: "i" },
  { path: "rounds", name: "Rounds", right: "see_rounds", show: showRounds, key: "r" },
  { path: "charts", name: "Charts", right: "see_rounds", show: showCharts, key: "c" },
  { path: "rulebook", name: "Rulebook", right: "see_tables", show: showRulebook, key: "b" },
  { path: "people", name: "People", right: "keep_accounts", show: showPeople, key: "p" },
  { path: "table", right: "see_tables", show: showTable, under: "floor" },
  { path: "round", right: "see_rounds", show: showRound, under: "rounds" },
  { path: "own", right: "keep_self", show: showOwn },
];

const bar = document.getElementById("bar");
const main = document.getElementById("main");
const said = document.getElementById("said");
let me = null;
let leave = null;

/** What a page is given: where it draws, whose it is, and how it says something in passing. */
const context = (rest) => ({
  main, me, rest, say,
  may: (right) => me.rights.includes(right),
  onLeave: (signal, work) => signal.addEventListener("abort", work, { once: true }),
  signOut,
});

let sayTimer;
function say(text, tone = "") {
  clearTimeout(sayTimer);
  said.className = tone;
  said.textContent = text;
  sayTimer = setTimeout(() => { said.textContent = ""; }, 6000);
}

async function start() {
  try {
    me = await ask("/api/me");
    await loadHouse();
  } catch (refused) {
    if (refused.status !== 401) throw refused;
    me = null;
  }
  await route();
}

async function signOut() {
  await post("/api/sign-out").catch(() => null);
  keepCsrf(null);
  location.hash = "";
  me = null;
  await route();
}

async function route() {
  leave?.abort();
  for (const one of main.querySelectorAll("img, video")) one.removeAttribute("src");
  leave = new AbortController();
  const { signal } = leave;
  amountsOf(null);
  if (me === null) {
    put(bar);
    bar.hidden = true;
    showSignIn({ main, onDone: start });
    return;
  }
  const [path, ...rest] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decodeURIComponent);
  const page = PAGES.find((one) => one.path === path) ?? PAGES.find((one) => me.rights.includes(one.right)) ?? PAGES.at(-1);
  drawBar(page);
  document.title = `${page.name ?? rest.join(" ")} · Pitwatch`;
  await shown(page, rest, signal);
}

async function shown(page, rest, signal) {
  if (!me.rights.includes(page.right)) {
    put(main, refusal(`The ${me.role} role has no right to see this page.`));
    return;
  }
  put(main, h("p", { class: "quiet" }, "Reading…"));
  try {
    await page.show(context(rest), signal);
  } catch (fault) {
    if (signal.aborted) return;
    if (fault.status === 401) {
      me = null;
      await route();
      return;
    }
    put(main, refusal(fault.message));
  }
}

const refusal = (text) => h("section", { class: "alone" }, h("h1", {}, "Not shown"), h("p", {}, text));

function drawBar(page) {
  bar.hidden = false;
  const links = PAGES.filter((one) => one.name && me.rights.includes(one.right)).map((one) =>
    h("a", {
      href: `#/${one.path}`, "aria-current": one === page || one.path === page.under ? "page" : null,
      title: `Keys g ${one.key}`,
    }, one.name));
  put(bar,
    h("a", { class: "brand", href: "#/floor", "aria-label": "Pitwatch, floor" }, "PITWATCH"),
    h("nav", { "aria-label": "Pages" }, links),
    h("span", { class: "wall num", id: "wall" }),
    h("a", { class: "who", href: "#/own" }, h("b", {}, me.name), h("span", {}, me.role)),
  );
  tick();
}

function tick() {
  const wall = document.getElementById("wall");
  if (wall) wall.textContent = `${clock(Date.now() * 1e6)} ${houseZone()}`;
}

addEventListener("hashchange", route);
let isGoing = false;
addEventListener("keydown", (event) => {
  if (me === null || isTyping(event)) return;
  const page = isGoing && PAGES.find((one) => one.key === event.key && me.rights.includes(one.right));
  isGoing = event.key === "g";
  if (!page) return;
  event.stopImmediatePropagation();
  location.hash = `#/${page.path}`;
}, { capture: true });
addEventListener("unhandledrejection", ({ reason }) => {
  if (reason?.name !== "AbortError") say(reason?.message ?? String(reason), "bad");
});
setInterval(tick, 1000);
start().catch((fault) => put(main, refusal(fault.message)));
