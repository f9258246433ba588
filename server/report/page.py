"""Assemble the page and write it, whole or not at all."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from models.judgements import RoundResult
from server import report
from server.house.rules_in_force import name_of
from server.house.wording import capitalised, counted, is_clean, settled_net
from server.process.atomic_file import write_whole
from server.report.rounds import round_section
from server.report.story import RoundStory, SessionStory
from settlement.balance import totals


def write_report(path: Path, story: SessionStory) -> None:
    """Write the session's page to ``path``; raises ``OSError`` on failure."""
    write_whole(path, page(story).encode())


def page(story: SessionStory) -> str:
    """Return the whole page: one self-contained HTML document."""
    title = f"Table {story.session.table}, {story.formats.moment(story.session.at)}"
    style = files(report).joinpath("style.css").read_text("utf-8")
    rounds = "".join(
        round_section(one, story.layout, story.book, story.formats) for one in story.rounds
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Pitwatch: {escape(title)}</title><style>{style}</style></head><body><main>"
        f"{_header(story, title)}{rounds}{_footer(story)}</main></body></html>\n"
    )


def _header(story: SessionStory, title: str) -> str:
    links = "".join(
        f'<a href="#round-{one.result.round}" class="{_link_tone(one)}">'
        f"Round {one.result.round}</a>"
        for one in story.rounds
    )
    return (
        f'<header><div class="brand">PITWATCH</div><h1>{escape(title)}</h1>'
        f'<p class="verdict">{_verdict(story)}</p>{_figures(story)}{_about(story)}'
        f"<nav>{links}</nav></header>"
    )


def _verdict(story: SessionStory) -> str:
    results = [one.result for one in story.rounds]
    open_rounds = sum(result.status != "final" for result in results)
    text = f"<strong>{counted(len(results), 'round')}</strong> watched. {_mistakes(results)} "
    text += f"{counted(open_rounds, 'round')} still open." if open_rounds else "No round is open."
    found = totals((one.result.status, one.balance) for one in story.rounds)
    return f"{text} {capitalised(story.formats.still_open(found))}."


def _mistakes(results: Sequence[RoundResult]) -> str:
    certain, suspected = _certain(results), _suspected(results)
    texts = [f"{counted(certain, 'mistake')} found."] if certain else []
    if suspected:
        texts.append(f"{counted(suspected, 'suspected mistake')} to decide.")
    return " ".join(texts) or "No mistake found."


def _certain(results: Sequence[RoundResult]) -> int:
    return sum(len(result.mistakes) for result in results)


def _suspected(results: Sequence[RoundResult]) -> int:
    return sum(len(result.suspected) for result in results)


def _figures(story: SessionStory) -> str:
    results = [one.result for one in story.rounds]
    hands = (hand for r in results for spot in r.spots for hand in spot.hands)
    staked = sum(hand.stake for hand in hands if hand.outcome != "void")
    figures = [
        (
            story.formats.signed(settled_net(results)),
            f"house, {story.session.currency}, settled rounds",
        ),
        (story.formats.amount(staked), f"staked, {story.session.currency}"),
        (str(_certain(results)), "mistakes"),
        (str(_suspected(results)), "suspected mistakes"),
        (str(sum(r.status != "final" for r in results)), "rounds open"),
    ]
    compared = [one.comparison for one in story.rounds if one.comparison]
    if compared:
        exact = sum(one.verdict == "exact" for one in compared)
        figures.append((f"{exact} of {len(compared)}", "rounds that match the truth"))
    cells = (f'<div class="figure"><b>{n}</b><span>{what}</span></div>' for n, what in figures)
    return f'<div class="figures">{"".join(cells)}</div>'


def _about(story: SessionStory) -> str:
    session = story.session
    sources = [camera.name for camera in session.cameras] + [port.port for port in session.serial]
    dealt = f"{session.dealing}, {counted(story.book.rules.decks, 'deck')}"
    if story.book.rules.shoe == "continuous":
        dealt += ", a continuous shuffler"
    rows = {
        "Rulebook": f"{name_of(story.book.rules).text}: {story.book.cited.title}",
        "Dealt from": dealt,
        "Began": story.formats.moment(session.at),
        "Times": f"of the house: {story.formats.zone(session.at)}",
        "Sensors": ", ".join(sources),
        "Journal": f"{counted(story.events, 'event')}, chain head {story.head}",
    }
    pairs = (f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows.items())
    return f'<dl class="about">{"".join(pairs)}</dl>'


def _link_tone(story: RoundStory) -> str:
    if is_clean(story.result):
        return "good"
    return "bad" if story.result.mistakes else "doubt"


def _footer(story: SessionStory) -> str:
    return (
        "<footer>Amounts are in "
        f"{escape(story.session.currency)}; a hand's amounts are the player's gain, a round's the "
        "house's. Every figure follows from the journal with the chain head above: "
        "<span class='mono'>pitwatch journal verify</span> proves it unchanged.</footer>"
    )
