"""`forager user`: who may sign in. Whoever can run this on the machine may do all of it; the audit log says who did."""

import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_action, run_query, whoami
from forager.cli.table import Cell, number
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.accounts.identity import Identity
    from forager.accounts.service import NewInvite
    from forager.config.settings import Settings

Row = dict[str, Any]


class RoleName(StrEnum):
    USER = "user"
    ADMIN = "admin"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the account.")]
Role = Annotated[RoleName, typer.Option("--role", help="user: may read; admin: may change things.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Manage accounts: invite, change, remove.")
    for name, function in (
        ("list", list_users),
        ("invite", invite),
        ("add", add),
        ("set-role", set_role),
        ("disable", disable),
        ("enable", enable),
        ("reset-password", reset_password),
        ("remove", remove),
    ):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="user", rich_help_panel="Look after it", no_args_is_help=True)


def list_users(as_json: AsJson = False, home: Home = None) -> None:
    """List accounts."""
    from forager.accounts import service as accounts

    rows = run_query(begin(home=home), "user", accounts.list_users)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (number("id"), "name", "role", "state", "last login", number("sessions"), number("tokens"), "made by"),
        [
            (
                str(row["id"]),
                row["name"],
                row["role"],
                _state(row, now),
                words.format_relative(row["last_login_at"], now),
                words.count(row["sessions"]),
                words.count(row["tokens"]),
                words.clean(row["created_by"]),
            )
            for row in rows
        ],
    )
    if not rows:
        output.say("There is no account yet. Try: forager user invite alice --role admin")
    return None


def _state(row: Row, now: datetime) -> Cell:
    if not row["is_active"]:
        return Cell("off", "red")
    if row["has_password"]:
        return Cell("on", "green")
    is_open = row["invited_until"] is not None and row["invited_until"] > now
    return Cell("invited", "yellow") if is_open else Cell("link too old", "red")


def invite(name: Name, role: Role = RoleName.USER, as_json: AsJson = False, home: Home = None) -> None:
    """Create an account, and a link to choose its password."""
    from forager.accounts import identity as who
    from forager.accounts import service as accounts

    settings = begin(home=home)
    invited = _do(settings, lambda conn, me: accounts.invite(conn, me, name, who.Role(role)))
    _show_link(settings, invited, as_json)


def reset_password(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Create a link to choose a new password."""
    from forager.accounts import service as accounts

    settings = begin(home=home)
    _show_link(settings, _do(settings, lambda conn, me: accounts.reset_password(conn, me, name)), as_json)


def add(name: Name, role: Role = RoleName.USER, as_json: AsJson = False, home: Home = None) -> None:
    """Create an account with a password, typed twice or from stdin."""
    import asyncio

    from forager.accounts import identity as who
    from forager.accounts import service as accounts
    from forager.accounts.names import validate_name
    from forager.accounts.passwords import Hasher, reject_weak

    settings = begin(home=home)
    validate_name(name)
    password = _read_password()
    reject_weak(password, name)
    hashed = asyncio.run(Hasher().hash(password))
    identity = _do(settings, lambda conn, me: accounts.add_user(conn, me, name, who.Role(role), hashed))
    if as_json:
        output.write_json({"id": identity, "name": name, "role": role.value})
    else:
        output.say(f"{name} may sign in at {settings.api_url} as {_a_role(role)}.")


def _read_password() -> str:
    """Never from the command line, where every process of the machine could read it."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline().rstrip("\r\n")
        if not line:
            raise UsageError("No password came on standard input; `forager user invite` makes a link instead.")
        return line
    typed = str(typer.prompt("Password", hide_input=True, err=True))
    if typed != typer.prompt("Again", hide_input=True, err=True):
        raise UsageError("The two passwords differ; nothing was changed.")
    return typed


def set_role(
    name: Name,
    role: Annotated[RoleName, typer.Argument(metavar="ROLE", help="user or admin.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Change the role of an account; it has to sign in again."""
    from forager.accounts import identity as who
    from forager.accounts import service as accounts

    row = _end(begin(home=home), lambda conn, me: accounts.change_user(conn, me, name, role=who.Role(role)))
    _show_row(row, as_json, f"{row['name']} is {_a_role(role)} now.")


def disable(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Disable an account; its sessions and tokens end for good."""
    row = _switch(name, False, home)
    _show_row(row, as_json, f"{row['name']} may not sign in any more.")


def enable(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Enable an account."""
    row = _switch(name, True, home)
    _show_row(row, as_json, f"{row['name']} may sign in again; tokens have to be created again.")


def remove(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Remove an account with its sessions and tokens."""
    from forager.accounts import service as accounts

    gone = _end(begin(home=home), lambda conn, me: accounts.remove_user(conn, me, name))
    if as_json:
        output.write_json({"removed": gone})
    else:
        output.say(f"{gone} is removed; the audit log keeps the name.")


def _switch(name: str, is_active: bool, home: Any) -> Row:
    from forager.accounts import service as accounts

    row: Row = _end(begin(home=home), lambda conn, me: accounts.change_user(conn, me, name, is_active=is_active))
    return row


def _do(settings: "Settings", deed: Callable[[Any, "Identity"], Awaitable[Any]]) -> Any:
    from forager.accounts.identity import operator

    me = operator(whoami())
    return run_action(settings, "user", lambda conn: deed(conn, me), noted=None)


def _end(settings: "Settings", deed: Callable[[Any, "Identity"], Awaitable[Any]]) -> Any:
    """What somebody may do no longer; it holds in every process of the API when the command ends."""
    import asyncio

    from forager.accounts.session_cache import wait_for_expiry

    done = _do(settings, deed)
    asyncio.run(wait_for_expiry())
    return done


def _a_role(role: str) -> str:
    return "an admin" if role == RoleName.ADMIN else "a user"


def _show_row(row: Row, as_json: bool, sentence: str) -> None:
    if as_json:
        output.write_json(row)
    else:
        output.say(sentence)


def _show_link(settings: "Settings", invited: "NewInvite", as_json: bool) -> None:
    """The link is data, so that `$(forager user invite alice)` is the link."""
    from forager.accounts.service import link

    address = link(settings.api_url, invited.secret)
    if as_json:
        told = {"id": invited.id, "name": invited.name, "role": invited.role.value, "link": address}
        return output.write_json(told | {"expires_at": invited.expires_at})
    sys.stdout.write(address + "\n")
    lasts = words.format_relative(invited.expires_at, clock.now())
    return output.say(f"With this link {invited.name} chooses a password. It works once, and ends {lasts}.")
