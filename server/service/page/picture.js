// The camera's picture with the outlines of its cards drawn over it: still, live or as a clip.

import { maybe } from "./api.js";
import { h, put, s } from "./dom.js";
import { cardText } from "./words.js";

const CARD = { width: 63.5, height: 88.9 };
const LIVE_MS = 600;

/** What is known of a session's felt and cameras; of a round, its clips too. */
export const footageOf = (session, round, signal) =>
  maybe(`/api/sessions/${encodeURIComponent(session)}${round ? `/rounds/${round}` : ""}/footage`, signal);

const projected = (matrix, [x, y]) => {
  const [a, b, c] = matrix.map((row) => row[0] * x + row[1] * y + row[2]);
  return [a / c, b / c];
};

function bent(lens, [x, y]) {
  if (!lens) return [x, y];
  const away = [(x - lens.centre_px[0]) / lens.focal_px, (y - lens.centre_px[1]) / lens.focal_px];
  const square = away[0] ** 2 + away[1] ** 2;
  const grown = 1 + square * (lens.radial[0] + square * lens.radial[1]);
  return away.map((one, axis) => one * grown * lens.focal_px + lens.centre_px[axis]);
}

/** The corners of a card in pixels of the camera's picture. */
export function outline(camera, { x, y, angle }) {
  const turn = (angle * Math.PI) / 180;
  return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([across, down]) => {
    const [u, v] = [(across * CARD.width) / 2, (down * CARD.height) / 2];
    const mm = [x + u * Math.cos(turn) - v * Math.sin(turn), y + u * Math.sin(turn) + v * Math.cos(turn)];
    return bent(camera.lens, projected(camera.flat_from_mm, mm));
  });
}

/** Where a card's index is: what lies on it leaves that open. */
const index = ([[left, top], , [right, bottom]]) => [left + (right - left) * 0.22, top + (bottom - top) * 0.22];

function outlines(camera, table) {
  const seen = Object.values(table.tracks).filter((one) => one.source === `camera:${camera.name}`);
  return seen.map((one) => {
    const corners = outline(camera, one);
    const name = one.isForeign ? "foreign" : one.face === "down" ? "down" : one.card ? "known" : "unread";
    const [x, y] = index(corners);
    const size = Math.max(camera.width_px / 80, 12);
    return [
      s("polygon", { class: name, points: corners.map((corner) => corner.join()).join(" ") }),
      one.face === "up" && s("text", { x, y: y + size / 3, "font-size": size }, one.isForeign ? "no such card" : cardText(one.card)),
    ];
  });
}

/**
 * A frame for a camera's picture. `show(table)` draws the outlines and, if it is live, asks for
 * the picture of the table's last moment; `clip` is its <video> where it plays one.
 */
export function pictureFrame(camera, { clip = null, live = false } = {}) {
  const over = s("svg", { class: "outlines", viewBox: `0 0 ${camera.width_px} ${camera.height_px}`, "aria-hidden": "true" });
  const note = h("p", { class: "picture-note", role: "status" });
  const video = clip && h("video", {
    src: clip.url, muted: true, playsinline: true, preload: "auto", "aria-label": `Camera ${camera.name}, the round's video`,
    onerror: () => { note.textContent = "The clip cannot be played."; },
  });
  const image = live && h("img", { alt: `Camera ${camera.name}, the table now` });
  const frame = h("figure", { class: "picture" }, h("div", { class: "stage" }, video || image, over, note),
    h("figcaption", {}, `Camera ${camera.name}`));
  frame.querySelector(".stage").style.aspectRatio = `${camera.width_px} / ${camera.height_px}`;
  const ask = live ? refreshing(camera, image, note) : () => null;
  return {
    frame, video,
    show(table) {
      put(over, outlines(camera, table));
      ask(table.at);
    },
  };
}

/** Ask for one picture at a time, and never for one that is shown already. */
function refreshing(camera, image, note) {
  let shown = null, wanted = null, isBusy = false;
  const next = () => {
    isBusy = false;
    if (wanted !== shown) ask(wanted);
  };
  const ask = (at) => {
    wanted = at;
    if (isBusy || at === null || at === shown) return;
    isBusy = true;
    shown = at;
    image.src = `${camera.pictures}?at=${at}`;
  };
  image.addEventListener("load", () => { note.textContent = ""; setTimeout(next, LIVE_MS); });
  image.addEventListener("error", () => { note.textContent = "No picture of this moment."; setTimeout(next, LIVE_MS); });
  return ask;
}

/** Said where there is no picture to show. */
export const noPicture = () =>
  h("div", { class: "picture none" }, h("p", {}, "No recording of this session lies here."),
    h("p", { class: "quiet" }, "The felt is drawn from the journal alone."));
