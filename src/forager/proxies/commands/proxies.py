"""`forager proxies`: proxies, their health, and which domains use them. Passwords are never shown."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import Cell, Note, number, wrap_column
from forager.errors import UsageError
from forager.proxies.commands.add import add, country_code, rekey
from forager.proxies.commands.health import SomeIds, advice, probe

Row = dict[str, Any]
SUMMARY = "List proxies; add them, give them to domains, try them."


Ids = Annotated[list[int], typer.Argument(metavar="ID", help="Numbers of proxies.")]
Domain = Annotated[str, typer.Argument(metavar="DOMAIN", help="A name or a URL.")]
OneCountry = Annotated[str | None, typer.Option(parser=country_code, metavar="CC", help="Only of this country.")]
OneProvider = Annotated[str | None, typer.Option(metavar="NAME", help="Only of this provider.")]
InPool = Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only in the pool of this domain.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(proxies)
    for name, function in (
        ("add", add),
        ("remove", remove),
        ("assign", assign),
        ("unassign", unassign),
        ("enable", enable),
        ("disable", disable),
        ("probe", probe),
        ("advice", advice),
        ("rekey", rekey),
    ):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="proxies", rich_help_panel="Look after it")


# Queries -------------------------------------------------------------------------------------------------------------


def proxies(
    context: typer.Context,
    *,
    domain: DomainName = None,
    country: OneCountry = None,
    provider: OneProvider = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List proxies; add them, give them to domains, try them."""
    if context.invoked_subcommand is not None:
        if domain or country or provider or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager proxies {verb} --json.")
        return None
    from forager.proxies import service as control

    async def look(connection: Any) -> tuple[list[Row], Row]:
        rows = await control.list_all(connection, domain=domain, country=country, provider=provider)
        return rows, await control.costs(connection)

    rows, costs = run_query(begin(home=home), "proxies", look)
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    table.write(
        (
            number("id"),
            wrap_column("proxy"),
            "country",
            "state",
            number("ok"),
            number("failed"),
            number("time"),
            "last used",
        ),
        list(_listed(rows, now)),
    )
    if not rows:
        return output.say("No proxy fits. Try: forager proxies add http://user:password@proxy.example:3128")
    return output.say(say_costs(costs))


def _listed(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        average_ms = row["avg_response_time_ms"]
        yield (
            str(row["id"]),
            words.clean(address_of(row)),
            row["country_code"] or "–",
            _state(row),
            words.count(row["successes"]),
            words.count(row["failures"]),
            "–" if average_ms is None else f"{average_ms:,.0f} ms",
            words.format_relative(row["last_used_at"], now),
        )
        if row["last_error"] and not (row["is_active"] and not row["consecutive_failures"]):
            again = f"; tried again {words.format_relative(row['probe_at'], now)}" if row["probe_at"] else ""
            yield Note(f"  └─ {words.clean(row['last_error'])}{again}")


def address_of(row: Row) -> str:
    """As it was added, but for the password."""
    host = f"[{row['host']}]" if ":" in row["host"] else row["host"]
    account = f"{row['username']}:***@" if row["has_password"] else f"{row['username']}@" if row["username"] else ""
    return f"{row['protocol']}://{account}{host}:{row['port']}"


def _state(row: Row) -> Cell:
    if not row.get("is_proxy_active", True):
        return Cell("off everywhere", "red")
    if not row["is_active"]:
        return Cell("failed" if row["probe_at"] else "off", "red")
    return Cell("failing", "yellow") if row["consecutive_failures"] else Cell("on", "green")


def say_costs(costs: Row) -> str:
    told = f"{words.things(costs['proxies'], 'proxy', 'proxies')}, {costs['active']} on"
    if costs["monthly_cost"]:
        told += f", {costs['monthly_cost']:,.2f} a month"
    if costs["idle"]:
        price = f", which cost {costs['idle_cost']:,.2f} a month" if costs["idle_cost"] else ""
        told += f"; {costs['idle']} unused for a week{price}"
    return f"{told}."


def remove(
    ids: Ids,
    force: Annotated[bool, typer.Option("--force", help="Also if a domain is asked directly then.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Forget proxies; the history keeps their numbers."""
    from forager.proxies import service as control

    gone = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.remove(connection, ids, is_forced=force),
        noted=lambda gone: Noted("proxy.remove", "proxy", None, {"ids": gone, "force": force}),
    )
    if as_json:
        return output.write_json({"removed": gone})
    return output.say(f"{words.things(len(gone), 'proxy', 'proxies')} removed.")


# Pools ---------------------------------------------------------------------------------------------------------------


def assign(
    domain: Domain,
    ids: Annotated[list[int] | None, typer.Argument(metavar="ID", help="Numbers of proxies.")] = None,
    *,
    country: Annotated[str | None, typer.Option(parser=country_code, metavar="CC", help="All of this country.")] = None,
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="All of this provider.")] = None,
    priority: Annotated[
        int | None, typer.Option(min=1, max=10, metavar="N", help="1 comes first of those never used (5).")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Ask a domain through these proxies only, in turns."""
    from forager.proxies import service as control

    if not (ids or country or provider):
        raise UsageError(f"Which proxies? Such as: forager proxies assign {domain} 1 2 3.")
    done = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.assign(
            connection, domain, ids or [], country=country, provider=provider, priority=priority, by=whoami()
        ),
        noted=lambda done: Noted("domain.assign_proxies", "domain", done.domain, {"new": done.new}),
    )
    if as_json:
        return output.write_json(asdict(done))
    there = len(done.proxies) - len(done.new)
    already = f"; {there} already in its pool" if there else ""
    return output.say(
        f"{done.domain} is asked through {words.things(len(done.new), 'more proxy', 'more proxies')}{already}."
    )


def unassign(domain: Domain, ids: SomeIds = None, as_json: AsJson = False, home: Home = None) -> None:
    """Take proxies from a domain; without any it is asked directly."""
    from forager.proxies import service as control

    done = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.unassign(connection, domain, ids, by=whoami()),
        noted=lambda done: Noted("domain.unassign_proxy", "domain", done.domain, {"proxies": done.proxies}),
    )
    if as_json:
        return output.write_json({"domain": done.domain, "proxies": done.proxies})
    return output.say(f"{words.things(len(done.proxies), 'proxy', 'proxies')} taken from {done.domain}.")


def enable(ids: Ids, domain: InPool = None, as_json: AsJson = False, home: Home = None) -> None:
    """Switch proxies on and forget their failures."""
    _switch(ids, True, domain, as_json, home)


def disable(ids: Ids, domain: InPool = None, as_json: AsJson = False, home: Home = None) -> None:
    """Switch proxies off until somebody enables them."""
    _switch(ids, False, domain, as_json, home)


def _switch(ids: list[int], is_active: bool, domain: str | None, as_json: bool, home: Any) -> None:
    from forager.proxies import service as control

    done = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.switch(connection, ids, is_active, domain=domain),
        noted=lambda done: Noted(
            "proxy.enable" if is_active else "proxy.disable", "proxy", None, {"ids": ids, "domain": done.domain}
        ),
    )
    if as_json:
        return output.write_json(asdict(done))
    where = f" for {done.domain}" if done.domain else ""
    state = "on" if is_active else "off"
    return output.say(f"{words.things(len(done.proxies), 'proxy', 'proxies')} switched {state}{where}.")
