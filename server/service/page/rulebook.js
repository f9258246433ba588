import { h, put } from "./dom.js";

export async function showRulebook({ main }) {
  put(main, h("h1", {}, "Rulebook"));
}
