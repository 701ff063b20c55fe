"""`forager normalize`: prints the normalised form of URLs. No database; prints JSON."""

from typing import Annotated, Any

import typer

from forager.cli import output
from forager.cli.help import Command
from forager.cli.inputs import Json
from forager.errors import BadUrlError, UsageError


def register(app: typer.Typer) -> None:
    app.command("normalize", cls=Command, rich_help_panel="Try one thing (no database)")(normalize)


def normalize(urls: Annotated[list[str], typer.Argument(metavar="URL")], _as_json: Json = False) -> None:
    """Show the normalised form of URLs, a JSON object per line."""
    rows = [normal_form(url) for url in urls]
    for row in rows:
        output.write_json(row)
    if bad := [row["input"] for row in rows if "error" in row]:
        raise UsageError(
            f"{len(bad)} of {len(rows)} cannot be crawled: {bad[0]!r}." if len(rows) > 1 else rows[0]["error"]
        )


def normal_form(url: str) -> dict[str, Any]:
    from forager.urls.domain import domain_of, origin_of, registrable
    from forager.urls.normalize import has_credentials, url_key
    from forager.urls.normalize import normalize as normalize_url

    try:
        spelling = normalize_url(url)
    except BadUrlError as error:
        return {"input": url, "error": str(error)}
    domain = domain_of(spelling)
    note = {"note": "the user name and password are removed; set them for the domain"} if has_credentials(url) else {}
    return {
        "input": url,
        "url": spelling,
        "domain": domain,
        "registrable": registrable(domain),
        "origin": origin_of(spelling),
        "key": url_key(spelling).hex(),
        **note,
    }
