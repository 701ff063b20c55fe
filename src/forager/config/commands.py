"""`forager settings`: each setting, its value, where that comes from, what it means. Passwords are never shown."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command

if TYPE_CHECKING:
    from forager.config.settings import Settings

MASK = "***"
All = Annotated[bool, typer.Option("--all", "-a", help="List advanced settings that have their default, too.")]


def register(app: typer.Typer) -> None:
    app.command("settings", cls=Command, rich_help_panel="Look after it")(show_settings)


def show_settings(show_all: All = False, as_json: AsJson = False, home: Home = None) -> None:
    """Show each setting, its value and where it comes from."""
    from forager.cli.start import begin
    from forager.config.native import describe_native

    rows = describe(begin(home=home), flags={"home"} if home else set())
    shown = [row for row in rows if show_all or not row["is_advanced"] or row["source"] != "default"]
    if as_json:
        output.write_json_list(shown)
    else:
        _write_rows(shown)
        output.say(describe_native())
        if len(shown) < len(rows):
            output.say(
                f"{len(rows) - len(shown)} advanced settings have their default; `forager settings --all` lists them."
            )


def describe(settings: "Settings", flags: set[str]) -> list[dict[str, Any]]:
    """Returns one row per setting, section by section."""
    from forager.config.loader import source_of
    from forager.config.settings import FIELDS, is_advanced

    return [
        {
            "name": path,
            "value": _value(path, settings),
            "source": "flag" if path in flags else source_of(path, home=settings.home),
            "is_advanced": is_advanced(path),
            "description": field.description,
        }
        for path, field in FIELDS.items()
    ]


def _value(path: str, settings: "Settings") -> Any:
    from forager.config.settings import SECRETS, write_value
    from forager.masking import mask_value

    value = settings.get(path)
    if path in SECRETS and value:
        return MASK if path == "secret_key" else mask_password(value)
    return mask_value(write_value(path, value))


def mask_password(url: str) -> str:
    """The URL of a server, fit to be shown: its password is masked, in the authority and as a parameter."""
    from urllib.parse import parse_qsl, quote, urlencode, urlsplit

    parts = urlsplit(url)
    account, at, address = parts.netloc.rpartition("@")
    user, colon, _ = account.partition(":")
    query = [(key, MASK if "password" in key.lower() else value) for key, value in parse_qsl(parts.query)]
    netloc = f"{user}{colon and ':' + MASK}{at}{address}"
    return parts._replace(netloc=netloc, query=urlencode(query, safe="*/", quote_via=quote)).geturl()


def _write_rows(rows: list[dict[str, Any]]) -> None:
    columns = ("setting", "value", "from", table.text_column("meaning"))
    table.write(columns, [[row["name"], _text(row["value"]), row["source"], row["description"]] for row in rows])


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return ", ".join(str(part) for part in value) or "–" if isinstance(value, list) else str(value)
