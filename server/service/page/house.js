// How the house writes times and amounts, and what it exports, from the service.
// Nothing here or elsewhere asks for the browser's own zone.

import { ask } from "./api.js";

/** @type {HouseFormats} */
const DEFAULT = {
  zone: "UTC",
  locale: "en",
  currency: { code: "USD", decimals: 2 },
  shifts: ["04:00", "12:00", "20:00"],
  others: {},
  exports: ["csv"],
  unsigned: null,
};

let house = DEFAULT;
let formats = made(house);

/** Take in the formats of the house. */
export function setHouse(/** @type {HouseFormats} */ received) {
  house = received;
  formats = made(house);
}

export const loadHouse = async () => setHouse(await ask("/api/house"));

export const houseZone = () => house.zone;
export const houseShifts = () => house.shifts;

/** How much the tables' signatures do not prove yet of a floor record: { entries, tables }; else null. */
export const unsigned = () => house.unsigned;

/** The formats of exported lists: Parquet only where the service can write it. */
export const houseExports = () => house.exports;

/** The currency of a table: { code, decimals }; without one, the house's. */
export const currencyOf = (/** @type {string | null} */ table) => house.others[table ?? ""] ?? house.currency;

/** Whether a table deals in another currency than the house. */
export const isForeign = (/** @type {string | null} */ table) => (table ?? "") in house.others;

function made(/** @type {HouseFormats} */ { zone, locale }) {
  const base = { timeZone: zone, numberingSystem: "latn", calendar: "gregory" };
  const of = (/** @type {Intl.DateTimeFormatOptions} */ options) =>
    new Intl.DateTimeFormat(locale, { ...base, ...options });
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = { hourCycle: "h23", hour: "2-digit", minute: "2-digit" };
  return {
    day: of({ dateStyle: "medium" }),
    shortDay: of({ day: "numeric", month: "short" }),
    parts: new Intl.DateTimeFormat("en", { ...base, ...clock, second: "2-digit" }),
    offset: new Intl.DateTimeFormat("en", { ...base, timeZoneName: "longOffset" }),
    number: (/** @type {number} */ decimals) =>
      new Intl.NumberFormat(locale, {
        numberingSystem: "latn",
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      }),
    amounts: new Map(),
  };
}

export const dayOf = (/** @type {Date} */ date) => formats.day.format(date);
export const shortDayOf = (/** @type {Date} */ date) => formats.shortDay.format(date);

/** `21:14:05`, with hours from 0 to 23 whatever the locale. */
export const clockOf = (/** @type {Date} */ date) => formats.parts.format(date);

/** `UTC`, `UTC+02:00`: how far the house's clocks are from UTC at a moment. */
export function offsetOf(/** @type {Date} */ date) {
  const part = formats.offset.formatToParts(date).find((one) => one.type === "timeZoneName");
  return (part?.value ?? "").replace("GMT", "UTC").replace("+00:00", "");
}

/** Write whole minor units, without their currency. */
export function amountOf(/** @type {number} */ minor, /** @type {Currency} */ { code, decimals }) {
  if (!formats.amounts.has(code)) formats.amounts.set(code, formats.number(decimals));
  const digits = String(Math.abs(minor)).padStart(decimals + 1, "0");
  const exact = decimals ? `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}` : digits;
  return formats.amounts.get(code).format(minor < 0 ? `-${exact}` : exact);
}

export const countOf = (/** @type {number} */ number) => formats.number(0).format(number);
