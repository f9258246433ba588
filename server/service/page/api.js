// Requests to the service, and its streams.

import { checkConnection, reach, watchConnection } from "./connection.js";

const KEPT = "pitwatch.csrf";

/** A refusal of the service: `status`, and its own words; 0 where it cannot be reached. */
export class Refused extends Error {
  constructor(/** @type {number} */ status, /** @type {Answer} */ problem, /** @type {string | null} */ retryAfter) {
    super(problem?.detail ?? `the service answered ${status}`);
    Object.assign(this, { status, problem: problem ?? {}, retryAfter });
  }
}

export const keepCsrf = (/** @type {string | null} */ token) =>
  token ? localStorage.setItem(KEPT, token) : localStorage.removeItem(KEPT);

/**
 * Ask `path`; a body is sent as JSON. Throws `Refused`.
 *
 * @template {string} P
 * @param {P} path
 * @param {{ method?: string, body?: unknown, signal?: AbortSignal }} [how]
 * @returns {Promise<Api.Got<P>>}
 */
export async function ask(path, { method = "GET", body, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = localStorage.getItem(KEPT) ?? "";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await reached(path, {
    method,
    headers,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.ok) return /** @type {Api.Got<P>} */ (answer.status === 204 ? null : await answer.json());
  const problem = await answer.json().catch(() => null);
  throw new Refused(answer.status, problem, answer.headers.get("Retry-After"));
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function reached(path, options) {
  try {
    return await reach(path, options);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Refused(0, { detail: "The service cannot be reached. Nothing was sent" }, null);
  }
}

/**
 * Save what `path` gives as a file, by its own name where none is given; return the name. Throws
 * `Refused`.
 *
 * @param {string} path
 * @param {string | null} [name]
 */
export async function takeOut(path, name = null) {
  const answer = await reached(path);
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => null), null);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name ?? /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  link.click();
  URL.revokeObjectURL(link.href);
  return link.download;
}

/**
 * Have the browser save what `path` gives, as it arrives. It is no navigation, so one that the page
 * begins meanwhile does not cancel it.
 *
 * @param {string} path
 */
export function download(path) {
  const link = document.createElement("a");
  link.href = path;
  link.download = "";
  link.click();
}

/** @type {(path: string, body?: unknown) => Promise<Answer>} */
export const post = (path, body) => ask(path, { method: "POST", body });

/**
 * The path with what of `fields` is set as its query.
 *
 * @template {string} P
 * @param {P} path
 * @param {Record<string, any>} fields
 * @returns {P | `${P}?${string}`}
 */
export function query(path, fields) {
  const set = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return set.length ? `${path}?${new URLSearchParams(set)}` : path;
}

/**
 * What `path` answers, or null where there is no such thing.
 *
 * @template {string} P
 * @param {P} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<Api.Got<P> | null>}
 */
export async function maybe(path, signal) {
  try {
    return await ask(path, { signal });
  } catch (refused) {
    if (refused.status === 404) return null;
    throw refused;
  }
}

const one = encodeURIComponent;
export const paths = {
  table: (/** @type {string} */ table) => /** @type {const} */ (`/api/tables/${one(table)}`),
  session: (/** @type {string} */ session) => /** @type {const} */ (`/api/sessions/${one(session)}`),
  round: (/** @type {string} */ session, /** @type {number} */ round) =>
    /** @type {const} */ (`/api/sessions/${one(session)}/rounds/${round}`),
  phases: (/** @type {string} */ session, /** @type {number} */ round) =>
    /** @type {const} */ (`${paths.round(session, round)}/phases`),
  moment: (/** @type {string} */ session, /** @type {number} */ seq) =>
    /** @type {const} */ (`/api/sessions/${one(session)}/moments/${seq}`),
  events: (/** @type {string} */ session) => /** @type {const} */ (`/api/sessions/${one(session)}/events`),
};

/** When an event can be seen: the card lying, the chips free of the hand; null where it is not there. */
export const seenAt = async (
  /** @type {string} */ session,
  /** @type {number} */ seq,
  /** @type {AbortSignal | undefined} */ signal = undefined,
) => (await maybe(paths.moment(session, seq), signal))?.at ?? null;

/** All events of a session after `from` up to `to`, in their order. */
export async function eventsBetween(
  /** @type {string} */ session,
  /** @type {number} */ from,
  /** @type {number} */ to,
  /** @type {AbortSignal} */ signal,
) {
  /** @type {TableEvent[]} */
  const found = [];
  for (let last = from; last < to; ) {
    const part = await ask(query(paths.events(session), { after: last, limit: Math.min(500, to - last) }), { signal });
    if (part.last === last) break;
    found.push(.../** @type {TableEvent[]} */ (part.events));
    last = part.last;
  }
  return dated(found);
}

/** A journal may have entries without a time: they get that of the nearest before them, else after them, else 0. */
function dated(/** @type {TableEvent[]} */ events) {
  let last = events.find((event) => event.at)?.at ?? 0;
  return events.map((event) => {
    last = event.at || last;
    return event.at ? event : { ...event, at: last };
  });
}

/** The `seq` after which a round's own events begin: those that came before it belong to others. */
export async function roundStart(
  /** @type {string} */ session,
  /** @type {number} */ round,
  /** @type {AbortSignal} */ signal,
) {
  const before = round > 1 ? await maybe(paths.round(session, round - 1), signal) : null;
  return before ? before.last_seq : 0;
}

/**
 * Follow the stream from `places` ({ session: seq }), or of all sessions from now on where that is
 * null. It goes on by itself where it broke off. Call what is returned to end it.
 *
 * @param {Record<string, number> | null} places
 * @param {(session: string, event: TableEvent, phase?: string) => void} onEvent called with the round's
 *   phase after the event, where the service knows it
 * @param {(state: "live" | "waiting" | "ended") => void} onState
 */
export function follow(places, onEvent, onState) {
  /** @type {WebSocket} */
  let socket;
  /** @type {number | undefined} */
  let timer;
  let tries = 0,
    isOver = false;
  const over = new AbortController();
  const known = { ...(places ?? {}) };
  const connect = () => {
    const from = Object.entries(known)
      .map(([session, seq]) => `from=${one(`${session}:${seq}`)}`)
      .join("&");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/stream${places && from ? `?${from}` : ""}`);
    socket.addEventListener("open", () => {
      tries = 0;
      onState("live");
    });
    socket.addEventListener("message", ({ data }) => {
      const { session, event, phase } = JSON.parse(data);
      if (places) known[session] = Math.max(known[session] ?? 0, event.seq);
      onEvent(session, event, phase);
    });
    socket.addEventListener("close", ({ code }) => {
      if (isOver) return;
      if (code === 1008) {
        onState("ended");
        return;
      }
      onState("waiting");
      checkConnection();
      timer = setTimeout(connect, Math.min(8000, 300 * 2 ** tries++));
    });
  };
  watchConnection((isReached) => {
    if (!isReached) onState("waiting");
    else if (socket.readyState === WebSocket.OPEN) socket.close();
    else if (socket.readyState === WebSocket.CLOSED) {
      clearTimeout(timer);
      connect();
    }
  }, over.signal);
  connect();
  return () => {
    isOver = true;
    over.abort();
    clearTimeout(timer);
    socket.close();
  };
}
