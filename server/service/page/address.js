// Addresses of the console's pages: every form that the page, its reports and its messages print.

/** @type {Record<string, string>} */
const NAMES = {
  floor: "floor",
  table: "table",
  tables: "table",
  incident: "incidents",
  incidents: "incidents",
  round: "round",
  rounds: "rounds",
  charts: "charts",
  rulebook: "rulebook",
  people: "people",
  own: "own",
};
/** @type {Record<string, [number, number]>} */
const ARGUMENTS = {
  floor: [0, 0],
  table: [1, 1],
  incidents: [0, 1],
  round: [2, 3],
  rounds: [0, 1],
  charts: [0, 0],
  rulebook: [0, 1],
  people: [0, 0],
  own: [0, 0],
};
const IS_NUMBER = /^\d{1,15}$/;
/** Where a round is opened: at an event's number, or `at-` a moment in nanoseconds, which plays. */
const IS_PLACE = /^(\d{1,15}|at-\d{1,19})$/;

/**
 * Read what stands behind the `#`: { path, rest, chosen } of a page, or null where there is no such page.
 * `chosen` are the page's filters, behind a `?`. An empty address is the first page: its path is "".
 */
export function parseAddress(/** @type {string} */ hash) {
  const parts = parted(hash);
  if (parts === null) return null;
  const chosen = new URLSearchParams(hash.split("?")[1]);
  if (parts.length === 0) return { path: "", rest: [], chosen };
  const [name, ...rest] = parts;
  if (!Object.hasOwn(NAMES, name)) return null;
  const path = canonical(name, rest);
  const [least, most] = ARGUMENTS[path];
  if (rest.length < least || rest.length > most) return null;
  if (path === "round" && !isRound(rest)) return null;
  return { path, rest, chosen };
}

const isRound = (/** @type {string[]} */ [, round, place]) =>
  IS_NUMBER.test(round) && (place === undefined || IS_PLACE.test(place));

/** `#/tables` is the floor, `#/rounds/bj-07/12` a round. */
function canonical(/** @type {string} */ name, /** @type {string[]} */ rest) {
  if (name === "tables" && rest.length === 0) return "floor";
  if (name === "rounds" && rest.length > 1) return "round";
  return NAMES[name];
}

function parted(/** @type {string} */ hash) {
  try {
    return hash.replace(/^#\/?/, "").split("?")[0].split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** Write the address of a page with its filters; what is empty is left out. */
export function addressOf(/** @type {string[]} */ parts, /** @type {Record<string, string>} */ chosen = {}) {
  const given = Object.entries(chosen).filter(([, value]) => value !== "");
  const path = `#/${parts.filter(Boolean).map(encodeURIComponent).join("/")}`;
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
