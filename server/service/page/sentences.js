// Descriptions of mistakes, with amounts in the format of the house. The journal keeps
// them in one plain form; the service sends the patterns of their sentences.

import { capitalised, money, withPips } from "./words.js";

const AMOUNT = /-?\d{1,3}(?:,\d{3})*\.\d\d/g;
/** @type {Record<string, string>} */
const PLACES = {
  "{amount}": `(${AMOUNT.source})`,
  "{number}": "(\\d+)",
  "{wager}": "((?:the \\w+ of )?spot \\d+(?:, hand \\d+)?)",
};
/** @type {{ parts: string[], shape: RegExp }[]} */
let shapes = [];

const escaped = (/** @type {string} */ text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Take in the patterns from the service. */
export function readSentences(/** @type {string[]} */ sentences) {
  shapes = sentences.map((one) => {
    const parts = one.split(/(\{amount\}|\{number\}|\{wager\})/);
    return { parts, shape: new RegExp(`^${parts.map((part) => PLACES[part] ?? escaped(part)).join("")}$`) };
  });
}

/** Write a mistake's detail; one that no sentence wrote names no amount. */
export function sentence(/** @type {string} */ detail) {
  for (const { parts, shape } of shapes) {
    const found = shape.exec(detail);
    if (found) return written(parts, found.slice(1));
  }
  return withPips(detail);
}

/** Write what a round or a mistake of it came to, in one sentence; nothing for nothing. */
export const sentences = (/** @type {string[]} */ says) =>
  says.length ? `${capitalised(says.map(sentence).join("; "))}.` : "";

const written = (/** @type {string[]} */ parts, /** @type {string[]} */ values) =>
  parts
    .map((part) => {
      if (!(part in PLACES)) return part;
      const value = values.shift() ?? "";
      return part === "{amount}" ? amount(value) : value;
    })
    .join("");

const amount = (/** @type {string} */ text) => money(Number(text.replace(/[,.]/g, "")));
