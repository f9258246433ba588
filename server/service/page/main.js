// The console's frame: who is signed in, the bar above every page, and which page is shown.

import { parseAddress } from "./address.js";
import { Refused, ask, keepCsrf, post } from "./api.js";
import { drawBar, drawOffline, drawReading, drawUnsigned } from "./bar.js";
import { keepConnection, watchConnection, watchReading } from "./connection.js";
import { h, isTyping, put } from "./dom.js";
import { showCharts } from "./charts.js";
import { showFloor } from "./floor.js";
import { houseZone, loadHouse, unsigned } from "./house.js";
import { showPeople } from "./people.js";
import { showQueue } from "./queue.js";
import { showRound } from "./round.js";
import { showRounds } from "./rounds.js";
import { showRulebook } from "./rulebook.js";
import { showOwn, showSignIn } from "./sign_in.js";
import { showTable } from "./table.js";
import { amountsOf, capitalised, clock } from "./words.js";

/** @type {PageOfConsole[]} */
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
const GONE = { title: "Unknown address" };

/** A part of `index.html`. */
const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const bar = part("bar");
const banner = part("offline");
const main = part("main");
const toast = part("toast");
/** Who is signed in, by `/api/me`; null where nobody is. @type {any} */
let me = null;
/** @type {AbortController | null} */
let leave = null;
let isUnshown = false;

/** What a page is given: where it draws, whose it is, its filters, and how it shows a short message. */
const context = (/** @type {string[]} */ rest, /** @type {URLSearchParams} */ chosen) => ({
  main,
  me,
  rest,
  chosen,
  notify,
  may: (/** @type {string} */ right) => me.rights.includes(right),
  /** A page may be left before it has come to this. */
  onLeave: (/** @type {AbortSignal} */ signal, /** @type {() => unknown} */ work) => {
    if (signal.aborted) work();
    else signal.addEventListener("abort", work, { once: true });
  },
  onReturn: (/** @type {AbortSignal} */ signal, /** @type {() => unknown} */ work) =>
    watchConnection((isReached) => {
      if (isReached) work();
    }, signal),
  signOut,
});

/** @type {number | undefined} */
let toastTimer;
function notify(/** @type {string} */ text, tone = "") {
  clearTimeout(toastTimer);
  toast.className = tone;
  toast.textContent = text;
  toastTimer = setTimeout(() => {
    toast.textContent = "";
  }, 6000);
}

async function start() {
  try {
    me = await ask("/api/me");
    if (me.rights.includes("see_tables")) await loadHouse();
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
  isUnshown = false;
  for (const one of main.querySelectorAll("img, video")) one.removeAttribute("src");
  leave = new AbortController();
  const { signal } = leave;
  amountsOf(null);
  if (me === null) {
    put(bar);
    bar.hidden = true;
    drawUnsigned(part("unsigned"), null);
    showSignIn({ main, onDone: start });
    return;
  }
  const address = location.pathname === "/" ? parseAddress(location.hash) : null;
  const page =
    address &&
    (PAGES.find((one) => one.path === address.path) ??
      PAGES.find((one) => me.rights.includes(one.right)) ??
      PAGES[PAGES.length - 1]);
  drawBar(bar, { me, page, pages: PAGES.filter((one) => one.name && me.rights.includes(one.right)) });
  tick();
  document.title = `${page ? (page.name ?? address.rest.join(" ")) : GONE.title} · Pitwatch`;
  noteUnsigned();
  if (page) await shown(page, address, signal);
  else put(main, unknownAddress());
}

/** The house says with every page what is not signed by now; where that cannot be read, the page itself says so. */
async function noteUnsigned() {
  if (me.rights.includes("see_tables")) await loadHouse().catch(() => null);
  drawUnsigned(part("unsigned"), me === null ? null : unsigned());
}

async function shown(
  /** @type {PageOfConsole} */ page,
  /** @type {{ rest: string[], chosen: URLSearchParams }} */ { rest, chosen },
  /** @type {AbortSignal} */ signal,
) {
  if (!me.rights.includes(page.right)) {
    put(main, refusal("Not shown", `The ${me.role} role has no right to see this page.`));
    return;
  }
  put(main, h("p", { class: "quiet" }, "Reading…"));
  try {
    await page.show(context(rest, chosen), signal);
  } catch (fault) {
    if (signal.aborted) return;
    if (fault.status === 401) {
      me = null;
      await route();
      return;
    }
    isUnshown = fault.status === 0;
    put(main, failed(rest, fault));
  }
}

/** @type {Record<number, string>} */
const REFUSED = { 0: "Not shown yet", 403: "Not shown", 404: "Not found" };

function failed(/** @type {string[]} */ rest, /** @type {Answer} */ { status, message }) {
  const text = `${capitalised(message)}.`;
  if (status === 0) return refusal(REFUSED[0], "The service cannot be reached. This page opens as soon as it answers.");
  return refusal(
    REFUSED[status] ?? "Not shown",
    status === 404 && rest.length ? `${text} Requested: ${rest.join(", ")}.` : text,
  );
}

const refusal = (/** @type {string} */ title, /** @type {string} */ text) =>
  h(
    "section",
    { class: "alone" },
    h("h1", {}, title),
    h("p", {}, text),
    h("p", { class: "head-links" }, h("a", { class: "button", href: "/#/" }, "Start page")),
  );

const unknownAddress = () =>
  refusal(
    GONE.title,
    `The console has no page at ${location.pathname === "/" ? "" : decodedPath()}${location.hash}. Check the link, or use the menu.`,
  );

function decodedPath() {
  try {
    return decodeURIComponent(location.pathname);
  } catch {
    return location.pathname;
  }
}

function tick() {
  const wall = document.getElementById("wall");
  if (wall) wall.textContent = `${clock(Date.now() * 1e6)} ${houseZone()}`;
}

/** Back again: a page that could not be shown is shown, and a session that ended is asked for. */
async function onReached() {
  if (me === null || isUnshown) {
    await start();
    return;
  }
  try {
    await ask("/api/me");
  } catch (refused) {
    if (refused.status !== 401) return;
    me = null;
    await route();
  }
}

addEventListener("hashchange", () => {
  if (location.pathname === "/") route();
  else location.replace(`/${location.hash}`);
});

/** A phone has the search in its menu. */
function focusSearch(/** @type {KeyboardEvent} */ event) {
  const found = document.getElementById("find");
  if (!found) return;
  event.preventDefault();
  if (!found.checkVisibility()) /** @type {HTMLElement} */ (bar.querySelector(".menu")).click();
  found.focus();
}

let isGoing = false;
addEventListener(
  "keydown",
  (event) => {
    if (me === null || isTyping(event)) return;
    const page = isGoing && PAGES.find((one) => one.key === event.key && me.rights.includes(one.right));
    isGoing = event.key === "g";
    if (event.key === "/") focusSearch(event);
    if (!page) return;
    event.stopImmediatePropagation();
    location.href = `/#/${page.path}`;
  },
  { capture: true },
);
/** An action drops its requests with the page it began on, and shows what the service refuses; all else is a fault of a script. */
addEventListener("unhandledrejection", (event) => {
  const { reason } = event;
  if (reason?.name === "AbortError") {
    event.preventDefault();
    return;
  }
  if (reason instanceof Refused) event.preventDefault();
  notify(reason instanceof Refused ? `${capitalised(reason.message)}.` : String(reason?.message ?? reason), "bad");
});
setInterval(tick, 1000);
keepConnection();
watchReading((share) => {
  drawReading(part("reading"), share);
  if (share === null && me !== null) route();
});
watchConnection((isReached) => {
  drawOffline(banner, clock);
  if (isReached) onReached();
});
start().catch((fault) => {
  isUnshown = fault.status === 0;
  put(main, failed([], fault));
});
