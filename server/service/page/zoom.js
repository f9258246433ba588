// Looking closer at a picture: by buttons, keys, wheel, pinch and drag, also in full screen.

import { h, s } from "./dom.js";

const MOST = 12;
const STEP = 1.5;
const CLOSE = 3;
const PAN_PX = 60;

/**
 * Let `lens` be enlarged within `stage`; `figure` is what fills the screen. `onScale` is called
 * whenever its size on the screen has changed. Returns { tools, keys, scale, end }.
 */
export function zoomable(
  /** @type {{ figure: HTMLElement, stage: HTMLElement, lens: HTMLElement, onScale: () => void }} */ {
    figure,
    stage,
    lens,
    onScale,
  },
) {
  const view = { scale: 1, x: 0, y: 0 };
  const level = h("output", { class: "num", "aria-label": "Enlarged" }, "100%");
  const fingers = new Map();

  function apply() {
    const { clientWidth: wide, clientHeight: high } = stage;
    view.x = Math.min(0, Math.max(wide * (1 - view.scale), view.x));
    view.y = Math.min(0, Math.max(high * (1 - view.scale), view.y));
    lens.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    lens.style.setProperty("--zoom", String(view.scale));
    stage.classList.toggle("close", view.scale > 1);
    level.textContent = `${Math.round(view.scale * 100)}%`;
    onScale();
  }

  /** Enlarge by `factor`; what lies at (x, y) of the stage stays where it is. */
  function by(/** @type {number} */ factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.min(MOST, Math.max(1, view.scale * factor));
    const ratio = scale / view.scale;
    Object.assign(view, { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio });
    apply();
  }

  const whole = () => {
    Object.assign(view, { scale: 1, x: 0, y: 0 });
    apply();
  };
  const isFull = () => document.fullscreenElement === figure;
  const fill = () => (isFull() ? document.exitFullscreen() : figure.requestFullscreen()).catch(() => null);
  const at = (/** @type {Answer} */ event) => {
    const { left, top } = stage.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  stage.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !isFull()) return;
      event.preventDefault();
      by(Math.exp(-event.deltaY / 300), ...at(event));
    },
    { passive: false },
  );
  stage.addEventListener("dblclick", (event) => (view.scale > 1 ? whole() : by(CLOSE, ...at(event))));
  stage.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, at(event));
    if (view.scale > 1 || fingers.size > 1) stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, now);
    if (other) {
      const spread = (/** @type {number[]} */ one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
      by(spread(now) / Math.max(1, spread(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (view.scale > 1) {
      view.x += now[0] - before[0];
      view.y += now[1] - before[1];
      apply();
    }
  });
  for (const end of /** @type {const} */ (["pointerup", "pointercancel"]))
    stage.addEventListener(end, (event) => fingers.delete(event.pointerId));
  stage.addEventListener("keydown", (event) => {
    const [x, y] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
    if (x === undefined || view.scale === 1) return;
    event.preventDefault();
    event.stopPropagation();
    view.x += x * PAN_PX;
    view.y += y * PAN_PX;
    apply();
  });

  const full = tool("Full screen", "f", fill, corners());
  const watchSize = new ResizeObserver(apply);
  watchSize.observe(stage);
  const onFull = () => full.setAttribute("aria-pressed", String(isFull()));
  figure.addEventListener("fullscreenchange", onFull);
  return {
    tools: [
      tool("Smaller", "-", () => by(1 / STEP), "−"),
      level,
      tool("Larger", "+", () => by(STEP), "+"),
      tool("Fit the whole picture", "0", whole, "Fit"),
      full,
    ],
    keys: { "+": () => by(STEP), "=": () => by(STEP), "-": () => by(1 / STEP), 0: whole, f: fill },
    scale: () => view.scale,
    end: () => watchSize.disconnect(),
  };
}

const corners = () =>
  s(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    s("path", {
      d: "M2 6V2H6M10 2H14V6M14 10V14H10M6 14H2V10",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.8,
    }),
  );

/** A button of the picture's toolbar, with its key in its tip. */
export const tool = (
  /** @type {string} */ name,
  /** @type {string} */ key,
  /** @type {() => unknown} */ work,
  text = name,
) =>
  h(
    "button",
    {
      type: "button",
      class: "tool",
      title: `${name} (key ${key})`,
      "aria-label": text === name ? null : name,
      onclick: work,
    },
    text,
  );
