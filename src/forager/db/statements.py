"""SQL lives in `.sql` files of named statements beside the Python that uses them; this module reads them.

    -- name: claim_domains
    -- Leases the best ready domains to a worker.
    UPDATE domains … WHERE id = any($1)

It checks the form, never the SQL: a test has every statement PREPAREd.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import MappingProxyType

_HEADER = re.compile(r"^-- name:[ \t]*(.*)$", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Statement:
    name: str
    purpose: str
    sql: str
    file: str


def load(package: str, file: str = "queries.sql") -> Mapping[str, str]:
    """Returns a package's statements by name, as in `SQL = statements.load("forager.domains")`. A malformed file fails
    the import."""
    source = resources.files(package).joinpath(file)
    found: dict[str, str] = {}
    for statement in parse(source.read_text(encoding="utf-8"), f"{package}/{file}"):
        if statement.name in found:
            raise ValueError(f"{statement.file} has two statements named {statement.name!r}")
        found[statement.name] = statement.sql
    return MappingProxyType(found)


def parse(text: str, file: str) -> Iterator[Statement]:
    """Yields the statements of a file. The text before the first name is the file's own comment."""
    _, *pieces = _HEADER.split(text)
    for name, body in zip(pieces[::2], pieces[1::2], strict=True):
        yield _read_statement(name.strip(), body.strip().splitlines(), file)


def _read_statement(name: str, lines: list[str], file: str) -> Statement:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{file} has a statement with the bad name {name!r}: use small letters, digits and _")
    purpose_lines = _leading_comments(lines)
    purpose = " ".join(line.removeprefix("--").strip() for line in purpose_lines).strip()
    if not purpose:
        raise ValueError(f"{file}: the statement {name!r} has no sentence that says its purpose")
    sql = "\n".join(lines[len(purpose_lines) :]).strip().removesuffix(";").rstrip()
    if not sql:
        raise ValueError(f"{file}: the statement {name!r} is empty")
    return Statement(name, purpose, sql, file)


def _leading_comments(lines: list[str]) -> list[str]:
    length = next((at for at, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return lines[:length]


def all_statements() -> list[Statement]:
    """Returns every named statement of Forager."""
    root = Path(str(resources.files("forager")))
    found: list[Statement] = []
    for path in sorted(root.rglob("*.sql")):
        found.extend(parse(path.read_text(encoding="utf-8"), str(path.relative_to(root))))
    return found
