"""`forager proxies`: proxies, their health, and which domains use them. Passwords are never shown."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import Cell, Note, number, wrap_column
from forager.errors import UsageError
from forager.proxies.commands.add import add, country_code, rekey, set_facts
from forager.proxies.commands.health import SomeIds, advice, probe

if TYPE_CHECKING:
    from forager.proxies.service import Assigned

Row = dict[str, Any]
MOST_SAID = 20
SUMMARY = "List proxies; add, assign and probe them."


Ids = Annotated[list[int], typer.Argument(metavar="ID", help="IDs of proxies.")]
Domain = Annotated[str, typer.Argument(metavar="DOMAIN", help="A name or a URL.")]
OneCountry = Annotated[
    str | None, typer.Option(parser=country_code, metavar="CC", help="Only proxies in this country.")
]
OneProvider = Annotated[str | None, typer.Option(metavar="NAME", help="Only proxies of this provider.")]
InPool = Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only in the pool of this domain.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(proxies)
    for name, function in (
        ("add", add),
        ("set", set_facts),
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
    """List proxies; add, assign and probe them."""
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
            "pool",
            "state",
            number("hour"),
            number("ok"),
            number("failed"),
            number("time"),
            "last used",
        ),
        list(_listed(rows, now)),
    )
    if not rows:
        return output.say("No proxy matches. Try: forager proxies add http://user:password@proxy.example:3128")
    return output.say(say_costs(costs))


def _listed(rows: Sequence[Row], now: datetime) -> Iterator[tuple[str | Cell, ...] | Note]:
    for row in rows:
        average_ms = row["avg_response_time_ms"]
        yield (
            str(row["id"]),
            words.clean(address_of(row)),
            row["country_code"] or "–",
            _pool(row),
            _state(row),
            _hour(row),
            words.count(row["successes"]),
            words.count(row["failures"]),
            "–" if average_ms is None else f"{average_ms:,.0f} ms",
            words.format_relative(row["last_used_at"], now),
        )
        if row["last_error"] and not (row["is_active"] and not row["consecutive_failures"]):
            again = f"; tried again {words.format_relative(row['probe_at'], now)}" if row["probe_at"] else ""
            yield Note(f"  └─ {words.clean(row['last_error'])}{again}")


def _pool(row: Row) -> str:
    """Of all proxies, which domains they serve; of one domain's pool, which pool it is."""
    if "is_assigned" in row:
        return "own" if row["is_assigned"] else "default"
    own = words.things(row["domains"], "domain") if row["domains"] else ""
    return ", ".join(part for part in ("default" if row["is_default"] else "", own) if part) or "–"


def _hour(row: Row) -> str:
    """Requests in this hour, and how many there may be."""
    most = row["max_per_hour"] if "max_per_hour" in row else row["max_requests_per_hour"]
    return f"{row['hour_requests']:,} of {most:,}" if most else f"{row['hour_requests']:,}"


def address_of(row: Row) -> str:
    """As it was added, but for the password."""
    host = f"[{row['host']}]" if ":" in row["host"] else row["host"]
    account = f"{row['username']}:***@" if row["has_password"] else f"{row['username']}@" if row["username"] else ""
    return f"{row['protocol']}://{account}{host}:{row['port']}"


def _state(row: Row) -> Cell:
    if not row.get("is_proxy_active", True):
        return Cell("off everywhere", "red")
    if row.get("rests_until"):
        return Cell("resting")
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
    force: Annotated[bool, typer.Option("--force", help="Also if a domain is then fetched directly.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Remove proxies; the history keeps their IDs."""
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
    domain: Annotated[
        str | None,
        typer.Argument(metavar="DOMAIN", help="A name, several with commas, or a pattern such as *.example.org."),
    ] = None,
    ids: Annotated[list[int] | None, typer.Argument(metavar="ID", help="IDs of proxies.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="To all known domains; names are not given then.")] = False,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="To the domains of this profile.")] = None,
    country: Annotated[
        str | None, typer.Option(parser=country_code, metavar="CC", help="All proxies in this country.")
    ] = None,
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="All proxies of this provider.")] = None,
    priority: Annotated[
        int | None, typer.Option(min=1, max=10, metavar="N", help="Order among unused proxies, 1 first (5).")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Ask domains through these proxies only, in turns."""
    from forager.proxies import service as control

    names, numbers = _read_assignment(domain, ids or [], is_for_many=every or profile is not None)
    if not (numbers or country or provider):
        raise UsageError(f"Which proxies? Such as: forager proxies assign {domain or '--all'} 1 2 3.")
    done = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.assign_many(
            connection,
            names,
            numbers,
            profile=profile,
            country=country,
            provider=provider,
            priority=priority,
            by=whoami(),
        ),
        noted=_note_assigned,
    )
    if as_json:
        return output.write_json(asdict(done[0]) if len(done) == 1 else [asdict(each) for each in done])
    for each in done[:MOST_SAID]:
        there = len(each.proxies) - len(each.new)
        already = f"; {there} already in its pool" if there else ""
        output.say(
            f"{each.domain} is asked through {words.things(len(each.new), 'more proxy', 'more proxies')}{already}."
        )
    if len(done) > MOST_SAID:
        output.say(f"… and {words.things(len(done) - MOST_SAID, 'more domain')}.")
    return None


def _note_assigned(done: Sequence["Assigned"]) -> Noted:
    name = done[0].domain if len(done) == 1 else None
    return Noted("domain.assign_proxies", "domain", name, {"domains": len(done), "new": done[0].new})


def _read_assignment(domain: str | None, ids: list[int], *, is_for_many: bool) -> tuple[list[str] | None, list[int]]:
    """Returns the domains, None for many, and the proxies: without a domain the first word is a proxy's number."""
    if is_for_many:
        if domain is not None and not domain.isdecimal():
            raise UsageError(f"Either name a domain ({domain}), or use --all or --profile.")
        return None, [int(domain), *ids] if domain is not None else ids
    names = [part.strip() for part in (domain or "").split(",") if part.strip()]
    if not names:
        raise UsageError("Which domain? Such as: forager proxies assign shop.example 1 2 3, or --all.")
    return names, ids


def unassign(domain: Domain, ids: SomeIds = None, as_json: AsJson = False, home: Home = None) -> None:
    """Take proxies from a domain; without any it uses the default pool."""
    from forager.proxies import service as control

    done = run_action(
        begin(home=home),
        "proxies",
        lambda connection: control.unassign(connection, domain, ids, by=whoami()),
        noted=lambda done: Noted("domain.unassign_proxy", "domain", done.domain, {"proxies": done.proxies}),
    )
    if as_json:
        return output.write_json({"domain": done.domain, "proxies": done.proxies})
    return output.say(f"{words.things(len(done.proxies), 'proxy', 'proxies')} removed from {done.domain}.")


def enable(ids: Ids, domain: InPool = None, as_json: AsJson = False, home: Home = None) -> None:
    """Enable proxies and clear their failures."""
    _switch(ids, True, domain, as_json, home)


def disable(ids: Ids, domain: InPool = None, as_json: AsJson = False, home: Home = None) -> None:
    """Disable proxies until they are enabled again."""
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
