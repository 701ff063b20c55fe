"""`forager text`: the main text of a stored page or of a file, as Markdown."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.inputs import bytes_of, normal_url
from forager.cli.start import begin, run_query
from forager.errors import UsageError
from forager.parsing.markdown_formats import TextFormat, convert

if TYPE_CHECKING:
    from forager.pages.text import StoredText

WEB = ("http://", "https://")


def register(app: typer.Typer) -> None:
    app.command("text", cls=Command, rich_help_panel="Look")(text)


def text(
    target: Annotated[str, typer.Argument(metavar="URL|FILE", help="A known page, or a saved one; - reads it.")],
    *,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The address the file came from: links become absolute.")
    ] = None,
    format: Annotated[TextFormat, typer.Option(help="How it is written.")] = TextFormat.MARKDOWN,
    task: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="As this visit found it; else the newest.")
    ] = None,
    against: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Show what changed since this visit, as a unified diff.")
    ] = None,
    content_type: Annotated[str, typer.Option(metavar="TYPE", help="The Content-Type of the file.")] = "text/html",
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Print the main text of a page as Markdown."""
    if target.startswith(WEB) and url is None:
        found = _of_page(target, format, task, against, home)
    elif task is not None or against is not None:
        raise UsageError("--task and --against are for pages of a crawl: give the URL of one.")
    else:
        found = {"url": url, "text": _of_file(target, url, content_type, format)}
    if as_json:
        output.write_json(found)
    elif found["text"]:
        sys.stdout.write(found["text"].rstrip("\n") + "\n")


def _of_file(file: str, url: str | None, content_type: str, form: TextFormat) -> str:
    from forager.fetch.models import Fetched
    from forager.storage.text import render

    address = normal_url(url) if url else ""
    if file != "-" and not Path(file).exists():
        raise UsageError(f"{file} is neither a file nor the URL of a page.")
    body = sys.stdin.buffer.read() if file == "-" else bytes_of(Path(file))
    begin()
    return convert(render(Fetched(address, 200, {"content-type": content_type}, body, len(body), 0)), form)


def _of_page(url: str, form: TextFormat, task: int | None, against: int | None, home: Path | None) -> dict[str, Any]:
    from forager.pages import text as texts
    from forager.pages.queries import find_page
    from forager.storage.factory import open_readonly_store

    settings = begin(home=home)
    policy = settings.storage.content_policy

    async def find(connection: Any) -> "list[StoredText]":
        page = (await find_page(connection, url))["id"]
        wanted = [task] if against is None else [against, task]
        return [await texts.find_text(connection, page, task=each, default_policy=policy) for each in wanted]

    async def load(connection: Any) -> tuple["StoredText", str]:
        visits = await find(connection)
        store = open_readonly_store(settings)
        if against is None:
            return visits[0], await texts.load_as(store, visits[0], form)
        return visits[1], await texts.compare(store, visits[0], visits[1], form)

    visit, said = run_query(settings, "text", load)
    return {"url": visit.url, "task": visit.task_id, "completed_at": visit.completed_at, "text": said}
