// The faults of devices in words; `pitwatch run` and `replay` print the same ones.

/** @type {Record<string, string[]>} */
const FAULTS = {
  link_lost: ["no signal", "loss of signal", "losses of signal"],
  restarts_spent: ["lost too often; next try later", "pause after too many losses", "pauses after too many losses"],
  overloaded: ["overload, pictures are left out", "overload"],
  left_out: ["pictures left out", "picture left out", "pictures left out"],
  damaged: ["damaged packets", "damaged packet"],
  unwatched: ["not watched", "time unwatched", "times unwatched"],
  size_changed: ["picture size changed", "change of picture size", "changes of picture size"],
  black: ["picture black", "black picture"],
  overexposed: ["picture overexposed", "overexposed picture"],
  clock: ["clock apart from the shoe's", "time with a clock apart", "times with a clock apart"],
  mirrored: ["picture mirrored", "mirrored picture", "mirrored pictures"],
  incomplete: ["part of the picture lost", "incomplete picture", "incomplete pictures"],
  frozen: ["picture frozen", "frozen picture"],
  unfocused: ["picture unfocused", "unfocused picture"],
  moved: ["camera moved", "move of the camera", "moves of the camera"],
  obstructed: ["view obstructed", "obstructed view"],
  covered: ["felt covered", "time covered", "times covered"],
  held_back_misfit: [
    "faces held back, outline misfits",
    "face held back, outline misfits",
    "faces held back, outline misfits",
  ],
  held_back_moving: ["faces held back, not at rest", "face held back, not at rest", "faces held back, not at rest"],
  held_back_cut: ["faces held back, cut off", "face held back, cut off", "faces held back, cut off"],
  held_back_felt: ["faces held back, felt shows", "face held back, felt shows", "faces held back, felt shows"],
  held_back_print: [
    "faces held back, print of other cards",
    "face held back, print of other cards",
    "faces held back, print of other cards",
  ],
  held_back_twice: [
    "faces held back, another face there",
    "face held back, another face there",
    "faces held back, another face there",
  ],
  checksum: ["bad checksum", "bad checksum"],
  gap: ["cards missing", "gap in the draws", "gaps in the draws"],
  lost_line: ["line of the recording lost", "lost line", "lost lines"],
};

/** What to do about a fault that lasts, where its name does not say it. @type {Record<string, string>} */
const WAYS_OUT = {
  overloaded:
    "Let the camera send fewer or smaller pictures (a USB camera: fps and size of cameras.stream; a network camera: its own settings, or the url of a smaller stream), end other programs on the table's machine, or use a faster one",
};

/** A code of the journal as plain words. */
export const plain = (/** @type {string} */ kind) => kind.replaceAll("_", " ");

/** A fault that lasts, as a state. */
export const faultText = (/** @type {string} */ kind) => FAULTS[kind]?.[0] ?? plain(kind);

export const wayOut = (/** @type {string} */ kind) => WAYS_OUT[kind] ?? null;

/** One fault of a kind that has passed, and several: `["overload", undefined]`. */
export const passedNames = (/** @type {string} */ kind) => FAULTS[kind]?.slice(1) ?? [];
