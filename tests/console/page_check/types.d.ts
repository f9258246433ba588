// The shapes that the console's page passes between its files, for `tsc` and for editors.
//
// What the service takes and answers is in api.d.ts, which `scripts/page-types` writes; here is what the page
// itself makes of it. Amounts are minor units, times nanoseconds (UTC).

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
type Layout = Api.TableLayout;

type LayoutSpot = Api.SpotLayout;

type Camera = Api.CameraView;

type Clip = Api.ClipView;

type Footage = Api.FootageView;

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

type Currency = Api.CurrencyView;

type HouseFormats = Api.HouseView;

/** Who is signed in. */
type Person = Api.Me;

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
  chosen: URLSearchParams;
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
