// Labels beside cards: none covers another, however small or close the cards are, and none covers
// a card's index where there is room elsewhere.

const GAP = 0.12;
const RINGS = 24;
const DIRECTIONS = 12;
/** Covering an index is a lesser evil than covering half a label, and than standing far away. */
const INDEX_COST = 0.35;

const box = (/** @type {{ width: number, height: number }} */ { width, height }, /** @type {number[]} */ [x, y]) => ({
  left: x - width / 2,
  right: x + width / 2,
  top: y - height / 2,
  bottom: y + height / 2,
});

const overlap = (/** @type {Rectangle} */ one, /** @type {Rectangle} */ other) =>
  Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) *
  Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));

const grown = (/** @type {Rectangle} */ one, /** @type {number} */ by) => ({
  left: one.left - by,
  right: one.right + by,
  top: one.top - by,
  bottom: one.bottom + by,
});

const within = (/** @type {Rectangle} */ one, /** @type {{ width: number, height: number }} */ bounds) =>
  one.left >= 0 && one.top >= 0 && one.right <= bounds.width && one.bottom <= bounds.height;

const holds = (/** @type {Rectangle} */ one, /** @type {number[]} */ [x, y]) =>
  one.left <= x && x <= one.right && one.top <= y && y <= one.bottom;

/** Where a label may stand, the best place first: at its anchor, beside the card, further off. */
function* places(/** @type {CardLabel} */ { anchor, corners, width, height }) {
  yield anchor;
  const xs = corners.map((/** @type {number[]} */ [x]) => x),
    ys = corners.map((/** @type {number[]} */ [, y]) => y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const middle = [(left + right) / 2, (top + bottom) / 2];
  const [half, tall] = [(right - left + width) / 2, (bottom - top + height) / 2];
  for (let ring = 0; ring < RINGS; ring++) {
    const away = GAP * height + ring * height * 0.6;
    for (let step = 0; step < DIRECTIONS; step++) {
      const angle = ((step * 2 - 3) * Math.PI) / DIRECTIONS;
      const [across, down] = [Math.cos(angle), Math.sin(angle)];
      const reach = 1 / Math.max(Math.abs(across) / (half + away), Math.abs(down) / (tall + away));
      yield [middle[0] + across * reach, middle[1] + down * reach];
    }
  }
}

/**
 * Place labels ({ anchor, point, corners, width, height }; `point` is the card's index) within `bounds` ({ width, height }), one after
 * another. Returns for each { x, y, isAway }: its middle, and whether it had to leave its card.
 */
export function placeLabels(
  /** @type {CardLabel[]} */ labels,
  /** @type {{ width: number, height: number }} */ bounds,
) {
  /** @type {Rectangle[]} */
  const taken = [];
  const points = labels.map((one) => one.point);
  return labels.map((label) => {
    const [anchor] = places(label);
    let best = { cost: Infinity, place: anchor, own: box(label, anchor) };
    for (const place of places(label)) {
      const own = box(label, place);
      const wanted = grown(own, GAP * label.height);
      const covered = points.filter((one) => holds(own, one)).length;
      const cost =
        taken.reduce((sum, one) => sum + overlap(wanted, one), 0) +
        label.width * label.height * (INDEX_COST * covered + (within(own, bounds) ? 0 : 1));
      if (cost < best.cost) best = { cost, place, own };
      if (cost === 0) break;
    }
    taken.push(best.own);
    return { x: best.place[0], y: best.place[1], isAway: best.place !== label.anchor };
  });
}
