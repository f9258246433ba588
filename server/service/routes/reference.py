"""The reference of the HTTP API for people: one page, made from the OpenAPI document."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request, Response

router = APIRouter(include_in_schema=False)

_Schema = Mapping[str, Any]
_EVERYWHERE: Final = frozenset({"401", "403", "411", "413", "422", "429", "503"})
"""Refusals of every operation; an operation lists one of them only where it says more."""
_GENERAL: Final = (
    ("401", "Nobody is signed in, or the session or token has ended."),
    ("403", "The account or token lacks the right, or the CSRF token is missing."),
    ("411, 413", "The request has no Content-Length, or its body is too long."),
    ("422", "A parameter or field is invalid; nothing was changed."),
    ("429", "Too many requests; Retry-After gives the seconds to wait."),
    ("503", "The service cannot do it now; the detail gives the reason."),
)
_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="dark">
  <title>HTTP API · Pitwatch</title>
  <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/page/style.css">
  <link rel="stylesheet" href="/page/reference.css">
</head>
<body>
  <a class="skip" href="#main">Skip to the operations</a>
"""


@router.get("/api/docs")
async def api_docs(request: Request) -> Response:
    """Return the page."""
    return Response(_page(request.app), media_type="text/html")


@lru_cache(maxsize=1)
def _page(app: FastAPI) -> str:
    return reference(app.openapi())


def reference(document: _Schema) -> str:
    """Return the page of an OpenAPI document: its operations by tag, and its types."""
    subjects: dict[str, list[tuple[str, str, _Schema]]] = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            subjects.setdefault(one["tags"][0], []).append((method.upper(), path, one))
    types = document["components"]["schemas"]
    index = "".join(_index(tag, found) for tag, found in subjects.items())
    parts = (_subject(tag, found, types) for tag, found in subjects.items())
    return (
        f'{_HEAD}<header id="bar"><a class="brand" href="/">PITWATCH</a></header>'
        f'<div class="reference"><nav aria-label="Operations">{index}'
        '<p><a href="#types">Types</a></p></nav>'
        f'<main id="main" tabindex="-1">{_intro(document)}{"".join(parts)}{_types(types)}</main>'
        "</div></body></html>"
    )


def _intro(document: _Schema) -> str:
    refusals = _table("Refusals of every operation", ("Status", "Meaning"), _GENERAL)
    return (
        f"<h1>HTTP API, version {escape(document['info']['version'])}</h1>"
        f"<p>{_prose(document['info']['description'])}</p>"
        "<p>A program sends a token: <code>Authorization: Bearer $TOKEN</code>. "
        f"{_link('POST /api/tokens')} makes one for a person who is signed in. A person sends the "
        f"cookie and the <code>csrf</code> of {_link('POST /api/sign-in')}. "
        "The examples are commands for a shell; put the service's address into <code>$PIT</code>. "
        'The document behind this page: <a href="/api/openapi.json">/api/openapi.json</a>.</p>'
        f"{refusals}"
    )


def _index(tag: str, found: Iterable[tuple[str, str, _Schema]]) -> str:
    lines = "".join(f"<li>{_link(f'{method} {path}')}</li>" for method, path, _ in found)
    return f'<p><a href="#{_place(tag)}">{escape(tag)}</a></p><ul>{lines}</ul>'


def _subject(
    tag: str, found: Iterable[tuple[str, str, _Schema]], types: Mapping[str, _Schema]
) -> str:
    parts = "".join(_operation(*one, types) for one in found)
    return f'<h2 id="{_place(tag)}">{escape(tag)}</h2>{parts}'


def _operation(method: str, path: str, one: _Schema, types: Mapping[str, _Schema]) -> str:
    name = f"{method} {path}"
    gone = " (deprecated)" if one.get("deprecated") else ""
    right = f"<p>Right: <code>{one['x-right']}</code></p>" if "x-right" in one else ""
    sent = "".join(
        f"<p>Body: {_content(kind, body)}</p>"
        for kind, body in one.get("requestBody", {}).get("content", {}).items()
    )
    taken = [
        (_code(field["name"]), _needed(field["required"]), _type(field["schema"]), _said(field))
        for field in one.get("parameters", ())
    ]
    return (
        f'<section class="panel"><h3 id="{_place(name)}">{escape(name)}{gone}</h3>'
        f"<p>{_prose(one.get('description', ''))}</p>{right}{sent}"
        f"<pre>{escape(request_of(method, path, one, types))}</pre>"
        f"{_table('Parameters', ('Name', 'Needed', 'Type', 'Meaning'), taken)}"
        f"{_table('Answers', ('Status', 'Content or meaning'), _answers(one))}</section>"
    )


def request_of(method: str, path: str, one: _Schema, types: Mapping[str, _Schema]) -> str:
    """Return an operation's example as a command for a shell."""
    asked = [field for field in one.get("parameters", ()) if field["required"]]
    for field in asked:
        if field["in"] == "path":
            path = path.replace(f"{{{field['name']}}}", quote(str(field["example"])))
    query = "&".join(
        f"{field['name']}={quote(str(field['example']))}"
        for field in asked
        if field["in"] == "query"
    )
    address = f"{path}?{query}" if query else path
    lines = [f'curl -X {method} "$PIT{address}"']
    match one.get("security"):
        case [{"session": []}]:
            lines += ['-b "pitwatch=$SESSION"', '-H "X-CSRF-Token: $CSRF"']
        case [_, *_]:
            lines.append('-H "Authorization: Bearer $TOKEN"')
    for kind, body in one.get("requestBody", {}).get("content", {}).items():
        sent = types[_named(body["schema"]["$ref"])]["example"]
        lines += [f"-H 'Content-Type: {kind}'", f"-d '{json.dumps(sent)}'"]
    return " \\\n  ".join(lines)


def _answers(one: _Schema) -> Iterator[tuple[str, str]]:
    """Yield what is answered, and the refusals that are this operation's own."""
    for status, answer in one["responses"].items():
        kinds = answer.get("content", {})
        if status in _EVERYWHERE:
            continue
        if not kinds or "application/problem+json" in kinds:
            yield (status, _prose(answer["description"]) if kinds else "no content")
        else:
            yield from ((status, _content(kind, body)) for kind, body in kinds.items())


def _types(types: Mapping[str, _Schema]) -> str:
    return '<h2 id="types">Types</h2>' + "".join(
        f'<section class="panel"><h3 id="{_place(name)}">{escape(name)}</h3>'
        f"<p>{_prose(one.get('description', ''))}</p>{_fields(one)}</section>"
        for name, one in sorted(types.items())
    )


def _fields(one: _Schema) -> str:
    if "properties" not in one:
        return f"<p>{_type(one)}</p>"
    needed = one.get("required", ())
    rows = [
        (_code(name), _needed(name in needed), _type(field), _said(field))
        for name, field in one["properties"].items()
    ]
    return _table("Fields", ("Name", "Needed", "Type", "Meaning"), rows)


def _table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of rows of markup, or nothing where there is no row."""
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    names = "".join(f'<th scope="col">{one}</th>' for one in heads)
    head = f"<caption>{caption}</caption><thead><tr>{names}</tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>" if body else ""


def _type(schema: _Schema) -> str:
    """Return what a value may be, with a link to each type that has a name."""
    match schema:
        case {"$ref": str(place)}:
            found = _link(_named(place))
        case {"const": value}:
            found = _code(json.dumps(value))
        case {"enum": list(values)}:
            found = " or ".join(_code(json.dumps(one)) for one in values)
        case {"anyOf": list(choices)} | {"oneOf": list(choices)}:
            found = " or ".join(dict.fromkeys(map(_type, choices)))
        case {"prefixItems": list(items)}:
            found = f"list of {', '.join(map(_type, items))}"
        case {"type": "array"}:
            found = f"list of {_type(schema.get('items', {}))}"
        case {"type": "object", "additionalProperties": dict(of)}:
            found = f"object of {_type(of)}"
        case {"type": str(kind)}:
            found = kind
        case _:
            found = "any value"
    return found


def _content(kind: str, body: _Schema) -> str:
    return f"{_code(kind)} {_type(body['schema'])}" if body.get("schema") else _code(kind)


def _needed(is_needed: bool) -> str:
    return "always" if is_needed else "optional"


def _said(field: _Schema) -> str:
    return _prose(field.get("description", ""))


def _prose(text: str) -> str:
    """Return text as markup; what stands between backquotes is code."""
    parts = escape(text.replace("``", "`")).split("`")
    return "".join(f"<code>{one}</code>" if at % 2 else one for at, one in enumerate(parts))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _link(name: str) -> str:
    return f'<a href="#{_place(name)}">{escape(name)}</a>'


def _named(place: str) -> str:
    return place.rpartition("/")[2]


def _place(name: str) -> str:
    """Return the fragment of a heading."""
    return "".join(one if one.isalnum() else "-" for one in name)
