"""`forager token`: credentials for programs. A token is shown once, when it is made."""

import sys
from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_duration
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_action, run_query, whoami
from forager.cli.table import Cell, number, wrap_column

Row = dict[str, Any]
NEVER = "never"


class ScopeName(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


def span_or_never(text: str) -> float | None:
    if text.strip().lower() == NEVER:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}, or {NEVER}") from None


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Manage tokens for programs: create, list, revoke.")
    for name, function in (("list", list_tokens), ("create", create), ("revoke", revoke)):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="token", rich_help_panel="Look after it", no_args_is_help=True)


def list_tokens(as_json: AsJson = False, home: Home = None) -> None:
    """List tokens, without their secrets."""
    from forager.accounts import service as accounts

    rows = run_query(begin(home=home), "token", lambda conn: accounts.list_tokens(conn, None))
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (number("id"), "owner", wrap_column("name"), "scope", "state", "last used", "made by"),
        [
            (
                str(row["id"]),
                row["owner"],
                words.clean(row["name"]),
                row["scope"],
                _state(row, now),
                words.format_relative(row["last_used_at"], now),
                words.clean(row["created_by"]),
            )
            for row in rows
        ],
    )
    if not rows:
        output.say('There is no token. Try: forager token create alice "nightly export"')
    return None


def _state(row: Row, now: datetime) -> Cell:
    if row["revoked_at"]:
        return Cell("revoked", "red")
    if not row["is_valid"]:
        return Cell("ended" if row["expires_at"] and row["expires_at"] <= now else "owner off", "red")
    return Cell(f"ends {words.format_relative(row['expires_at'], now)}" if row["expires_at"] else "on", "green")


def create(
    owner: Annotated[
        str, typer.Argument(metavar="OWNER", help="Owner of the token; it can do no more than the owner.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    *,
    scope: Annotated[ScopeName, typer.Option(help="read; write: change things; admin: accounts too.")] = ScopeName.READ,
    expires: Annotated[str, typer.Option(metavar="SPAN", help="When it ends: 30d, 12h …, or never.")] = "90d",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Create a token, and show it once."""
    from forager.accounts import service as accounts
    from forager.accounts.identity import Scope, operator

    lasts_s = span_or_never(expires)
    me = operator(whoami())
    made = run_action(
        begin(home=home),
        "token",
        lambda conn: accounts.create_token(conn, me, owner, name=name, scope=Scope(scope), lasts_s=lasts_s),
        noted=None,
    )
    if as_json:
        return output.write_json(asdict(made))
    sys.stdout.write(made.token + "\n")
    ends = (
        f"ends {words.format_relative(made.expires_at, clock.now())}"
        if made.expires_at
        else "works until it is revoked"
    )
    return output.say(f"Token {made.id} of {made.owner}, for {scope.value}, {ends}. It is not shown again.")


def revoke(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="IDs of tokens.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Revoke tokens, immediately and permanently."""
    import asyncio

    from forager.accounts import service as accounts
    from forager.accounts.identity import operator
    from forager.accounts.session_cache import wait_for_expiry

    me = operator(whoami())

    async def revoke_all(conn: Any) -> list[Row]:
        return [await accounts.revoke_token(conn, me, each) for each in ids]

    ended = run_action(begin(home=home), "token", revoke_all, noted=None)
    asyncio.run(wait_for_expiry())
    if as_json:
        return output.write_json({"revoked": [row["id"] for row in ended]})
    return output.say(f"{words.things(len(ended), 'token')} revoked.")
