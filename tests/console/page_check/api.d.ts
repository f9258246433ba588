// What the service takes and answers: `scripts/page-types` writes this from the OpenAPI document.

declare namespace Api {
  interface Account {
    name: string;
    role: Role;
    active: boolean;
    made_ns: number;
    second_factor: "due" | "off" | "on";
    password?: "due" | "own";
    tokens?: number;
    tables?: Array<string>;
  }
  interface AccountChange {
    role?: Role | null;
    active?: boolean | null;
    password?: string | null;
    tables?: Array<string> | null;
  }
  interface Answer {
    says: string;
    decision: "account" | "burned" | "chosen" | "dealt" | "stands" | "unreadable" | "void";
    choice?: Card | null;
    card?: CardPlace | null;
    account?: number | null;
    asks_reason?: boolean;
    odds?: number | null;
    likelihood?: "about even" | "almost certain" | "likely" | "unlikely" | "very unlikely" | null;
    comes_to: string;
    status: "final" | "pending" | "review";
    spots: Array<SpotAnswer>;
    mistakes: Array<string>;
  }
  interface Answered {
    answers: Array<Answer>;
    from_ns: number;
    to_ns: number;
  }
  interface Approval {
    approve?: boolean;
    proposal?: number | null;
    reason?: string;
  }
  interface Assignment {
    to: string | null;
  }
  interface Balance {
    lines: Array<BalanceLine>;
    observed: boolean;
    stake: number;
    due: number | null;
    paid: number | null;
    difference: number | null;
    underpaid: number;
    overpaid: number;
    recovered: number;
    says: Array<string>;
  }
  interface BalanceLine {
    spot: number;
    hand: number;
    kind: string;
    stake: number;
    due: number | null;
    paid: number | null;
    difference: number | null;
    recovered?: number;
    says?: string;
  }
  interface BettorResult {
    bettor: string | null;
    net: number | null;
    wagers: Array<WagerResult>;
  }
  interface CameraView {
    name: string;
    width_px: number;
    height_px: number;
    flat_from_mm: Array<Array<number>>;
    lens: Lens | null;
    pictures: string;
    start_ns: number;
    live: string | null;
    clip: ClipView | null;
  }
  type Card = "2?" | "2C" | "2D" | "2H" | "2S" | "3?" | "3C" | "3D" | "3H" | "3S" | "4?" | "4C" | "4D" | "4H" | "4S" | "5?" | "5C" | "5D" | "5H" | "5S" | "6?" | "6C" | "6D" | "6H" | "6S" | "7?" | "7C" | "7D" | "7H" | "7S" | "8?" | "8C" | "8D" | "8H" | "8S" | "9?" | "9C" | "9D" | "9H" | "9S" | "A?" | "AC" | "AD" | "AH" | "AS" | "J?" | "JC" | "JD" | "JH" | "JS" | "K?" | "KC" | "KD" | "KH" | "KS" | "Q?" | "QC" | "QD" | "QH" | "QS" | "T?" | "TC" | "TD" | "TH" | "TS";
  interface CardPlace {
    to: number | "dealer";
    hand?: number;
    nth?: number;
  }
  interface CaseAssigned {
    type: "case_assigned";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    to: string | null;
  }
  interface CaseClosed {
    type: "case_closed";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    reason: string;
    known: number;
  }
  interface CaseCommented {
    type: "case_commented";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    text: string;
  }
  interface CaseOpened {
    type: "case_opened";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    text: string;
  }
  interface CaseReopened {
    type: "case_reopened";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    reason: string;
  }
  interface Checkpoint {
    type: "journal_checkpoint";
    identity: Identity;
    seq: number;
    head: string;
    at: number;
    key?: string | null;
    signature?: string | null;
  }
  interface ChipsOff {
    type: "wager_removed";
    spot: number;
    hand?: number;
    kind: "main" | "double" | "split" | "insurance" | "side" | "toke" | "coupon";
    amount: number;
    bet?: string | null;
    bettor?: string | null;
    reason: string;
  }
  interface Circle {
    x_mm: number;
    y_mm: number;
    radius_mm: number;
  }
  interface CitedClause {
    clause: string;
    says: string;
    passages: Array<Passage>;
  }
  interface Clause {
    id: string;
    says: string;
    knobs?: Array<string>;
    passages?: Array<string>;
  }
  interface ClipView {
    url: string;
    from_ns: number;
    to_ns: number;
    frames: Array<number>;
  }
  interface Comment {
    text: string;
  }
  interface CouponResult {
    stake: number;
    outcome: "blackjack" | "bust" | "lose" | "pending" | "push" | "surrender" | "unknown" | "void" | "win";
    net: number | null;
    taken: boolean;
    bettor?: string;
  }
  interface CurrencyView {
    code: string;
    decimals: number;
  }
  interface DayBalance {
    at: number;
    currency: string;
    totals: Totals;
    says: string;
  }
  interface DayBalances {
    days: Array<DayBalance>;
    complete: boolean;
  }
  interface DealerResult {
    cards: Array<Card | null>;
    burned: Array<Card | null>;
    total: number | null;
    soft: boolean;
    outcome: "blackjack" | "bust" | "no_draw" | "short" | "stand" | "unknown";
  }
  interface Decided {
    person: string;
    at: number;
    seq: number;
    decision: "account" | "burned" | "chosen" | "dealt" | "stands" | "unreadable" | "void";
    choice: Card | null;
    card: CardPlace | null;
    reason: string;
    account?: number | null;
    says?: string;
    approved_by?: string;
  }
  interface DecisionApproved {
    type: "decision_approved";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    item: number | null;
    proposed_by: string;
    entry: number;
  }
  interface DecisionDeclined {
    type: "decision_declined";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    item: number | null;
    proposed_by: string;
    reason?: string;
  }
  interface DecisionProposed {
    type: "decision_proposed";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    incident: string;
    person: string;
    item: number | null;
    decision: "account" | "burned" | "chosen" | "dealt" | "stands" | "unreadable" | "void";
    spot?: number | null;
    hand?: number | null;
    choice?: Card | null;
    card?: CardPlace | null;
    account?: number | null;
    says?: string;
    reason?: string;
    instead_of?: number | null;
  }
  interface Difference {
    knob: string;
    was: string;
    now: string;
  }
  interface Enrolment {
    secret: string;
    uri: string;
  }
  interface Entered {
    seq: number | null;
    incident?: string | null;
  }
  interface Events {
    events: Array<unknown>;
    last: number;
  }
  interface FeltPlace {
    to: number | "dealer";
    hand?: number;
  }
  interface Finding {
    table: string;
    says: string;
    moments: Array<Moment>;
  }
  interface FootageView {
    layout: TableLayout;
    is_own_layout: boolean;
    currency: string | null;
    cameras: Array<CameraView>;
    missing: Array<string>;
  }
  interface HandOff {
    type: "hand_called_off";
    spot: number;
    hand?: number | null;
    reason: string;
  }
  interface HandResult {
    hand: number;
    cards: Array<Card | null>;
    burned: Array<Card | null>;
    stake: number;
    outcome: "blackjack" | "bust" | "lose" | "pending" | "push" | "surrender" | "unknown" | "void" | "win";
    net: number | null;
    clauses: Array<string>;
    possible?: Array<Possible>;
    odd_cents?: OddCents;
  }
  interface HandRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    spot: number;
    hand: number;
    cards: Array<Card | null>;
    burned?: Array<Card | null>;
    stake: number;
    outcome: "blackjack" | "bust" | "lose" | "pending" | "push" | "surrender" | "unknown" | "void" | "win";
    net: number | null;
    paid?: number | null;
    difference?: number | null;
    clauses: Array<string>;
  }
  interface Health {
    state: string;
  }
  interface HouseView {
    zone: string;
    locale: string;
    currency: CurrencyView;
    shifts: Array<string>;
    others: Record<string, CurrencyView>;
    exports: Array<string>;
    unsigned: Unsigned | null;
  }
  interface Identity {
    journal: string;
    name: string;
    table?: string | null;
  }
  interface IncidentRow {
    id: string;
    session: string;
    table: string;
    round: number;
    at: number;
    state: "assigned" | "closed" | "open";
    severity: "high" | "low" | "medium";
    codes: Array<string>;
    questions: Array<string>;
    violations: number;
    suspected: number;
    reviews: number;
    decided: number;
    by_hand: boolean;
    assignee: string | null;
    comments: number;
    changed_at: number | null;
  }
  interface IncidentView {
    incident: IncidentRow;
    round: RoundRow;
    violations: Array<ViolationRow>;
    reviews: Array<ReviewRow>;
    proposals: Array<DecisionProposed>;
    history: Array<CaseOpened | CaseAssigned | CaseCommented | CaseClosed | CaseReopened | DecisionProposed | DecisionApproved | DecisionDeclined>;
  }
  interface InsuranceResult {
    stake: number;
    net: number | null;
    odd_cents?: OddCents;
  }
  interface Knob {
    knob: string;
    value: string;
    source: "changed" | "default" | "inferred" | "stated";
    document?: string | null;
    section?: string | null;
    quote?: string | null;
    reason?: string | null;
  }
  interface LedgerRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    account: string;
    amount: number;
    memo: string;
  }
  interface Lens {
    focal_px: number;
    centre_px: [number, number];
    radial: [number, number];
  }
  interface Line {
    label: string;
    points: Array<Point>;
  }
  interface MadeToken {
    token: Token;
    secret: string;
  }
  interface Marker {
    id: number;
    x_mm: number;
    y_mm: number;
    side_mm: number;
    angle_deg?: number;
  }
  interface Me {
    name: string;
    role: string;
    rights: Array<string>;
    second_factor: "due" | "off" | "on";
    password: "due" | "own";
  }
  interface Moment {
    at: number;
    written: string;
    go_to: number | null;
    round: RoundRow | null;
    before: RoundRow | null;
    after: RoundRow | null;
  }
  interface Move {
    type: "card_moved";
    card: string | null;
    from: FeltPlace | "rack";
    to: FeltPlace | "rack";
    reason: string;
  }
  interface NewAccount {
    name: string;
    role: Role;
    password: string;
    tables?: Array<string>;
  }
  interface NewDecision {
    decision: "chosen" | "dealt" | "burned" | "account" | "stands" | "unreadable" | "void";
    choice?: string | null;
    card?: Place | null;
    account?: number | null;
    reason?: string;
    instead_of?: number | null;
  }
  interface NewEntry {
    fact: HandOff | RoundOff | Move | ChipsOff | Reshuffle | NewTrayChange;
    round?: number | null;
  }
  interface NewIncident {
    session: string;
    round: number;
    text: string;
  }
  interface NewToken {
    label: string;
    scopes: Array<Right>;
    days?: number;
  }
  interface NewTrayChange {
    type: "tray_changed";
    amount: number;
    reason: "buy_in" | "cash_out" | "fill" | "credit" | "colour_change" | "marker" | "other";
    spot?: number | null;
    player?: string | null;
    slip?: string | null;
  }
  interface OddCents {
    exact: [number, number];
    paid: number;
  }
  interface OwnCode {
    code: string;
  }
  interface OwnFactor {
    password: string;
    code: string;
  }
  interface OwnPassword {
    password: string;
  }
  interface Page_HandRow_ {
    items: Array<HandRow>;
    next: string | null;
  }
  interface Page_IncidentRow_ {
    items: Array<IncidentRow>;
    next: string | null;
  }
  interface Page_LedgerRow_ {
    items: Array<LedgerRow>;
    next: string | null;
  }
  interface Page_PaymentRow_ {
    items: Array<PaymentRow>;
    next: string | null;
  }
  interface Page_PersonActed_ {
    items: Array<PersonActed>;
    next: string | null;
  }
  interface Page_ReviewRow_ {
    items: Array<ReviewRow>;
    next: string | null;
  }
  interface Page_RoundRow_ {
    items: Array<RoundRow>;
    next: string | null;
  }
  interface Page_ViolationRow_ {
    items: Array<ViolationRow>;
    next: string | null;
  }
  interface Passage {
    says: string;
    origin: string;
  }
  interface PassedFault {
    source: string;
    kind: string;
    count: number;
    last_at: number | null;
  }
  interface PasswordChange {
    old: string;
    new: string;
    keep_tokens?: boolean;
  }
  interface PaymentRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    spot: number;
    hand: number;
    kind: "coupon" | "insurance" | "main" | "side" | "toke";
    amount: number;
    late?: boolean;
    bet?: string | null;
    bettor?: string | null;
  }
  interface PersonActed {
    type: "person_acted";
    seq?: number | null;
    at?: number | null;
    table?: string | null;
    person: string;
    by: string;
    action: string;
    target?: string;
    outcome: "done" | "refused";
    address?: string;
    count?: number;
    names?: Array<string>;
  }
  interface PhaseBegun {
    phase: "deal" | "dealer" | "players" | "settling" | "taken_up" | "wagers" | "waiting";
    seq: number;
    at: number;
  }
  interface Place {
    to: number | string;
    hand?: number;
    nth?: number;
  }
  interface Point {
    at: number;
    value: number;
    of: number | null;
  }
  interface Possible {
    outcome: "blackjack" | "bust" | "lose" | "pending" | "push" | "surrender" | "unknown" | "void" | "win";
    net: number | null;
    if: string;
  }
  interface PossibleSide {
    outcome: "lose" | "pending" | "push" | "unjudged" | "unknown" | "void" | "win";
    net: number | null;
    if: string;
  }
  interface ProblemDocument {
    status: number;
    title: string;
    detail: string;
    needs?: "code";
  }
  interface Reason {
    reason: string;
  }
  interface Recovery {
    codes: Array<string>;
  }
  interface Reshuffle {
    type: "discards_reshuffled";
    reason: string;
  }
  interface Review {
    what: string;
    candidates: Array<string>;
    evidence: Array<number>;
  }
  interface ReviewRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    item: number;
    what: string;
    candidates: Array<string>;
    evidence: Array<number>;
    decided?: Decided | null;
  }
  type Right = "keep_accounts" | "keep_self" | "keep_tokens" | "leave_checkpoints" | "resolve_reviews" | "see_activity" | "see_metrics" | "see_money" | "see_rounds" | "see_tables" | "see_undealt" | "take_out" | "work_incidents";
  type Role = "admin" | "audit" | "engineer" | "pit" | "surveillance";
  interface RoundOff {
    type: "round_called_off";
    reason: string;
  }
  interface RoundResult {
    round: number;
    rulebook: string;
    overrides?: Record<string, string>;
    rules_hash?: string;
    status: "final" | "pending" | "review";
    dealer: DealerResult;
    spots: Array<SpotResult>;
    violations: Array<Violation>;
    net: number | null;
    reviews?: Array<Review>;
    tray_changes?: Array<TrayChange>;
  }
  interface RoundRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    status: "final" | "open" | "pending" | "review";
    closed_at: number | null;
    last_seq: number;
    net: number | null;
    violations: number;
    suspected: number;
    reviews: number;
    decided: number;
    result: RoundResult | null;
    balance?: Balance | null;
  }
  interface RulesInForce {
    in_force: RulesRow;
    sheet: Sheet | null;
  }
  interface RulesRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    rulebook: string;
    overrides: Record<string, string>;
    rules_hash: string | null;
    is_stated: boolean;
    changes: Array<Difference> | null;
  }
  interface SeenMoment {
    seq: number;
    told_at: number;
    at: number;
    shows: "card" | "chips" | "event";
  }
  interface SentCheckpoint {
    type: "journal_checkpoint";
    identity: SentIdentity;
    seq: number;
    head: string;
    at: number;
    key?: string | null;
    signature?: string | null;
  }
  interface SentIdentity {
    journal: string;
    name: string;
    table?: string | null;
  }
  interface Series {
    name: string;
    unit: string;
    of_unit: string | null;
    piece_ns: number;
    lines: Array<Line>;
    complete: boolean;
  }
  interface SessionView {
    session: string;
    table: string | null;
    started_at: number | null;
    last_at: number | null;
    last_seq: number;
    head: string;
    rounds: number;
    violations: number;
    suspected: number;
    reviews: number;
    state: "between rounds" | "no round" | "round open" | "unreadable";
    phase: "deal" | "dealer" | "players" | "settling" | "taken_up" | "wagers" | "waiting";
    presence: "live" | "quiet" | "recorded";
    round: number | null;
    troubles: Array<Trouble>;
    passed: Array<PassedFault>;
    fault: string | null;
    proven: number | null;
  }
  interface Sheet {
    id: string;
    title: string;
    document: string;
    knobs: Array<Knob>;
  }
  interface SheetName {
    id: string;
    title: string;
  }
  interface SideResult {
    bet: string | null;
    stake: number;
    outcome: "lose" | "pending" | "push" | "unjudged" | "unknown" | "void" | "win";
    net: number | null;
    award?: string;
    clauses?: Array<string>;
    possible?: Array<PossibleSide>;
    odd_cents?: OddCents;
    paid?: number | null;
    bettor?: string;
  }
  interface SignIn {
    name: string;
    password: string;
    code?: string | null;
  }
  interface SignedIn {
    name: string;
    role: Role;
    csrf: string;
    second_factor: "due" | "off" | "on";
    password: "due" | "own";
  }
  interface SpotAnswer {
    spot: number;
    due: number | null;
    paid: number | null;
  }
  interface SpotLayout {
    spot: number;
    circle: Circle;
    cards: Array<[number, number]>;
  }
  interface SpotResult {
    spot: number;
    net: number | null;
    hands: Array<HandResult>;
    insurance: InsuranceResult | null;
    side?: Array<SideResult>;
    bettors?: Array<BettorResult>;
    toke?: TokeResult;
    coupons?: Array<CouponResult>;
  }
  interface TableLayout {
    name: string;
    width_mm: number;
    depth_mm: number;
    spots: Array<SpotLayout>;
    insurance_line: Array<[number, number]>;
    dealer_cards: Array<[number, number]>;
    shoe_mouth: [number, number];
    discard_rack: Array<[number, number]>;
    tray: Array<[number, number]>;
    marker_family?: "apriltag-36h11" | "aruco-4x4";
    markers?: Array<Marker>;
  }
  interface TableView {
    table: string;
    now: SessionView;
    sessions: Array<string>;
  }
  interface TokeResult {
    stake: number;
    net: number | null;
  }
  interface Token {
    id: string;
    name: string;
    label: string;
    scopes: Array<Right>;
    made_ns: number;
    ends_ns: number;
    made_by?: string;
  }
  interface Totals {
    underpaid: number;
    overpaid: number;
    rounds: number;
    to_decide: number;
    unsettled: number;
    unobserved: number;
  }
  interface TrayChange {
    seq: number;
    amount: number;
    reason: "buy_in" | "cash_out" | "colour_change" | "credit" | "fill" | "marker" | "other";
    spot?: number | null;
    player?: string | null;
    slip?: string | null;
  }
  interface Trouble {
    source: string;
    kind: string;
    since: number | null;
  }
  interface Unsigned {
    entries: number;
    tables: number;
  }
  interface Violation {
    code: string;
    seq: number;
    spot: number | null;
    hand: number | null;
    clause: string;
    detail: string;
    suspected?: boolean;
  }
  interface ViolationRow {
    session: string;
    table: string;
    at: number;
    seq: number;
    round: number;
    code: string;
    spot: number | null;
    hand: number | null;
    clause: string;
    detail: string;
    suspected: boolean;
    question: string;
  }
  interface ViolationSources {
    seq: number;
    code: string;
    spot: number | null;
    hand: number | null;
    question: string;
    breaks: CitedClause;
    due: Array<CitedClause>;
    came_to: Array<string>;
    settled_by: Passage | null;
  }
  interface WagerResult {
    hand: number;
    kind: "coupon" | "insurance" | "main" | "side";
    stake: number;
    net: number | null;
    odd_cents?: OddCents;
    bet?: string | null;
  }
  /** What a GET of a path answers; its query does not matter. */
  type Got<Path extends string> = Path extends `${infer Bare}?${string}` ? Got<Bare>
    : Path extends `/api/incidents/${string}/reviews/${string}/answers` ? Answered
    : Path extends `/api/sessions/${string}/rounds/${string}/footage` ? FootageView
    : Path extends `/api/sessions/${string}/rounds/${string}/phases` ? Array<PhaseBegun>
    : Path extends `/api/sessions/${string}/rounds/${string}/verdicts` ? Array<ViolationSources>
    : Path extends `/api/tables/${string}/rounds/at/${string}` ? Moment
    : Path extends `/api/rulebooks/${string}/differences/${string}` ? Array<Difference>
    : Path extends `/api/sessions/${string}/moments/${string}` ? SeenMoment
    : Path extends `/api/sessions/${string}/rounds/${string}` ? RoundRow
    : Path extends `/api/accounts/${string}/tokens` ? Array<Token>
    : Path extends `/api/sessions/${string}/events` ? Events
    : Path extends `/api/sessions/${string}/footage` ? FootageView
    : Path extends `/api/sessions/${string}/rulebook` ? RulesInForce
    : Path extends `/api/tables/${string}/checkpoints` ? Array<Checkpoint>
    : Path extends `/api/tables/${string}/rules` ? Array<RulesRow>
    : Path extends `/api/series/hold` ? Series
    : Path extends `/api/series/pace` ? Series
    : Path extends `/api/series/sensors` ? Series
    : Path extends `/api/series/violations` ? Series
    : Path extends `/api/incidents/${string}` ? IncidentView
    : Path extends `/api/rulebooks/${string}` ? Sheet
    : Path extends `/api/sessions/${string}` ? SessionView
    : Path extends `/api/tables/${string}` ? TableView
    : Path extends `/api/accounts` ? Array<Account>
    : Path extends `/api/activity` ? Page_PersonActed_
    : Path extends `/api/balances` ? DayBalances
    : Path extends `/api/clauses` ? Array<Clause>
    : Path extends `/api/find` ? Finding
    : Path extends `/api/hands` ? Page_HandRow_
    : Path extends `/api/house` ? HouseView
    : Path extends `/api/incidents` ? Page_IncidentRow_
    : Path extends `/api/ledger` ? Page_LedgerRow_
    : Path extends `/api/me` ? Me
    : Path extends `/api/payments` ? Page_PaymentRow_
    : Path extends `/api/reviews` ? Page_ReviewRow_
    : Path extends `/api/rounds` ? Page_RoundRow_
    : Path extends `/api/rulebooks` ? Array<SheetName>
    : Path extends `/api/sentences` ? Array<string>
    : Path extends `/api/sessions` ? Array<SessionView>
    : Path extends `/api/tables` ? Array<TableView>
    : Path extends `/api/tokens` ? Array<Token>
    : Path extends `/api/violations` ? Page_ViolationRow_
    : Path extends `/health` ? Health
    : Path extends `/ready` ? Health
    : unknown;
}
