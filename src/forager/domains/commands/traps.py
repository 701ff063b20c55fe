"""`forager domain NAME traps`, `forager domain NAME release TRAP`: lists crawler traps, and allows their links."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import Note

if TYPE_CHECKING:
    from datetime import datetime

    from forager.domains.trap_service import Released

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Number = Annotated[int, typer.Argument(metavar="TRAP", help="ID of the trap, from `traps`.")]


def traps(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """List its crawler traps: endless links, and the rule that found them."""
    from forager.domains.trap_service import list_traps

    rows = run_query(begin(home=home), "domain", lambda connection: list_traps(connection, name))
    if as_json:
        return output.write_json_list(rows)
    table.write(("trap", "rule", "state", "links", "pages", "found"), list(_lines(rows, clock.now())))
    return None if rows else output.say("None of its links looks like a trap.")


def release(name: Name, trap: Number, as_json: AsJson = False, home: Home = None) -> None:
    """Release a trap: follow its links, and visit the pages it excluded."""
    from forager.domains import trap_service as control

    done = run_action(
        begin(home=home),
        "domain",
        lambda connection: control.release(connection, name, trap, by=whoami()),
        noted=lambda done: Noted("domain.release_trap", "domain", done.name, {"trap": trap}),
    )
    if as_json:
        output.write_json(asdict(done))
    else:
        output.say(say_release(done))


def say_release(done: "Released") -> str:
    told = f"Trap {done.trap} of {done.name} is released: its links are taken again."
    if not done.pages:
        return told
    waits = "page waits" if done.pages == 1 else "pages wait"
    start = f"A running crawl continues with it; `forager refresh {done.name}` starts one."
    return f"{told} {words.count(done.pages)} {waits} now. {start}"


def _lines(rows: list[dict[str, Any]], now: "datetime") -> Iterator[tuple[str, ...] | Note]:
    for row in rows:
        yield (
            str(row["id"]),
            row["rule"],
            state_of(row),
            words.count(row["links"]),
            words.count(row["pages_left_out"]),
            words.format_relative(row["found_at"], now),
        )
        yield Note(f"  └─ {words.clean(row['template'] or row['example'])}")


def state_of(row: dict[str, Any]) -> str:
    if row["released_at"]:
        return f"released by {words.clean(row['released_by'])}"
    if not row["found_at"]:
        return f"suspected, {words.things(row['pages'], 'page')}"
    return "cleaned" if row["rule"] == "session_id" else "left out"
