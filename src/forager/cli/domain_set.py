"""`forager domain NAME set`: how a domain is crawled. Flags become columns; `control.knobs` knows their bounds."""

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import given, output, words
from forager.cli.flags import AsJson, Home
from forager.cli.given import Given
from forager.cli.start import act, begin, whoami
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.control.operate import Configured
    from forager.settings import Settings

PACE, AGAIN, WHEN, THROUGH = "How fast and how much", "Visits again", "When", "Through its proxies"
SAFE = "How safe"
UNVERIFIED = "Whoever answers in its name is believed from now on: anybody on the way can read and change its pages."


class YesNo(StrEnum):
    YES = "yes"
    NO = "no"


Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Delay = Annotated[
    Given | None,
    typer.Option(
        "--delay", parser=given.number_or_none, metavar="S", help="Seconds between requests.", rich_help_panel=PACE
    ),
]
Concurrency = Annotated[
    Given | None,
    typer.Option(
        "--concurrency", parser=given.count_or_none, metavar="N", help="Requests open at once.", rich_help_panel=PACE
    ),
]
MaxPages = Annotated[
    Given | None,
    typer.Option(
        "--max-pages", parser=given.count_or_none, metavar="N", help="Pages in one run.", rich_help_panel=PACE
    ),
]
Every = Annotated[
    Given | None,
    typer.Option(
        "--every", parser=given.span_or_none, metavar="TIME", help="Such as 6h; or never.", rich_help_panel=AGAIN
    ),
]
Adaptive = Annotated[
    bool | None,
    typer.Option(
        "--adaptive/--no-adaptive", help="Learn how often each page changes, and visit by that.", rich_help_panel=AGAIN
    ),
]
PerDay = Annotated[
    Given | None,
    typer.Option(
        "--revisits-per-day",
        parser=given.number_or_none,
        metavar="N",
        help="What an adaptive domain may spend.",
        rich_help_panel=AGAIN,
    ),
]
Refresh = Annotated[
    Given | None,
    typer.Option(
        "--refresh",
        parser=given.span_or_none,
        metavar="TIME",
        help="Once exhausted, all of it again after so long.",
        rich_help_panel=AGAIN,
    ),
]
Window = Annotated[
    Given | None,
    typer.Option(
        "--window",
        parser=given.window_or_none,
        metavar="FROM-TO",
        help="No visits then, daily, UTC, such as 22:00-06:00; or none.",
        rich_help_panel=WHEN,
    ),
]
History = Annotated[
    Given | None,
    typer.Option(
        "--history",
        parser=given.span_or_none,
        metavar="TIME",
        help="Its visits leave for cold files after so long.",
        rich_help_panel=WHEN,
    ),
]
ImageFiles = Annotated[
    Given | None,
    typer.Option(
        "--image-files",
        parser=given.span_or_none,
        metavar="TIME",
        help="Files of its images are kept so long after they were last seen.",
        rich_help_panel=WHEN,
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--keep",
        "--policy",
        metavar="POLICY",
        help="Bodies: signals (none), snapshot, archive (WARC); or default.",
        rich_help_panel=WHEN,
    ),
]


Country = Annotated[
    Given | None,
    typer.Option(
        "--proxy-country",
        parser=given.country_or_none,
        metavar="CC",
        help="Only those of this country.",
        rich_help_panel=THROUGH,
    ),
]
PerProxy = Annotated[
    bool | None,
    typer.Option(
        "--pace-per-proxy/--no-pace-per-proxy",
        help="The delay holds for each, not for all together.",
        rich_help_panel=THROUGH,
    ),
]


VerifyTls = Annotated[
    bool | None,
    typer.Option(
        "--verify-tls/--no-verify-tls",
        help="Without: whoever answers is believed, whatever its certificate says.",
        rich_help_panel=SAFE,
    ),
]
ImagesPolicy = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="POLICY",
        help="Images of its pages: none, found, download; or default.",
        rich_help_panel=WHEN,
    ),
]
RenderingFlag = Annotated[
    str | None,
    typer.Option(
        "--rendering",
        metavar="WHEN",
        help="A browser runs its scripts: never, auto (empty pages), always; or default.",
        rich_help_panel=WHEN,
    ),
]
Links = Annotated[
    YesNo | None,
    typer.Option("--links", help="Store which page links to which.", rich_help_panel=WHEN),
]
Parser = Annotated[
    str | None,
    typer.Option(
        "--parser", metavar="NAME", help="Who reads its products: auto, generic, amazon.", rich_help_panel=WHEN
    ),
]


def change(
    name: Name,
    *,
    delay: Delay = None,
    concurrency: Concurrency = None,
    max_pages: MaxPages = None,
    every: Every = None,
    adaptive: Adaptive = None,
    revisits_per_day: PerDay = None,
    refresh: Refresh = None,
    window: Window = None,
    policy: Policy = None,
    images: ImagesPolicy = None,
    rendering: RenderingFlag = None,
    links: Links = None,
    history: History = None,
    image_files: ImageFiles = None,
    parser: Parser = None,
    proxy_country: Country = None,
    pace_per_proxy: PerProxy = None,
    verify_tls: VerifyTls = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Change pace, budget, frequency, window; `default` clears."""
    from forager.control import operate

    flags = {
        "crawl_delay_s": delay,
        "max_concurrent_requests": concurrency,
        "max_pages_per_run": max_pages,
        "revisit_every_s": every,
        "is_adaptive": None if adaptive is None else Given(adaptive),
        "revisits_per_day": revisits_per_day,
        "refresh_every_s": refresh,
        **_edges(window),
        "content_policy": None if policy is None else Given(None if policy == "default" else policy),
        "images_policy": None if images is None else Given(None if images == "default" else images),
        "rendering": None if rendering is None else Given(None if rendering == "default" else rendering),
        "stores_links": None if links is None else Given(links is YesNo.YES),
        "history_retention_s": history,
        "image_retention_s": image_files,
        "parser_name": None if parser is None else Given(None if parser == "default" else parser),
        "proxy_country": proxy_country,
        "paces_per_proxy": None if pace_per_proxy is None else Given(pace_per_proxy),
        "verifies_tls": None if verify_tls is None else Given(verify_tls),
    }
    changes = {column: flag.value for column, flag in flags.items() if flag is not None}
    if not changes:
        raise UsageError(f"Nothing to set; `forager domain {name} set --help` lists what can be.")
    settings = begin(home=home)
    done = act(
        settings,
        "domain",
        lambda connection: operate.configure(
            connection, name, changes, by=whoami(), refresh_every_s=refresh_rest(settings)
        ),
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


def _edges(window: Given | None) -> dict[str, Given | None]:
    start, end = (None, None) if window is None or window.value is None else window.value
    columns = {"maintenance_start": start, "maintenance_end": end}
    return {} if window is None else {column: Given(edge) for column, edge in columns.items()}


def _queue_images(settings: "Settings", name: str) -> int:
    """What was found before it was wanted; a duty does what a kill leaves of it."""
    import asyncio

    from forager.app import open_forager
    from forager.app.images import queue_wanted

    async def once() -> int:
        async with open_forager(settings, application="forager domain") as forager:
            return await queue_wanted(forager, name=name)

    return asyncio.run(once())


def refresh_rest(settings: "Settings") -> float | None:
    """How long an exhausted domain rests; None where nothing is refreshed."""
    return settings.refresh_every_s if settings.refresh else None


def say_configured(done: "Configured") -> str:
    from forager.control.knobs import in_words

    told = f"{done.name}: {in_words(done.changes)}."
    if done.planned:
        told += f" The next visit of {words.things(done.planned, 'page')} is planned."
    if done.dropped:
        told += f" {words.things(done.dropped, 'planned visit')} dropped."
    return told
