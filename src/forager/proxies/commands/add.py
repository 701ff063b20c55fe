"""`forager proxies add` and `rekey`: read passwords. They are encrypted at once and never shown."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.start import Noted, begin, run_action
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.proxies.address import ProxyAddress

FACTS = "What is known about them"


def country_code(text: str) -> str:
    """Two letters, as ISO 3166 has them."""
    code = text.strip().upper()
    if not (len(code) == 2 and code.isascii() and code.isalpha()):
        raise typer.BadParameter(f"{text!r} is no country; write two letters such as DE")
    return code


def money(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(-1)
    if not (amount.is_finite() and 0 <= amount < 100_000_000):
        raise typer.BadParameter(f"{text!r} is no amount of money; write it like 4.50")
    return amount


def add(
    addresses: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Such as http://user:password@host:3128, socks5://…")
    ] = None,
    *,
    file: Annotated[
        str | None, typer.Option("--file", "-f", metavar="FILE", help="A list, one per line; - for stdin.")
    ] = None,
    country: Annotated[
        str | None,
        typer.Option(parser=country_code, metavar="CC", help="Where the proxies are.", rich_help_panel=FACTS),
    ] = None,
    city: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where the proxies are.", rich_help_panel=FACTS)
    ] = None,
    provider: Annotated[
        str | None, typer.Option(metavar="NAME", help="Provider of the proxies.", rich_help_panel=FACTS)
    ] = None,
    monthly_cost: Annotated[
        Decimal | None,
        typer.Option(parser=money, metavar="AMOUNT", help="Cost of each proxy per month.", rich_help_panel=FACTS),
    ] = None,
    per_hour: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Maximum requests through each proxy per hour (1000).", rich_help_panel=FACTS
        ),
    ] = None,
    forward: Annotated[
        bool | None,
        typer.Option(
            "--forward/--no-forward",
            help="Forward plain http without a tunnel; the proxies resolve names.",
            rich_help_panel=FACTS,
        ),
    ] = None,
    default: Annotated[
        bool | None,
        typer.Option("--default/--no-default", help="In the default pool, for all domains without a pool."),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Add proxies, or update known ones."""
    from forager.config.keys import get_cipher
    from forager.proxies import service as control
    from forager.proxies.admin import ProxyInfo

    settings = begin(home=home)
    wanted = read_addresses([*(addresses or []), *_lines(file)])
    facts = ProxyInfo(country, city, provider, monthly_cost, per_hour, forward, default)
    vault = get_cipher(settings, creates=any(address.password for address in wanted))
    done = run_action(
        settings,
        "proxies",
        lambda connection: control.add(connection, vault, wanted, facts),
        noted=lambda done: Noted("proxy.add", "proxy", None, {"ids": [each.id for each in done]}),
    )
    if as_json:
        return output.write_json_list([asdict(each) for each in done])
    new, known = [str(each.id) for each in done if each.is_new], [str(each.id) for each in done if not each.is_new]
    told = [f"Added as {', '.join(new)}." if new else "", f"Known already: {', '.join(known)}." if known else ""]
    return output.say(" ".join(part for part in told if part))


def set_facts(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="Numbers of proxies.")],
    *,
    country: Annotated[str | None, typer.Option(metavar="CC|none", help="Where they are.")] = None,
    city: Annotated[str | None, typer.Option(metavar="NAME|none", help="Where they are.")] = None,
    provider: Annotated[str | None, typer.Option(metavar="NAME|none", help="Who rents them out.")] = None,
    monthly_cost: Annotated[str | None, typer.Option(metavar="AMOUNT|none", help="Of each, in a month.")] = None,
    per_hour: Annotated[int | None, typer.Option(min=1, metavar="N", help="Requests through each in an hour.")] = None,
    forward: Annotated[
        bool | None, typer.Option("--forward/--no-forward", help="Plain http without a tunnel; they look names up.")
    ] = None,
    default: Annotated[
        bool | None,
        typer.Option("--default/--no-default", help="In the default pool, for all domains without a pool."),
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Change facts of proxies, or clear them with none."""
    from forager.config.keys import get_cipher
    from forager.proxies import service as control

    changes: dict[str, object] = {
        "country": _unless_none(country, country_code),
        "city": _unless_none(city, str),
        "provider": _unless_none(provider, str),
        "monthly_cost": _unless_none(monthly_cost, money),
        "max_requests_per_hour": per_hour,
        "is_forwarding": forward,
        "is_default": default,
    }
    given = (country, city, provider, monthly_cost, per_hour, forward, default)
    changes = {name: value for (name, value), text in zip(changes.items(), given, strict=True) if text is not None}
    if not changes:
        raise UsageError("Nothing to set. Such as: forager proxies set 1 2 --default.")
    settings = begin(home=home)
    vault = get_cipher(settings)
    shown = {name: str(value) if isinstance(value, Decimal) else value for name, value in changes.items()}
    done = run_action(
        settings,
        "proxies",
        lambda connection: control.change_facts(connection, vault, ids, changes),
        noted=lambda done: Noted("proxy.configure", "proxy", None, {"ids": done, "changes": shown}),
    )
    if as_json:
        return output.write_json({"proxies": done, "changes": shown})
    return output.say(f"{words.things(len(done), 'proxy', 'proxies')} changed.")


def _unless_none(text: str | None, read: Callable[[str], object]) -> object:
    """`none` clears a detail."""
    return None if text is None or text.strip().lower() in {"none", ""} else read(text)


def read_addresses(lines: Sequence[str]) -> list["ProxyAddress"]:
    """Each line an address; a bad one is told by its number, because it may hold a password."""
    from forager.proxies.address import parse_address

    found = []
    for place, line in enumerate(lines, 1):
        try:
            found.append(parse_address(line))
        except UsageError as error:
            raise UsageError(f"{error} (address {place})" if len(lines) > 1 else str(error)) from None
    if not found:
        raise UsageError("Name a proxy, or a file with one per line: forager proxies add --file proxies.txt.")
    return found


def _lines(file: str | None) -> list[str]:
    if file is None:
        return []
    try:
        with sys.stdin if file == "-" else open(file, encoding="utf-8") as stream:
            lines = [line.strip() for line in stream]
    except UnicodeDecodeError:
        raise UsageError(f"{file} is no text; write one address per line.") from None
    return [line for line in lines if line and not line.startswith("#")]


def rekey(as_json: AsJson = False, home: Home = None) -> None:
    """Encrypt all passwords with the first key of secret_key."""
    from forager.config.keys import get_cipher
    from forager.proxies import service as control

    settings = begin(home=home)
    vault = get_cipher(settings)
    count = run_action(
        settings,
        "proxies",
        lambda connection: control.rekey(connection, vault),
        noted=lambda count: Noted("proxy.rekey", "proxy", None, {"proxies": count}),
    )
    if as_json:
        return output.write_json({"passwords": count})
    return output.say(f"{words.things(count, 'password')} encrypted with the first key; the others can go.")
