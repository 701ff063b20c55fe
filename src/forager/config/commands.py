"""`forager settings`: every setting, its value, where that comes from, what it means. Passwords are never shown."""

from typing import TYPE_CHECKING, Any

import typer

from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command

if TYPE_CHECKING:
    from forager.settings import Settings

MASK = "***"


def register(app: typer.Typer) -> None:
    app.command("settings", cls=Command, rich_help_panel="Look after it")(show_settings)


def show_settings(as_json: AsJson = False, home: Home = None) -> None:
    """Show every setting, its value and where it comes from."""
    from forager.cli.start import begin
    from forager.config.native import describe_native

    rows = describe(begin(home=home), flags={"home"} if home else set())
    if as_json:
        output.write_json_list(rows)
    else:
        _write_rows(rows)
        output.say(describe_native())


def describe(settings: "Settings", flags: set[str]) -> list[dict[str, Any]]:
    """One row per setting, in the order of the class."""
    from forager.settings import source_of

    return [
        {
            "name": name,
            "value": _value(name, getattr(settings, name)),
            "source": "flag" if name in flags else source_of(name, home=settings.home),
            "description": field.description,
        }
        for name, field in type(settings).model_fields.items()
    ]


def _value(name: str, value: Any) -> Any:
    from forager.masking import mask_urls
    from forager.settings import SECRETS

    if name == "secret_key" and value:
        return MASK
    if name in SECRETS and value:
        return mask_password(value)
    if isinstance(value, tuple):
        return [_value("", each) for each in value]
    return value if value is None or isinstance(value, bool | int | float) else mask_urls(str(value))


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
    columns = ("setting", "value", "from", table.prose("meaning"))
    table.write(columns, [[row["name"], _text(row["value"]), row["source"], row["description"]] for row in rows])


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return ", ".join(str(part) for part in value) or "–" if isinstance(value, list) else str(value)
