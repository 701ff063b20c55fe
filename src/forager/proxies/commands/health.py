"""`forager proxies probe` and `advice`: whether proxies work, and whether there are enough of them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.start import Noted, begin, repair, run_query
from forager.cli.table import Cell, number, text_column, wrap_column

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.proxies.service import PoolSize
    from forager.proxies.store import ProbeResult

SomeIds = Annotated[list[int] | None, typer.Argument(metavar="ID", help="IDs of proxies; by default all.")]


def probe(ids: SomeIds = None, as_json: AsJson = False, home: Home = None) -> None:
    """Probe proxies now; those that work again are enabled."""
    settings = begin(home=home)
    probed = repair(settings, "proxies", lambda pool: try_now(pool, settings, ids), noted=_noted)
    if as_json:
        output.write_json_list([{"id": each.row.proxy.id, "error": each.error} for each in probed])
    else:
        rows = [(str(each.row.proxy.id), _outcome(each), words.clean(each.error) or "–") for each in probed]
        table.write((number("id"), "result", text_column("why")), rows)
    if any(each.error for each in probed):
        raise typer.Exit(1)


def _noted(probed: list["ProbeResult"]) -> Noted | None:
    broken = [each.row.proxy.id for each in probed if each.error]
    return Noted("proxy.probe", "proxy", None, {"proxies": len(probed), "broken": broken}) if probed else None


async def try_now(pool: Any, settings: "Settings", ids: Sequence[int] | None) -> list["ProbeResult"]:
    from forager.proxies import service as control
    from forager.proxies import store
    from forager.proxies.probe import probe as try_proxies

    if ids:
        await control.reject_unknown(pool, ids)
    probed = await try_proxies(settings, await store.find_for_probe(pool, ids or None))
    await store.end_probes(pool, probed)
    return probed


def _outcome(probed: "ProbeResult") -> Cell:
    return Cell("broken", "red") if probed.error else Cell("works", "green")


def advice(
    domain: Annotated[
        str | None, typer.Argument(metavar="DOMAIN", help="A name or a URL; by default all pools.")
    ] = None,
    *,
    pages_per_hour: Annotated[
        float | None,
        typer.Option(min=0.001, metavar="N", help="Wanted pages per hour; by default what the pace allows."),
    ] = None,
    per_proxy: Annotated[
        float | None, typer.Option(min=0.001, metavar="N", help="Maximum requests of one proxy per hour.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show how proxy pools perform, and how large they should be."""
    from forager.proxies import service as control

    settings = begin(home=home)
    found = run_query(
        settings,
        "proxies",
        lambda connection: control.compute_pool_size(
            connection,
            domain,
            pages_per_hour=pages_per_hour,
            requests_per_proxy_hour=per_proxy,
            delay_s=settings.politeness.delay,
        ),
    )
    if as_json:
        return output.write_json_list([asdict(each) for each in found])
    table.write(
        (
            wrap_column("domain"),
            number("on"),
            number("of"),
            number("needed"),
            number("failed"),
            number("time"),
            text_column("remarks"),
        ),
        [_advised(each) for each in found],
    )
    if not found:
        output.say(say_needed(pages_per_hour, per_proxy))
    return None


def _advised(each: "PoolSize") -> tuple[str, ...]:
    return (
        words.clean(each.domain),
        str(each.active),
        str(each.proxies),
        str(each.needed),
        "–" if each.failed_percent is None else f"{each.failed_percent:.0f} %",
        "–" if each.avg_response_time_ms is None else f"{each.avg_response_time_ms:,.0f} ms",
        ", ".join(each.remarks) or "fine",
    )


def say_needed(pages_per_hour: float | None, per_proxy: float | None) -> str:
    from forager.proxies.rotation import proxies_needed

    if pages_per_hour is None or per_proxy is None:
        return "No domain has a pool. Try: forager proxies assign DOMAIN ID."
    needed = proxies_needed(pages_per_hour, per_proxy)
    return f"{pages_per_hour:g} pages an hour at {per_proxy:g} requests per proxy need {needed} proxies."
