import { h, put } from "./dom.js";

export async function showQueue({ main }) {
  put(main, h("h1", {}, "Incidents"));
}
