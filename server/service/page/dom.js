// Elements in one call. Text is always set as text: nothing that came from a journal becomes markup.

const SVG = "http://www.w3.org/2000/svg";

export const h = (
  /** @type {string} */ tag,
  /** @type {Record<string, any> | null} */ attributes,
  /** @type {Child[]} */ ...children
) => fill(document.createElement(tag), attributes, children);

export const s = (
  /** @type {string} */ tag,
  /** @type {Record<string, any> | null} */ attributes,
  /** @type {Child[]} */ ...children
) => fill(document.createElementNS(SVG, tag), attributes, children);

function fill(
  /** @type {any} */ element,
  /** @type {Record<string, any> | null} */ attributes,
  /** @type {Child[]} */ children,
) {
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

function set(/** @type {any} */ element, /** @type {string} */ name, /** @type {any} */ value) {
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (value === true) element.setAttribute(name, "");
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
}

/** Put `children` in the place of whatever `element` holds. */
export function put(/** @type {any} */ element, /** @type {Child[]} */ ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false),
  );
}

/** Return a function that calls `work` at the next painting, however often it was asked to. */
export function painting(/** @type {() => void} */ work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Whether keys that were pressed are meant for a field and not for the page. */
export const isTyping = (/** @type {any} */ event) =>
  event.target.closest?.("input, textarea, select, dialog") !== null || event.ctrlKey || event.metaKey || event.altKey;
