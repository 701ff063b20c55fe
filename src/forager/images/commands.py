"""`forager images`: what pages show, and where; one image with every page it was seen on; those that look alike."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_query
from forager.cli.table import COLOURS, Cell, number, say_more, text_column, wrap_column, wrap_text
from forager.domains.commands.card import LABEL_WIDTH, MARGIN
from forager.errors import UsageError
from forager.images.models import ImageStatus

if TYPE_CHECKING:
    from forager.config.settings import Settings

Row = dict[str, Any]
SUMMARY = "List images and where they were seen; show one, find similar ones, save files."
NONE = "No image fits. `forager images` without filters shows what is known."
PAGES_SHOWN = 20
FILES = {"file": "body_ref", "thumbnail": "thumbnail_ref"}


class Format(StrEnum):
    JPEG = "jpeg"
    PNG = "png"
    GIF = "gif"
    WEBP = "webp"
    AVIF = "avif"
    BMP = "bmp"
    ICO = "ico"
    TIFF = "tiff"
    SVG = "svg"


Which = Annotated[str, typer.Argument(metavar="URL|ID", help="URL or ID of the image.")]
OnPage = Annotated[str | None, typer.Option("--page", metavar="URL", help="Only images on this page.")]
OneFormat = Annotated[Format | None, typer.Option("--format", help="Only stored files of this format.")]
OneStatus = Annotated[ImageStatus | None, typer.Option("--status", help="Only images in this state.")]
Within = Annotated[int, typer.Option(min=0, max=64, metavar="BITS", help="Maximum distance, in bits of 64.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(images)
    for name, function in (("show", show), ("similar", similar), ("save", save)):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="images", rich_help_panel="Look")


def images(
    context: typer.Context,
    *,
    domain: DomainName = None,
    page: OnPage = None,
    format: OneFormat = None,
    status: OneStatus = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List images and where they were seen; show one, find similar ones, save files."""
    if context.invoked_subcommand is not None:
        if domain or page or format or status or limit != 50 or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager images {verb} --json.")
        return None
    from forager.images.queries import list_sightings

    rows = run_query(
        begin(home=home),
        "images",
        lambda connection: list_sightings(
            connection, domain=domain, page=page, file_format=format, status=status, limit=limit
        ),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            number("id"),
            "status",
            "type",
            number("pixels"),
            number("size"),
            number("pages"),
            wrap_column("url"),
            text_column("alt"),
        ),
        [
            (
                str(row["id"]),
                _status_cell(row["status"]),
                row["image_type"] or "–",
                _format_size(row),
                words.size(row["file_size"]) if row["file_size"] else "–",
                words.count(row["pages"] or 0),
                words.clean(row["url"]),
                words.clean(row["alt_text"]),
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "images", NONE)


def show(which: Which, as_json: AsJson = False, home: Home = None) -> None:
    """Show one image: its file, and every page it was seen on."""
    from forager.images.queries import describe_image

    settings = begin(home=home)
    image = run_query(settings, "images", lambda connection: describe_image(connection, which))
    places = {name: _place(settings, image[ref]) for name, ref in FILES.items()}
    if as_json:
        return output.write_json(image | places)
    return _write(image | places, clock.now())


def _place(settings: "Settings", ref: str | None) -> str | None:
    """Where a stored file is: an absolute path, or its address in the bucket."""
    from forager.storage.factory import where_bodies_go

    return f"{where_bodies_go(settings).rstrip('/')}/{ref}" if ref else None


def save(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The site whose pages show them.")],
    *,
    to: Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where to; created if it is missing.")],
    format: OneFormat = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Copy the stored image files of a site into a folder."""
    from forager.errors import StoreError
    from forager.images.file_names import file_name
    from forager.images.queries import list_images
    from forager.storage.factory import get_location

    settings = begin(home=home)
    rows = run_query(
        settings,
        "images",
        lambda connection: list_images(connection, shown_in=domain, status=ImageStatus.STORED, file_format=format),
    )
    location, written, missing = get_location(settings), 0, 0
    try:
        to.mkdir(parents=True, exist_ok=True)
        for row in rows:
            try:
                body = location.get(row["body_ref"])
            except StoreError:
                missing += 1
                continue
            (to / file_name(row["id"], row["url"], row["format"])).write_bytes(body)
            written += 1
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {(error.strerror or str(error)).lower()}.") from None
    if as_json:
        return output.write_json({"folder": str(to.resolve()), "written": written, "missing": missing})
    lost = f"; {words.things(missing, 'file')} could not be read" if missing else ""
    none = " `forager crawl DOMAIN --images download` fetches the files." if not rows else ""
    return output.say(f"{words.things(written, 'image')} written to {to.resolve()}{lost}.{none}")


def similar(
    which: Which,
    within: Within = 6,
    limit: Limit = 20,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List stored images that look like one, nearest first."""
    from forager.images.queries import similar_images

    image, rows = run_query(
        begin(home=home),
        "images",
        lambda connection: similar_images(connection, which, within=within, limit=limit),
    )
    if as_json:
        return output.write_json({"image": image, "similar": rows})
    table.write(
        (number("bits"), number("id"), "format", number("pixels"), number("size"), wrap_column("url")),
        [
            (
                "same" if row["is_same_file"] else str(row["distance"]),
                str(row["id"]),
                row["format"] or "–",
                _format_size(row),
                words.size(row["file_size"]),
                words.clean(row["url"]),
            )
            for row in rows
        ],
    )
    none = f"Nothing looks like it within {words.things(within, 'bit')}; --within takes up to 64."
    return say_more(rows, limit, "images", none)


def _write(image: Row, now: datetime) -> None:
    from rich.text import Text

    screen = output.console()
    screen.print(Text(words.clean(image["url"]), style="bold"))
    for label, value in image_lines(image, now):
        shown = wrap_text(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        screen.print(Text(f"  {label:<{LABEL_WIDTH}}", style="dim").append(shown[MARGIN:], style="not dim"))


def image_lines(image: Row, now: datetime) -> list[tuple[str, str]]:
    pages = image["pages"]
    lines = [
        ("number", str(image["id"])),
        ("status", _status(image, now)),
        ("picture", _format_image(image)),
        ("file", image["file"] or ""),
        ("thumbnail", image["thumbnail"] or ""),
        ("sha-256", image["content_hash"] or ""),
        ("look", f"{image['perceptual_hash'] & (1 << 64) - 1:016x}" if image["perceptual_hash"] is not None else ""),
        ("moved to", image["moved_to"] or ""),
        *(("same file", url) for url in (image["same_file"] or ())[:5]),
        ("first seen", f"{words.format_relative(image['first_seen_at'], now)}, on {image['domain']}"),
        *(("on page" if place == 0 else "", _sighting(page, now)) for place, page in enumerate(pages[:PAGES_SHOWN])),
        ("", f"and {words.things(len(pages) - PAGES_SHOWN, 'more page')}" if len(pages) > PAGES_SHOWN else ""),
    ]
    return [(label, value) for label, value in lines if value]


def _status(image: Row, now: datetime) -> str:
    asked = f", asked for {words.format_relative(image['checked_at'], now)}" if image["checked_at"] else ""
    return words.plain_reason(image["status"]) + asked + (f": {image['reason']}" if image["reason"] else "")


def _format_image(image: Row) -> str:
    if image["file_size"] is None:
        return ""
    frames = f", {words.things(image['frames'], 'frame')}" if (image["frames"] or 1) > 1 else ""
    pixels = f", {_format_size(image)} pixels" if image["width"] else ""
    return f"{image['format']}{pixels}{frames}, {words.size(image['file_size'])}"


def _sighting(page: Row, now: datetime) -> str:
    last = "still there" if page["is_shown"] else "gone since"
    alt = f" \u201c{page['alt_text']}\u201d" if page["alt_text"] else ""
    first_seen, last_seen = (words.format_relative(page[moment], now) for moment in ("first_seen_at", "last_seen_at"))
    when = f"first {first_seen}, {last} {last_seen}"
    return f"{page['page_url']} ({page['image_type']}, {page['discovery_type']}{alt}; {when})"


def _format_size(row: Row) -> str:
    return f"{row['width']}x{row['height']}" if row["width"] and row["height"] else "–"


def _status_cell(status: str) -> Cell:
    style = {"stored": "green", "found": "cyan", "moved": "dim", "dropped": "dim"}.get(status) or COLOURS.get(
        status, "red"
    )
    return Cell(words.plain_reason(status), style)
