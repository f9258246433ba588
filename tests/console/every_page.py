"""Every page of the console over journals of every kind, and what is wrong there."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from playwright.sync_api import ConsoleMessage, Response

from tests.console.gallery import SIZES
from tests.console.looking import Screen, faults_of
from tests.server.service.house import House

LISTS: Final = ("floor", "incidents", "rounds", "charts", "rulebook", "own")
UNKNOWN: Final = (
    "nowhere/at/all",
    "table/BJ-99",
    "round/filmed/999",
    "round/nowhere/1",
    "incidents/filmed.99",
)
"""Addresses of nothing: the service answers 404, and the page says so."""
WAITING: Final = ("Reading…", "Loading the video…", "Loading the pictures…")
_UNTRUE: Final = re.compile(
    r"Not shown|Invalid|NaN|undefined|\bnull\b|\b1970\b|\[object|\bNone\b|Infinity"
)
_NAMED: Final = re.compile(r"\b[2-9TJQKA][SHDC]\b|\d+(\.\d+)?")
"""What differs between two questions or mistakes of one kind."""
_CUT: Final = """() => {
    const place = ".tile, .panel, .note, .entry, .picture.none, .alone, #bar, main";
    const unread = "svg, noscript, option, .unseen, .skip";
    const clips = (one) => getComputedStyle(one).overflowX !== "visible";
    const found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        const own = text.parentElement;
        if (!text.data.trim() || !own.checkVisibility() || own.closest(unread)) continue;
        const range = document.createRange();
        range.selectNode(text);
        const { right, width } = range.getBoundingClientRect();
        let holds = own;
        while (holds && !holds.matches(place) && !clips(holds)) holds = holds.parentElement;
        if (!holds || holds.matches(".devices, thead")) continue;
        const isRoom = holds.matches(".scroll[tabindex]") && innerWidth < 1280;
        const end = holds.getBoundingClientRect().right + 1;
        if (width && !isRoom && right > end) found.push(`cut: ${text.data.trim().slice(0, 60)}`);
    }
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) found.push(`${wide} px wide`);
    return [found, document.body.innerText];
}"""
"""Texts that reach beyond their box, and all that is written. A table may be scrolled where there
is little room."""


@dataclass
class Watcher:
    """Visits pages and gathers what is wrong with them, by what a person sees or a browser says."""

    screen: Screen
    axe_every: int = 8
    """Every how many pages axe looks at one."""
    faults: list[str] = field(default_factory=list)
    _here: str = ""
    _visited: int = 0

    def __post_init__(self) -> None:
        self.screen.page.on("console", self._said)
        self.screen.page.on("response", self._answered)

    def visit(self, addresses: Iterable[str]) -> None:
        """Open pages one after another, each at all sizes."""
        for self._here in addresses:
            self.screen.go(self._here)
            for text in WAITING:
                self.screen.page.get_by_text(text).first.wait_for(state="detached")
            self._look()

    def _look(self) -> None:
        page = self.screen.page
        is_for_axe = self._visited % self.axe_every == 0
        for at, (width, height) in enumerate(SIZES):
            page.set_viewport_size({"width": width, "height": height})
            cut, text = page.evaluate(_CUT)
            self._note(f"{width}x{height}: {one}" for one in cut)
            self._note(f"{width}x{height}: {one}" for one in untrue(text))
            if is_for_axe and at == self._visited // self.axe_every % len(SIZES):
                self._note(faults_of(page))
        self._visited += 1

    def _note(self, what: Iterable[str]) -> None:
        self.faults += [f"{self._here}: {one}" for one in what]

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and self._here not in UNKNOWN:
            self._note([f"the browser says: {message.text}"])

    def _answered(self, answer: Response) -> None:
        if answer.status >= httpx.codes.BAD_REQUEST and self._here not in UNKNOWN:
            self._note([f"{answer.status} for {answer.url}"])


def untrue(text: str) -> Iterator[str]:
    """Yield what no page may write, with the words around it."""
    for found in _UNTRUE.finditer(text):
        yield f"writes {text[max(0, found.start() - 40) : found.end() + 20]!r}"


def tables(at: House, person: httpx.Client) -> list[str]:
    """Return the page of every table."""
    return [f"table/{one['table']}" for one in at.get(person, "/api/tables")]


def rounds(at: House, person: httpx.Client) -> list[str]:
    """Return ``SESSION/ROUND`` of one round of each kind."""
    kinds: dict[Any, str] = {}
    for one in _every_round(at, person):
        kinds.setdefault(_kind(one), f"{one['session']}/{one['round']}")
    return list(kinds.values())


def _every_round(at: House, person: httpx.Client) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        page = at.get(person, "/api/rounds", limit=100, **({"cursor": cursor} if cursor else {}))
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return


def _kind(row: dict[str, Any]) -> Any:
    """Return what sort of round it is; of a plain one, only of which session."""
    result = row["result"] or {}
    codes = sorted(one["code"] for one in result.get("violations", ()))
    asked = sorted({_NAMED.sub("#", one["what"]) for one in result.get("reviews") or ()})
    told = (*codes, *asked)
    return (row["status"], row["decided"] > 0, told or row["session"])
