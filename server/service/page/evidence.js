// The pictures that a round rests on: each card as the camera saw it when the fact was published.

import { lostAt, watchConnection } from "./connection.js";
import { h, put } from "./dom.js";
import { cardText, fine, place } from "./words.js";

const MOST = 60;

/**
 * Fill `section` with the cards of a round's facts; nothing where there is no recording.
 *
 * Their places are laid out at once, so that nothing moves away beneath a pointer later.
 *
 * @returns {() => void} Loads the pictures.
 */
export function evidence(
  /** @type {HTMLElement} */ section,
  /** @type {{ session: string, events: TableEvent[], footage: Footage | null, go: (at: number) => void }} */ {
    session,
    events,
    footage,
    go,
  },
) {
  const camera = footage?.cameras[0];
  if (!camera) return () => undefined;
  const sighted = new Map(events.filter((event) => event.type === "card_sighted").map((event) => [event.seq, event]));
  const shown = events
    .filter((event) => event.type === "card_dealt" || event.type === "card_exposed")
    .flatMap((fact) => {
      const sighting = (fact.evidence ?? [])
        .map((/** @type {number} */ seq) => sighted.get(seq))
        .find((/** @type {Answer} */ one) => one?.face === "up");
      return sighting ? [{ fact, sighting }] : [];
    });
  if (!shown.length) return () => undefined;
  section.hidden = false;
  const missed = (/** @type {Answer} */ { target }) => {
    if (!target.hasAttribute("src")) return;
    if (lostAt() !== null) {
      retryLater(target);
      return;
    }
    target.closest("li").remove();
    section.hidden = !section.querySelector("li");
  };
  const pictures = shown.slice(0, MOST).map((/** @type {Answer} */ { fact, sighting }) => ({
    fact,
    sighting,
    image: h("img", {
      loading: "lazy",
      onerror: missed,
      width: 120,
      height: 108,
      alt: `${cardText(fact.card ?? null)}, as the camera saw it`,
    }),
  }));
  put(
    section,
    h("h2", {}, "Evidence pictures"),
    h(
      "ul",
      { class: "crops" },
      pictures.map(({ fact, sighting, image }) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", onclick: () => go(sighting.at) },
            image,
            h("span", { class: "crop-card" }, cardText(fact.card ?? null)),
            h("span", { class: "quiet" }, place(fact.to, fact.hand)),
            h("span", { class: "quiet num" }, fine(sighting.at)),
          ),
        ),
      ),
    ),
  );
  return () => {
    for (const { sighting, image } of pictures) image.src = cropPath(session, sighting.seq);
  };
}

/** Ask for a picture again once the service is reached. */
function retryLater(/** @type {HTMLImageElement} */ image) {
  const over = new AbortController();
  watchConnection((isReached) => {
    if (!isReached) return;
    over.abort();
    if (image.isConnected) image.src = image.getAttribute("src") ?? "";
  }, over.signal);
}

/** Where the picture of a sighting is: of its reading, or of the `whole` card, marked, with its surroundings. */
export const cropPath = (/** @type {string} */ session, /** @type {number} */ seq, { whole = false } = {}) =>
  `/api/sessions/${encodeURIComponent(session)}/cards/${seq}${whole ? "?whole=true" : ""}`;
