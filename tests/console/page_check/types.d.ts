// The shapes that the console's page passes between its files, for `tsc` and for editors.
//
// The service's OpenAPI document defines what it answers; here are the fields that the page itself
// reads by name from several files. Amounts are minor units, times nanoseconds (UTC).

/** Something that the service answered, as its OpenAPI document describes it. */
type Answer = any;

/** Rank and suit of a card, `AS`; null where it was not shown. */
type Card = string | null;

type Point = [number, number];

/** An entry of a journal. The fields beside these depend on its type. */
interface TableEvent {
  type: string;
  seq: number;
  at: number;
  [field: string]: any;
}

interface CardOnFelt {
  card: Card;
  face: string;
  across: boolean;
  /** Drawn in error, and not counted. */
  isBurned?: boolean;
  seq?: number;
}

interface Hand {
  stake: number;
  /** The chips of a double, part of the stake. */
  added: number;
  cards: CardOnFelt[];
  acted: string | null;
}

interface Spot {
  wager: number;
  insurance: number;
  side: number;
  hands: Hand[];
}

/** What a camera follows; `x` and `y` in millimetres on the felt. */
interface Track {
  source: string;
  x: number;
  y: number;
  angle: number;
  face: string;
  card: Card;
  to: string | number | null;
  isForeign: boolean;
}

/** The felt as facts describe it (table_state.js). */
interface Table {
  round: number | null;
  decks: number | null;
  isLast: boolean;
  seats: Record<string, string>;
  spots: Record<string, Spot>;
  dealer: { cards: CardOnFelt[]; peeked: boolean | null };
  tracks: Record<string, Track>;
  sighted: Record<string, string>;
  settled: Answer;
  reviews: Answer[];
  closedAt: number | null;
  openedAt: number | null;
  seq: number;
  at: number | null;
}

/** A layout of the felt, as a table's file has it. */
interface Layout {
  width_mm: number;
  depth_mm: number;
  insurance_line: Point[];
  tray: Point[];
  discard_rack: Point[];
  dealer_cards: Point[];
  spots: LayoutSpot[];
}

interface LayoutSpot {
  spot: number;
  cards: Point[];
  circle: { x_mm: number; y_mm: number; radius_mm: number };
}

interface Camera {
  name: string;
  width_px: number;
  height_px: number;
  flat_from_mm: number[][];
  lens: { centre_px: Point; focal_px: number; radial: [number, number] } | null;
  clip?: Clip;
  [field: string]: any;
}

interface Clip {
  url: string;
  from_ns: number;
  frames: number[];
}

interface Footage {
  layout: Layout;
  cameras: Camera[];
}

/** A label beside a card of a picture, in pixels; `point` is the card's index. */
interface CardLabel {
  anchor: Point;
  point: Point;
  corners: Point[];
  width: number;
  height: number;
}

interface Placed {
  x: number;
  y: number;
  isAway: boolean;
}

interface Rectangle {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A tool beside a picture. */
interface Tool {
  name: string;
  key: string;
  work: () => unknown;
  text?: string;
}

interface Series {
  name: string;
  points: { x: number; y: number }[];
}

interface Figures {
  name: string;
  ys: (number | null)[];
}

/** Writes a figure of a chart. */
type Written = (value: number) => string;

interface Currency {
  code: string;
  decimals: number;
}

interface HouseFormats {
  zone: string;
  locale: string;
  currency: Currency;
  shifts: string[];
  others: Record<string, Currency>;
  exports: string[];
  unsigned: { entries: number; tables: number } | null;
}

/** Who is signed in. */
interface Person {
  name: string;
  role: string;
  rights: string[];
  [field: string]: any;
}

interface PageOfConsole {
  path: string;
  name?: string;
  right: string;
  key?: string;
  under?: string;
  show: (context: PageContext, signal: AbortSignal) => Promise<void> | void;
}

type May = (right: string) => boolean;
type Notify = (text: string, tone?: string) => void;
type During = (signal: AbortSignal, work: () => unknown) => void;

/** What a page is given. */
interface PageContext {
  main: HTMLElement;
  me: Person;
  rest: any[];
  notify: Notify;
  may: May;
  onLeave: During;
  onReturn: During;
  signOut: () => Promise<void>;
}

/** The text of each clause, by its id. */
type Clauses = Record<string, string>;

/** Anything that an element may hold; null and false are left out. */
type Child = any;
