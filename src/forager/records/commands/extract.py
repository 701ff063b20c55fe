"""`forager extract`: tries extractors on one page, a saved one or one that is fetched now. No database."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AllowNetwork, Contact
from forager.cli.help import Command
from forager.cli.inputs import bytes_of, normal_url
from forager.cli.start import begin
from forager.cli.table import text_column, wrap_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.fetch.models import Fetched
    from forager.parsing.extractors.by_model import ModelExtractor
    from forager.parsing.extractors.definition import Extractor
    from forager.records.models import FoundRecord
    from forager.records.try_out import Trial

WEB = ("http://", "https://")
LONGEST_VALUE = 300


def register(app: typer.Typer) -> None:
    app.command("extract", cls=Command, rich_help_panel="Try one thing (no database)")(extract)


def extract(
    page: Annotated[
        str, typer.Argument(metavar="URL|FILE", help="A page to fetch, or a saved one; - reads standard input.")
    ],
    *,
    url: Annotated[str | None, typer.Option(metavar="URL", help="The address a file came from.")] = None,
    definitions: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FILE", help="An extractor file; default: those of the data folder."),
    ] = None,
    content_type: Annotated[str, typer.Option(metavar="TYPE", help="A file's Content-Type header.")] = "text/html",
    contact: Contact = None,
    allow_network: AllowNetwork = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as one JSON document.")] = False,
) -> None:
    """Try extractors on one page and show what they find."""
    settings = begin(contact=contact, fetch_allow_networks=allow_network or None)
    extractors = _load(settings, definitions or [])
    is_web = page.lower().startswith(WEB)
    if is_web and url is not None:
        raise UsageError("--url names the address of a file; a page that is fetched has its own.")
    if not is_web and url is None:
        raise UsageError(f"Say with --url where {page} came from: links and globs depend on it.")
    fetched = _fetch(settings, page) if is_web else _saved(page, url or "", content_type)
    from forager.records.try_out import try_extractors

    trial = try_extractors(fetched, extractors, settings)
    if as_json:
        return output.write_json(trial.to_dict())
    return _write(trial, extractors)


def _load(settings: "Settings", files: list[Path]) -> "list[Extractor | ModelExtractor]":
    from forager.parsing.extractors.load import FOLDER, load_file, load_folder

    if files:
        return [load_file(path) for path in files]
    folder = settings.home / FOLDER
    loaded = load_folder(folder)
    for bad in loaded.bad:
        output.complain(bad.problem)
    if not loaded.extractors:
        raise UsageError(f"There is no extractor in {folder}; name a file with --with.")
    return list(loaded.extractors)  # without those that ask a model: a call may cost money, so they are named


def _saved(page: str, url: str, content_type: str) -> "Fetched":
    from forager.fetch.models import Fetched

    body = sys.stdin.buffer.read() if page == "-" else bytes_of(Path(page))
    return Fetched(normal_url(url), 200, {"content-type": content_type}, body, len(body), 0)


def _fetch(settings: "Settings", page: str) -> "Fetched":
    import asyncio

    from forager.errors import ForagerError
    from forager.pages.fetch_one import fetch_one
    from forager.seeds.commands.arguments import require_contact

    target = normal_url(page)
    require_contact([target], settings.contact)
    seen = asyncio.run(fetch_one(settings, target))
    if seen.fetched is None or seen.error is not None:
        raise ForagerError(f"{target} could not be fetched: {seen.error}.")
    if seen.reading is None:
        raise ForagerError(f"{target} returned status {seen.fetched.status_code} and no page.")
    return seen.fetched


def _write(trial: "Trial", extractors: "list[Extractor | ModelExtractor]") -> None:
    for record in trial.records:
        _write_record(record)
    for problem in trial.problems:
        output.say(f"Failed: {problem}.")
    if not trial.records:
        names = ", ".join(each.name for each in extractors)
        output.say(f"Nothing found by {names}. Check [match]: domains, url, page, selector.")
        return
    broken = sum(not record.is_complete for record in trial.records)
    told = f"; {words.count(broken)} incomplete" if broken else ""
    output.say(f"{words.things(len(trial.records), 'record')} found{told}.")


def _write_record(record: "FoundRecord") -> None:
    key = f"  key {words.clean(record.key)}" if record.key else ""
    screen = output.console()
    screen.print(f"{record.kind} by {record.extractor}{key}", markup=False, highlight=False)
    rows = [
        (f"  {name}", words.clean(shown(value)), words.clean(record.evidence.get(name, "")))
        for name, value in record.fields.items()
    ]
    table.write((text_column("  field"), wrap_column("value"), text_column("where")), rows)
    if record.problems:
        screen.print(f"  problems: {', '.join(record.problems)}", markup=False, highlight=False)


def shown(value: Any) -> str:
    """Returns a value on one line: an amount with its currency, the elements of a list."""
    if value is None:
        return "–"
    if isinstance(value, dict) and value.keys() == {"amount", "currency"}:
        return f"{value['amount']} {value['currency'] or ''}".strip()
    if isinstance(value, list):
        return ", ".join(shown(each) for each in value)[:LONGEST_VALUE]
    return str(value)[:LONGEST_VALUE]
