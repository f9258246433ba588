// The search of every page: "BJ-07 at 21:14", read by the service in the house's zone.

import { addressOf, parseAddress } from "./address.js";
import { ask, query } from "./api.js";
import { h } from "./dom.js";
import { houseZone } from "./house.js";

/** Where a round is watched from a moment on. */
export const momentLink = (/** @type {Answer} */ round, /** @type {number} */ at) =>
  addressOf(["round", round.session, String(round.round), `at-${at}`]);

/** Go to what the words mean: the round that plays there, or the page that lets a person choose. */
async function find(/** @type {string} */ what) {
  const here = parseAddress(location.hash);
  const table = here?.path === "table" || here?.path === "rounds" ? (here.rest[0] ?? "") : "";
  const { moments } = await ask(query("/api/find", { what, table }));
  const [only] = moments;
  if (moments.length === 1 && only.round && only.go_to !== null) location.hash = momentLink(only.round, only.go_to);
  else location.hash = addressOf(["rounds", table], { what });
}

/** Return the field for the words; what cannot be read is refused in a message, and the page stays. */
export const search = () =>
  h(
    "form",
    {
      role: "search",
      "aria-label": "Search",
      async onsubmit(/** @type {Answer} */ event) {
        event.preventDefault();
        await find(event.target.elements.what.value);
      },
    },
    h("label", { for: "find", class: "unseen" }, "Find a moment"),
    h("input", {
      id: "find",
      name: "what",
      type: "search",
      required: true,
      maxlength: 200,
      placeholder: "BJ-07 at 21:14",
      autocomplete: "off",
      title: `Key /. Times are ${houseZone()} time.`,
    }),
  );
