"""Generates the API reference from the OpenAPI document.

    python -m forager.api.reference               the page docs/reference/api.md
    python -m forager.api.reference operations    the list docs/reference/operations.txt: id, method and path of each
    python -m forager.api.reference document      the document itself, from which the dashboard's types are generated

Tests compare the page and the list with this output, so that a change of the public API is visible in review.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from forager.api.errors import PROBLEMS, URN
from forager.api.openapi import TAGS

Document = dict[str, Any]
INTRODUCTION = """# The HTTP API

Generated from the OpenAPI document by `python -m forager.api.reference`; do not edit. The document itself, from which
you can generate a client, is at `/api/openapi.json`.

`forager up` serves the API with everything else, `forager api` alone; the settings `api.host` and `api.port` set the
address.

- **Authentication**: a session cookie, or `Authorization: Bearer fgr_…` with a token. Without either only `/health` and
  a part of `/api/stats` are available. A user reads everything except the audit log, an admin can also change things;
  every change is in the audit log.
- **Lists** are paged: `limit` (at most 1000) and `after`, which is the `next` of the previous page. Rows that are added
  meanwhile do not shift the pages. A cursor is valid only for its list and filters; otherwise the response is a 404.
  Two lists in one response are paged together until both end. Rankings (most linked, similar pages) have `limit` only.
- **Errors** are `application/problem+json` (RFC 9457): `title`, `status`, `detail` in one sentence, `request_id` as in
  the log. `type` identifies the problem ([all of them](#problems)), and a 422 names each invalid value. A 503 has
  `Retry-After`: the database is unavailable or too slow, or all connections are in use. After a 503 for a change, check
  whether it was made before you repeat it.
- **Unknown names** are rejected, in bodies and in the query. Numbers must not be strings.
- **Bulk actions and deletions** have a `dry_run`, which reports what would be done and changes nothing.
- **Bodies** are at most 1 MB, lists of seeds 16 MB (the settings `api.max_body_size`, `api.max_seeds_size`), and must
  arrive within a minute.
- **Rate limits** are in every response: `RateLimit-Policy` has each limit (`q` in `w` seconds), `RateLimit` what is
  left of it (`r`, more after `t` seconds); a 429 has `Retry-After`. One account gets less than half of the database
  connections at once, three exports and a tenth of the live listeners.
- **Compression**: responses to reads of a kilobyte and more use zstd, brotli or gzip, as `Accept-Encoding` allows.
- **Host name**: an API on loopback accepts its own name, an address, or the host of `api.public_url`; any other is a
  421, unless the request has a token or comes from a trusted proxy.
- **Webhooks**: accounts that may not change things see only scheme and host, because the full URL is enough to call
  them.
- `HEAD` is `GET` without the body; `OPTIONS` lists the methods of a path. CORS is off.

"""


def write(document: Document) -> str:
    return "\n".join([INTRODUCTION, *_sections(document), *_render_error_types()]) + "\n"


def _render_error_types() -> Iterator[str]:
    yield f"## Problems\n\nThe `type` of an error is `{URN}` and one of these. Sentences may change, these do not.\n"
    yield "| problem | status | when |\n|---|---|---|"
    for problem, says in PROBLEMS.items():
        status, _, when = says.rpartition(": ")
        yield f"| `{problem}` | {status} | {when} |"


def _sections(document: Document) -> Iterator[str]:
    for tag, says in TAGS:
        found = [
            (path, method.upper(), operation)
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if tag in operation["tags"]
        ]
        if found:
            yield f"## {tag.capitalize()}\n\n{says}\n"
            yield "| | path | what it does | takes |\n|---|---|---|---|"
            yield from (_row(document, *each) for each in found)
            yield ""


def _row(document: Document, path: str, method: str, operation: Document) -> str:
    told: str = operation.get("description") or operation["summary"]
    says = " ".join(told.split()).replace("|", "\\|")
    return f"| {method} | `{path}` | {says} | {', '.join(_takes(document, operation))} |"


def _takes(document: Document, operation: Document) -> Iterator[str]:
    """Yields the parameters and the fields of the body; required ones are in bold."""
    for each in operation.get("parameters", ()):
        if each["in"] == "query":
            yield _name(each["name"], is_needed=each.get("required", False))
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    for option in content.get("anyOf", [content]):
        if "$ref" in option:
            model = document["components"]["schemas"][option["$ref"].rpartition("/")[2]]
            needed = set(model.get("required", ()))
            yield from (_name(name, is_needed=name in needed) for name in model.get("properties", ()))


def _name(name: str, *, is_needed: bool) -> str:
    return f"**`{name}`**" if is_needed else f"`{name}`"


def as_text(document: Document) -> str:
    return json.dumps(document, indent=1) + "\n"


def list_operations(document: Document) -> str:
    """Returns one line for each operation, sorted by id: its id, method and path."""
    lines = [
        f"{operation['operationId']} {method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    return "".join(f"{line}\n" for line in sorted(lines))


WRITERS = {"": write, "operations": list_operations, "document": as_text}


def main(kind: str = "") -> None:
    from forager.api.app import create_app
    from forager.config.settings import Settings

    sys.stdout.write(WRITERS[kind](create_app(Settings()).openapi()))


if __name__ == "__main__":
    main(*sys.argv[1:])
