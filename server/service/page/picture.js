// The camera's picture with the outlines of its cards drawn over it: still, live or as a clip.

import { maybe } from "./api.js";
import { watchConnection } from "./connection.js";
import { h, put, s } from "./dom.js";
import { placeLabels } from "./labels.js";
import { playLive } from "./live.js";
import { cardText } from "./words.js";
import { tool, zoomable } from "./zoom.js";

const CARD = { width: 63.5, height: 88.9 };
const LIVE_MS = 600;
/** A label's letters are as large on the screen, whatever the picture's size. */
const LABEL_PX = { wide: 13, narrow: 11 };
const NARROW_PX = 480;
const MOST_KNOWN = 400;

/** @typedef {[number, number]} Point */

/** What is known of a session's felt and cameras; of a round, its clips too. */
export const footageOf = (
  /** @type {string} */ session,
  /** @type {number | null} */ round,
  /** @type {AbortSignal} */ signal,
) => maybe(`/api/sessions/${encodeURIComponent(session)}${round ? `/rounds/${round}` : ""}/footage`, signal);

/** @type {(matrix: number[][], point: Point) => Point} */
const projected = (matrix, [x, y]) => {
  const [a, b, c] = matrix.map((row) => row[0] * x + row[1] * y + row[2]);
  return [a / c, b / c];
};

/**
 * @param {any} lens
 * @param {Point} point
 * @returns {Point}
 */
function bent(lens, [x, y]) {
  if (!lens) return [x, y];
  const away = [(x - lens.centre_px[0]) / lens.focal_px, (y - lens.centre_px[1]) / lens.focal_px];
  const square = away[0] ** 2 + away[1] ** 2;
  const grown = 1 + square * (lens.radial[0] + square * lens.radial[1]);
  const [across, down] = away.map((one, axis) => one * grown * lens.focal_px + lens.centre_px[axis]);
  return [across, down];
}

/**
 * The corners of a card in pixels of the camera's picture.
 *
 * @returns {Point[]}
 */
export function outline(
  /** @type {Camera} */ camera,
  /** @type {{ x: number, y: number, angle: number }} */ { x, y, angle },
) {
  const turn = (angle * Math.PI) / 180;
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([across, down]) => {
    const [u, v] = [(across * CARD.width) / 2, (down * CARD.height) / 2];
    /** @type {Point} */
    const mm = [x + u * Math.cos(turn) - v * Math.sin(turn), y + u * Math.sin(turn) + v * Math.cos(turn)];
    return bent(camera.lens, projected(camera.flat_from_mm, mm));
  });
}

/** Where a card's index is: what lies on it leaves that open. @type {(corners: Point[]) => Point} */
const index = ([[left, top], , [right, bottom]]) => [left + (right - left) * 0.22, top + (bottom - top) * 0.22];

/**
 * Beside the corner with the index, outside the card: what is read stays to be seen.
 *
 * @returns {Point}
 */
function beside(/** @type {Point[]} */ corners, /** @type {number} */ width, /** @type {number} */ height) {
  const [left, top] = corners[0];
  const middle = [0, 1].map((axis) => corners.reduce((sum, one) => sum + one[axis], 0) / corners.length);
  const away = [left - middle[0], top - middle[1]];
  const length = Math.hypot(...away) || 1;
  return [left + (away[0] / length) * width * 0.55, top + (away[1] / length) * height * 0.7];
}

const kindOf = (/** @type {Track} */ track) =>
  track.isForeign ? "foreign" : track.face === "down" ? "down" : track.card ? "known" : "unread";

/** The outlines of `table`'s cards and their labels; `size` is of a letter, in pixels of the picture. */
function outlines(/** @type {Camera} */ camera, /** @type {Table} */ table, /** @type {number} */ size) {
  const seen = Object.values(table.tracks)
    .filter((one) => one.source === `camera:${camera.name}`)
    .map((one) => ({
      name: kindOf(one),
      corners: outline(camera, one),
      text: one.face === "up" ? (one.isForeign ? "no such card" : cardText(one.card)) : "",
    }));
  const named = seen
    .filter((one) => one.text)
    .map((one) => {
      const [width, height] = [size * (0.62 * one.text.length + 0.6), size * 1.3];
      return { ...one, width, height, anchor: beside(one.corners, width, height), point: index(one.corners) };
    });
  const placed = placeLabels(named, { width: camera.width_px, height: camera.height_px });
  return [
    seen.map((one) => s("polygon", { class: one.name, points: one.corners.map((corner) => corner.join()).join(" ") })),
    named.map((one, number) => placed[number].isAway && leader(one, placed[number])),
    named.map((one, number) => label(one, placed[number], size)),
  ];
}

const label = (
  /** @type {CardLabel & { name: string, text: string }} */ { name, text, width, height },
  /** @type {Placed} */ { x, y },
  /** @type {number} */ size,
) =>
  s(
    "g",
    { class: `label ${name}`, transform: `translate(${x} ${y})` },
    s("rect", { x: -width / 2, y: -height / 2, width, height, rx: height / 4 }),
    s("text", { y: size * 0.35, "font-size": size }, text),
  );

const leader = (
  /** @type {CardLabel & { name: string, text: string }} */ { name, point: [x1, y1] },
  /** @type {Placed} */ { x: x2, y: y2 },
) => s("line", { class: `leader ${name}`, x1, y1, x2, y2 });

/**
 * A frame for a camera's picture. `show(table)` draws the outlines; `clip` is its <video> where it
 * plays one, `actions` are more tools ([{ name, key, work, text }]), `keys` what its tools do by
 * key, and `end` is called when the page is left.
 *
 * @param {any} camera
 * @param {{ clip?: any, live?: boolean, actions?: any[] }} [more]
 */
export function pictureFrame(camera, { clip = null, live = false, actions = [] } = {}) {
  const over = s("svg", {
    class: "outlines",
    viewBox: `0 0 ${camera.width_px} ${camera.height_px}`,
    "aria-hidden": "true",
  });
  const note = h("p", { class: "picture-note", role: "status" }, clip && "Loading the video…");
  const video =
    clip &&
    h("video", {
      src: clip.url,
      muted: true,
      playsinline: true,
      preload: "auto",
      "aria-label": `Camera ${camera.name}, the round's video`,
      onerror: () => {
        if (video.hasAttribute("src")) note.textContent = "The clip cannot be played.";
      },
      onloadeddata: () => {
        note.textContent = "";
      },
    });
  const lens = h("div", { class: "lens" }, video, over);
  const stage = h(
    "div",
    { class: "stage", tabindex: 0, role: "group", "aria-label": `Picture of camera ${camera.name}` },
    lens,
    note,
  );
  const tools = h("div", { class: "view-tools", role: "toolbar", "aria-label": "Picture" });
  const caption = h("figcaption", {}, `Camera ${camera.name}`);
  const frame = h("figure", { class: "picture" }, stage, h("div", { class: "view-bar" }, caption, tools));
  stage.style.setProperty("--ratio", camera.width_px / camera.height_px);
  /** @type {Table | null} */
  let shown = null;
  const letter = () => {
    const wide = stage.clientWidth || camera.width_px;
    return ((wide < NARROW_PX ? LABEL_PX.narrow : LABEL_PX.wide) * camera.width_px) / (wide * zoom.scale());
  };
  const draw = (/** @type {Table} */ table) => {
    shown = table;
    put(over, outlines(camera, table, letter()));
  };
  const zoom = zoomable({
    figure: frame,
    stage,
    lens,
    onScale: () => {
      if (shown) draw(shown);
    },
  });
  put(
    tools,
    actions.map((one) => tool(one.name, one.key, one.work, one.text)),
    zoom.tools,
  );
  const keys = { ...zoom.keys, ...Object.fromEntries(actions.map((one) => [one.key, one.work])) };
  const leaving = new AbortController();
  if (video)
    watchConnection((isReached) => {
      if (isReached && video.error) video.load();
    }, leaving.signal);
  const base = { frame, video, keys, caption };
  const end = () => {
    leaving.abort();
    zoom.end();
  };
  if (!live) return { ...base, show: draw, end };
  const shows = now(camera, { lens, note, caption }, draw);
  return {
    ...base,
    show: shows.show,
    end: () => {
      end();
      shows.end();
    },
  };
}

/** The table now: its video while it is recorded, else the picture of its last moment. */
function now(
  /** @type {Camera} */ camera,
  /** @type {{ lens: HTMLElement, note: HTMLElement, caption: HTMLElement }} */ { lens, note, caption },
  /** @type {(table: any) => void} */ draw,
) {
  const image = h("img", { alt: `Camera ${camera.name}, the table now` });
  const ask = refreshing(camera, image, note);
  lens.prepend(image);
  if (!camera.live || !window.MediaSource)
    return {
      show(/** @type {Table} */ table) {
        draw(table);
        ask(table.at);
      },
      end: () => null,
    };
  const video = h("video", {
    muted: true,
    playsinline: true,
    hidden: true,
    "aria-label": `Camera ${camera.name}, live`,
  });
  lens.prepend(video);
  /** @type {any} */
  let latest = null;
  /** @type {any[]} */
  let known = [];
  let isPlaying = false;
  const drawPlayed = () => {
    const at = camera.start_ns + video.currentTime * 1e9;
    known = known.slice(
      Math.max(
        0,
        known.findLastIndex((one) => one.at <= at),
      ),
    );
    draw(known[0]?.at <= at ? known[0] : { tracks: {} });
    const ago = Math.round((Date.now() * 1e6 - at) / 1e9);
    caption.textContent = `Camera ${camera.name}, ${ago >= 0 && ago < 60 ? `${ago} s ago` : "live"}`;
  };
  video.addEventListener("timeupdate", () => {
    if (isPlaying) drawPlayed();
  });
  const end = playLive(video, camera.live, (/** @type {boolean} */ plays) => {
    isPlaying = plays;
    video.hidden = !plays;
    image.hidden = plays;
    caption.textContent = `Camera ${camera.name}`;
    if (plays) note.textContent = "";
    else if (latest) {
      draw(latest);
      ask(latest.at);
    }
  });
  return {
    end,
    show(/** @type {Table} */ table) {
      latest = table;
      known = [...known.slice(-MOST_KNOWN), { at: table.at, tracks: { ...table.tracks } }];
      if (!isPlaying) {
        draw(table);
        ask(table.at);
      }
    },
  };
}

/** Ask for one picture at a time, and never for one that is shown already. */
function refreshing(
  /** @type {Camera} */ camera,
  /** @type {HTMLImageElement} */ image,
  /** @type {HTMLElement} */ note,
) {
  /** @type {number | null} */
  let shown = null;
  /** @type {number | null} */
  let wanted = null;
  let isBusy = false;
  const next = () => {
    isBusy = false;
    if (wanted !== shown) ask(wanted);
  };
  const ask = (/** @type {number | null} */ at) => {
    wanted = at;
    if (isBusy || at === null || at === shown) return;
    isBusy = true;
    shown = at;
    image.src = `${camera.pictures}?at=${at}`;
  };
  image.addEventListener("load", () => {
    note.textContent = "";
    setTimeout(next, LIVE_MS);
  });
  image.addEventListener("error", () => {
    note.textContent = "No picture of this moment.";
    setTimeout(next, LIVE_MS);
  });
  return ask;
}

/** Shown where there is no picture. */
export const noPicture = () =>
  h(
    "div",
    { class: "picture none" },
    h("p", {}, "There is no recording of this session."),
    h("p", { class: "quiet" }, "The felt is drawn from the journal alone."),
  );
