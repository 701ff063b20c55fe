"""`forager domains denied|deny|allow`: the deny list, which keeps domains out that links lead to."""

from typing import Annotated

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import say_more, text_column

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the list shows it.")]


def register(family: typer.Typer) -> None:
    family.command("denied", cls=Command)(denied)
    family.command("deny", cls=Command)(deny)
    family.command("allow", cls=Command)(allow)


def denied(limit: Limit = 50, as_json: AsJson = False, home: Home = None) -> None:
    """List the domains on the deny list, with who put them there and why."""
    from forager.domains.denied import list_denied

    rows = run_query(begin(home=home), "domains", lambda connection: list_denied(connection, limit=limit))
    if as_json:
        return output.write_json_list([row._asdict() for row in rows])
    now = clock.now()
    if rows:
        table.write(
            (text_column("domain"), "since", "by", text_column("reason")),
            [
                (
                    words.clean(row.name),
                    words.format_relative(row.denied_at, now),
                    words.clean(row.denied_by),
                    words.clean(row.reason),
                )
                for row in rows
            ],
        )
    return say_more([row._asdict() for row in rows], limit, "domains", "The deny list is empty.")


def deny(name: Name, *, reason: Reason, as_json: AsJson = False, home: Home = None) -> None:
    """Keep a domain out that is not known yet: no link, list or order adds it."""
    from forager.domains import denied as service

    entry = run_action(
        begin(home=home),
        "domains",
        lambda connection: service.deny(connection, name, by=whoami(), reason=reason),
        noted=lambda entry: Noted("domain.deny", "domain", entry.name, {"reason": reason}),
    )
    if as_json:
        return output.write_json(entry._asdict())
    return output.say(f"{entry.name} is on the deny list; links to it are dropped and counted.")


def allow(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Remove a domain from the deny list: it may be crawled again."""
    from forager.domains import denied as service

    known = run_action(
        begin(home=home),
        "domains",
        lambda connection: service.allow(connection, name),
        noted=lambda known: Noted("domain.allow", "domain", known),
    )
    if as_json:
        return output.write_json({"name": known})
    return output.say(f"{known} is off the deny list. `forager crawl {known}` starts with it again.")
