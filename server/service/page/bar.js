// The bar above every page: where one is, where one can go, and whether the service is reached.

import { checkConnection, lostAt } from "./connection.js";
import { h, put } from "./dom.js";
import { search } from "./search.js";
import { counted } from "./words.js";

/** Draw the bar of `me` into `bar`; `pages` are those that may be opened, `page` is the one shown. */
export function drawBar(
  /** @type {HTMLElement} */ bar,
  /** @type {{ me: Person, pages: PageOfConsole[], page: PageOfConsole | null }} */ { me, pages, page },
) {
  const links = pages.map((one) =>
    h(
      "a",
      {
        href: `#/${one.path}`,
        "aria-current": one === page || one.path === page?.under ? "page" : null,
        title: `Keys g ${one.key}`,
      },
      one.name,
    ),
  );
  const menu = h("nav", { id: "pages", "aria-label": "Pages" }, links);
  const open = h(
    "button",
    { type: "button", class: "menu", "aria-expanded": "false", "aria-controls": "pages" },
    "Menu",
  );
  const show = (/** @type {boolean} */ isOpen) => {
    bar.classList.toggle("open", isOpen);
    open.setAttribute("aria-expanded", String(isOpen));
  };
  open.addEventListener("click", () => show(open.getAttribute("aria-expanded") === "false"));
  menu.addEventListener("click", () => show(false));
  bar.onkeydown = ({ key }) => {
    if (key !== "Escape" || !bar.classList.contains("open")) return;
    show(false);
    open.focus();
  };
  show(false);
  bar.hidden = false;
  put(
    bar,
    h("a", { class: "brand", href: "#/floor", "aria-label": "Pitwatch, floor" }, "PITWATCH"),
    menu,
    me.rights.includes("see_rounds") && search(),
    h("span", { class: "wall num", id: "wall" }),
    h(
      "a",
      { class: "who", href: "#/own", "aria-current": page?.path === "own" ? "page" : null },
      h("b", {}, h("span", { class: "unseen" }, "Your account: "), me.name),
      me.role !== me.name && h("span", {}, me.role),
    ),
    open,
  );
}

/** On every page over a floor record: how many entries no signature of their table proves yet. */
export function drawUnsigned(
  /** @type {HTMLElement} */ place,
  /** @type {{ entries: number, tables: number } | null} */ left,
) {
  place.hidden = left === null;
  put(
    place,
    left &&
      `${counted(left.entries, "entry", "entries")} of ${counted(left.tables, "table")} not yet signed: the table's page says up to where it is proven.`,
  );
}

/** A banner that shows while the service reads its journals: until then every figure is of a part of them. */
export function drawReading(/** @type {HTMLElement} */ banner, /** @type {string | null} */ share) {
  banner.hidden = share === null;
  put(
    banner,
    h("strong", {}, `The service is reading the journals: ${share}.`),
    h("span", {}, " What the pages show is not complete yet. They are drawn anew once it is."),
  );
}

const AGAIN_MS = 6000;
/** @type {number | undefined} */
let ending;

/**
 * A banner that shows since when the service cannot be reached, in the place of `banner`. Once the
 * service is reached again, it shows that for a while, where it covers nothing.
 */
export function drawOffline(/** @type {HTMLElement} */ banner, /** @type {(at: number) => string} */ time) {
  const at = lostAt();
  clearTimeout(ending);
  document.body.classList.toggle("offline", at !== null);
  banner.classList.toggle("good", at === null);
  banner.hidden = false;
  if (at === null) {
    put(banner, h("strong", {}, "Connected again."));
    ending = setTimeout(() => {
      banner.hidden = true;
    }, AGAIN_MS);
    return;
  }
  put(
    banner,
    h("strong", {}, "The service cannot be reached"),
    h("span", {}, ` since ${time(at * 1e6)}. The page shows the state of that time and resumes by itself.`),
    h("button", { type: "button", onclick: checkConnection }, "Try now"),
  );
}
