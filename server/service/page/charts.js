import { h, put } from "./dom.js";

export async function showCharts({ main }) {
  put(main, h("h1", {}, "Charts"));
}
