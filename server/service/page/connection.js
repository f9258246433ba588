// Whether the service can be reached. Every answer and every failure is noted here; while it cannot
// be reached it is asked again until it answers. Watchers are notified of each change.

const EVERY_MS = 5000;
const PATIENCE_MS = 4000;
const FIRST_TRY_MS = 400;
const LONGEST_TRY_MS = 4000;
const READING_MS = 500;
const READING = "Pitwatch-Reading";
const PROXY_REFUSALS = new Set([502, 504]);

/** @type {{ lostAt: number | null, tries: number, timer: number | undefined, isAsking: boolean, reading: string | null }} */
const state = { lostAt: null, tries: 0, timer: undefined, isAsking: false, reading: null };
const watchers = new Set();
const readingWatchers = new Set();

/** When the connection was lost (ms), or null while the service is reached. */
export const lostAt = () => state.lostAt;

/**
 * Call `watcher` with true when the service is reached again and with false when it is lost, until
 * `signal` is aborted.
 */
export function watchConnection(
  /** @type {(isReached: boolean) => void} */ watcher,
  /** @type {AbortSignal | null} */ signal = null,
) {
  if (signal?.aborted) return;
  watchers.add(watcher);
  signal?.addEventListener("abort", () => watchers.delete(watcher), { once: true });
}

/** Call `watcher` with how much of its journals the service has read, and with null once it has read all. */
export const watchReading = (/** @type {(share: string | null) => void} */ watcher) => readingWatchers.add(watcher);

/** Ask `fetch`, and note whether the service answered. */
export async function reach(/** @type {string} */ path, /** @type {RequestInit | undefined} */ options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (fault) {
    if (fault.name !== "AbortError") noteLost();
    throw fault;
  }
  if (PROXY_REFUSALS.has(answer.status)) noteLost();
  else noteReached();
  noteReading(answer.headers.get(READING));
  return answer;
}

/** Find out now, whatever the next time to ask would be. */
export async function checkConnection() {
  if (state.isAsking) return;
  state.isAsking = true;
  clearTimeout(state.timer);
  try {
    await reach("/health", { cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch {
    noteLost();
  } finally {
    state.isAsking = false;
    plan();
  }
}

/** Begin to look after the connection. */
export function keepConnection() {
  addEventListener("offline", checkConnection);
  addEventListener("online", checkConnection);
  plan();
}

function plan() {
  clearTimeout(state.timer);
  const wait =
    state.lostAt === null
      ? state.reading === null
        ? EVERY_MS
        : READING_MS
      : Math.min(LONGEST_TRY_MS, FIRST_TRY_MS * 2 ** state.tries++);
  state.timer = setTimeout(checkConnection, wait);
}

function noteLost() {
  if (state.lostAt !== null) return;
  Object.assign(state, { lostAt: Date.now(), tries: 0 });
  notifyWatchers(false);
  if (!state.isAsking) plan();
}

function noteReached() {
  if (state.lostAt === null) return;
  state.lostAt = null;
  notifyWatchers(true);
}

function noteReading(/** @type {string | null} */ share) {
  if (state.reading === share) return;
  const isNew = state.reading === null;
  state.reading = share;
  for (const watcher of readingWatchers) watcher(share);
  if (isNew && !state.isAsking) plan();
}

const notifyWatchers = (/** @type {boolean} */ isReached) => {
  for (const watcher of [...watchers]) watcher(isReached);
};
