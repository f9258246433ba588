"""The console: one page and its parts, served from this package.

They hold no table's data, so everybody may load them; they request what they show.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request, Response

from server.service import page
from server.service.http.problems import Problem, answer

_KINDS: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class _Part:
    content: bytes
    media_type: str
    tag: str


def _read(folder: Traversable, above: str = "") -> dict[str, _Part]:
    parts: dict[str, _Part] = {}
    for file in folder.iterdir():
        name = above + file.name
        if file.is_dir():
            parts |= _read(file, f"{name}/")
            continue
        if PurePath(name).suffix not in _KINDS:
            continue
        content = file.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        parts[name] = _Part(content, _KINDS[PurePath(name).suffix], tag)
    return parts


PARTS: Final[Mapping[str, _Part]] = _read(files(page))


@router.get("/")
async def console(request: Request) -> Response:
    """Return the page."""
    return _given(request, "index.html")


@router.get("/page/{name:path}")
async def part(request: Request, name: str) -> Response:
    """Return a part of the page."""
    return _given(request, name)


async def inner(request: Request) -> Response:
    """Redirect the browser from a page's path to its place in the console: a link without its #."""
    return Response(status_code=307, headers={"Location": f"/#{quote(request.url.path)}"})


for _page in ("floor", "tables", "incidents", "rounds", "charts", "rulebook", "people"):
    router.add_api_route(f"/{_page}", inner, methods=["GET"])
    router.add_api_route(f"/{_page}/{{rest:path}}", inner, methods=["GET"])


def install(app: FastAPI) -> None:
    """Make ``app`` show the page for an unknown address; a program gets a problem document."""
    app.add_exception_handler(404, _unknown)


async def _unknown(request: Request, _: Exception) -> Response:
    if "text/html" not in request.headers.get("Accept", ""):
        return answer(404, "Not Found")
    found = PARTS["index.html"]
    headers = {"Cache-Control": "no-store"}
    return Response(found.content, 404, headers, media_type=found.media_type)


def _given(request: Request, name: str) -> Response:
    """Return a part, or confirm the browser's copy: the browser asks every time."""
    found = PARTS.get(name)
    if found is None:
        raise Problem(404, "the console has no such part")
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == found.tag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)
