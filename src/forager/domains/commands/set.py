"""`forager domain NAME set`: changes domain settings. Flags become columns; `domains.settings` has their bounds."""

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import option_values as given
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.option_values import Given
from forager.cli.start import Noted, begin, run_action, whoami
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.domains.service import Configured

PACE, AGAIN, WHEN, THROUGH = "How fast and how much", "Visits again", "When", "Through its proxies"
KEEPS, READS, SAFE, WHO = "What is kept of it", "How it is read", "How safe", "By whom"
UNVERIFIED = "Whoever answers in its name is believed from now on: anybody on the way can read and change its pages."


class YesNo(StrEnum):
    YES = "yes"
    NO = "no"


def setting_option(names: str, parser: Callable[[str], Given], metavar: str | None, told: str, panel: str) -> Any:
    """A flag whose value may be `default`; several names have a space between them."""
    return typer.Option(*names.split(), parser=parser, metavar=metavar, help=told, rich_help_panel=panel)


def switch(names: str, told: str, panel: str) -> Any:
    return typer.Option(names, help=told, rich_help_panel=panel)


Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Delay = Annotated[Given | None, setting_option("--delay", given.number_or_none, "S", "Seconds between requests.", PACE)]
Concurrency = Annotated[
    Given | None, setting_option("--concurrency", given.count_or_none, "N", "Requests open at once.", PACE)
]
MaxPages = Annotated[Given | None, setting_option("--max-pages", given.count_or_none, "N", "Pages in one run.", PACE)]
PerTemplate = Annotated[
    Given | None,
    setting_option(
        "--pages-per-template", given.count_or_none, "N", "Pages of one URL template, such as /item/{n}.", PACE
    ),
]
Every = Annotated[Given | None, setting_option("--every", given.span_or_none, "TIME", "Such as 6h; or never.", AGAIN)]
Adaptive = Annotated[
    bool | None, switch("--adaptive/--no-adaptive", "Learn how often each page changes, and visit by that.", AGAIN)
]
PerDay = Annotated[
    Given | None,
    setting_option("--revisits-per-day", given.number_or_none, "N", "What an adaptive domain may spend.", AGAIN),
]
Refresh = Annotated[
    Given | None,
    setting_option("--refresh", given.span_or_none, "TIME", "Once exhausted, all of it again after so long.", AGAIN),
]
Window = Annotated[
    Given | None,
    setting_option(
        "--window",
        given.window_or_none,
        "FROM-TO",
        "No visits then, daily, UTC, such as 22:00-06:00; or none.",
        WHEN,
    ),
]
Label = Annotated[
    Given | None,
    setting_option("--worker-label", given.word, "LABEL", "Only workers with this label crawl it; or default.", WHO),
]
Policy = Annotated[
    Given | None,
    setting_option(
        "--keep --policy", given.word, "POLICY", "Bodies: signals (none), snapshot, archive (WARC); or default.", KEEPS
    ),
]
ImagesPolicy = Annotated[
    Given | None,
    setting_option("--images", given.word, "POLICY", "Images of its pages: none, found, download; or default.", KEEPS),
]
RenderingFlag = Annotated[
    Given | None,
    setting_option(
        "--rendering",
        given.word,
        "WHEN",
        "A browser runs its scripts: never, auto (empty pages), always; or default.",
        READS,
    ),
]
Links = Annotated[YesNo | None, switch("--links", "Store which page links to which.", KEEPS)]
History = Annotated[
    Given | None,
    setting_option("--history", given.span_or_none, "TIME", "Its visits leave for cold files after so long.", KEEPS),
]
ImageFiles = Annotated[
    Given | None,
    setting_option(
        "--image-files",
        given.span_or_none,
        "TIME",
        "Files of its images are kept so long after they were last seen.",
        KEEPS,
    ),
]
Parser = Annotated[
    Given | None,
    setting_option("--parser", given.word, "NAME", "Who reads its products: auto, generic, amazon.", READS),
]
Country = Annotated[
    Given | None, setting_option("--proxy-country", given.parse_country, "CC", "Only those of this country.", THROUGH)
]
PerProxy = Annotated[
    bool | None,
    switch("--pace-per-proxy/--no-pace-per-proxy", "The delay holds for each, not for all together.", THROUGH),
]
VerifyTls = Annotated[
    bool | None,
    switch(
        "--verify-tls/--no-verify-tls", "Without: whoever answers is believed, whatever its certificate says.", SAFE
    ),
]

ForgetNetworks = Annotated[
    bool,
    typer.Option("--forget-networks", help="Take back what --allow-network allowed for it.", rich_help_panel=SAFE),
]


def change(
    name: Name,
    *,
    delay: Delay = None,
    concurrency: Concurrency = None,
    max_pages: MaxPages = None,
    pages_per_template: PerTemplate = None,
    every: Every = None,
    adaptive: Adaptive = None,
    revisits_per_day: PerDay = None,
    refresh: Refresh = None,
    window: Window = None,
    policy: Policy = None,
    images: ImagesPolicy = None,
    image_files: ImageFiles = None,
    links: Links = None,
    history: History = None,
    rendering: RenderingFlag = None,
    parser: Parser = None,
    proxy_country: Country = None,
    pace_per_proxy: PerProxy = None,
    verify_tls: VerifyTls = None,
    worker_label: Label = None,
    forget_networks: ForgetNetworks = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Change pace, budget, frequency, window; `default` clears."""
    from forager.domains import service as domain_admin

    flags: dict[str, Given | None] = {
        "crawl_delay_s": delay,
        "max_concurrent_requests": concurrency,
        "max_pages_per_run": max_pages,
        "max_pages_per_template": pages_per_template,
        "revisit_every_s": every,
        "is_adaptive": given.switch(adaptive),
        "revisits_per_day": revisits_per_day,
        "refresh_every_s": refresh,
        **_edges(window),
        "content_policy": policy,
        "images_policy": images,
        "rendering": rendering,
        "stores_links": given.switch(None if links is None else links is YesNo.YES),
        "history_retention_s": history,
        "image_retention_s": image_files,
        "parser_name": parser,
        "proxy_country": proxy_country,
        "paces_per_proxy": given.switch(pace_per_proxy),
        "verifies_tls": given.switch(verify_tls),
        "worker_label": worker_label,
    }
    changes = {column: flag.value for column, flag in flags.items() if flag is not None}
    if forget_networks:
        return _clear_networks(name, home, has_more=bool(changes), as_json=as_json)
    if not changes:
        raise UsageError(f"Nothing to set; `forager domain {name} set --help` lists what can be.")
    settings = begin(home=home)
    done = run_action(
        settings,
        "domain",
        lambda connection: domain_admin.configure(
            connection, name, changes, by=whoami(), refresh_every_s=refresh_cooldown(settings)
        ),
        noted=lambda done: Noted("domain.configure", "domain", done.name, {"changes": done.changes}),
    )
    queued = _queue_images(settings, done.name) if "images_policy" in changes else 0
    if as_json:
        output.write_json(asdict(done) | {"queued_images": queued})
    else:
        output.say(say_configured(done))
        if queued:
            output.say(f"{words.things(queued, 'image')} found earlier wait to be fetched.")
    if verify_tls is False:
        output.say(f"Warning: {UNVERIFIED}")
    return None


def _clear_networks(name: str, home: Path | None, *, has_more: bool, as_json: bool) -> None:
    from forager.domains import service as domain_admin

    if has_more:
        raise UsageError("--forget-networks stands alone; set the rest with a second command.")
    done = run_action(
        begin(home=home),
        "domain",
        lambda connection: domain_admin.clear_networks(connection, name, by=whoami()),
        noted=lambda done: Noted("domain.configure", "domain", done.name, {"changes": {"allow_networks": None}}),
    )
    if as_json:
        output.write_json(asdict(done))
    else:
        output.say(f"{done.name}: only public addresses and the setting fetch.allow_networks count for it now.")


def _edges(window: Given | None) -> dict[str, Given | None]:
    start, end = (None, None) if window is None or window.value is None else window.value
    columns = {"maintenance_start": start, "maintenance_end": end}
    return {} if window is None else {column: Given(edge) for column, edge in columns.items()}


def _queue_images(settings: "Settings", name: str) -> int:
    """What was found before it was wanted; a job does what a kill leaves of it."""
    import asyncio

    from forager.images.service import queue_wanted
    from forager.instance import open_forager

    async def once() -> int:
        async with open_forager(settings, application="forager domain") as forager:
            return await queue_wanted(forager, name=name)

    return asyncio.run(once())


def refresh_cooldown(settings: "Settings") -> float | None:
    """How long an exhausted domain rests; None where nothing is refreshed."""
    return settings.refresh.interval if settings.refresh.enabled else None


def say_configured(done: "Configured") -> str:
    from forager.domains.settings import in_words

    told = f"{done.name}: {in_words(done.changes)}."
    if done.planned:
        told += f" The next visit of {words.things(done.planned, 'page')} is planned."
    if done.dropped:
        told += f" {words.things(done.dropped, 'planned visit')} dropped."
    return told
