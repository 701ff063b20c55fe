"""`forager settings`: each setting, its value, where that comes from, what it means. Passwords are never shown."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.errors import NotFoundError

if TYPE_CHECKING:
    from forager.config.settings import Settings

MASK = "***"


def _list_names() -> list[str]:
    """Returns what Tab completes."""
    from forager.config.settings import FIELDS

    return list(FIELDS)


Name = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Explain this setting.", autocompletion=_list_names),
]
All = Annotated[bool, typer.Option("--all", "-a", help="List advanced settings that have their default, too.")]


def register(app: typer.Typer) -> None:
    app.command("settings", cls=Command, rich_help_panel="Look after it")(show_settings)


def show_settings(name: Name = None, show_all: All = False, as_json: AsJson = False, home: Home = None) -> None:
    """Show each setting, its value and where it comes from; or explain one.

    NAME is `politeness.delay`, FORAGER_POLITENESS_DELAY, its last part `delay`, or a section such as `politeness`.
    """
    from forager.cli.start import read_settings

    rows = describe(read_settings(home=home), flags={"home"} if home else set())
    if name is not None:
        return _show_named(name, rows, as_json)
    return _show_list(rows, show_all=show_all, as_json=as_json)


def _show_list(rows: list[dict[str, Any]], *, show_all: bool, as_json: bool) -> None:
    from forager.config.native import describe_native

    shown = [row for row in rows if show_all or not row["is_advanced"] or row["source"] != "default"]
    if as_json:
        return output.write_json_list([_brief(row) for row in shown])
    _write_rows(shown)
    output.say(describe_native())
    if len(shown) < len(rows):
        output.say(
            f"{len(rows) - len(shown)} advanced settings have their default; `forager settings --all` lists them."
        )
    return output.say("`forager settings NAME` explains one.")


def _show_named(name: str, rows: list[dict[str, Any]], as_json: bool) -> None:
    from forager.config.explain import find_settings, suggest_settings

    found = find_settings(name)
    if not found:
        close = suggest_settings(name)
        hint = f"Did you mean {' or '.join(close)}?" if close else "`forager settings --all` lists them all."
        raise NotFoundError(f"There is no setting {name!r}. {hint}")
    chosen = [row for row in rows if row["name"] in found]
    if len(chosen) > 1:
        return output.write_json_list([_brief(row) for row in chosen]) if as_json else _write_rows(chosen)
    return output.write_json(chosen[0]) if as_json else _explain(chosen[0])


def _brief(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("name", "value", "source", "is_advanced", "description")}


def _explain(row: dict[str, Any]) -> None:
    """Prints one setting with all that is known of it."""
    lines = [
        ("value", _text(row["value"])),
        ("from", row["source"]),
        ("default", _text(row["default"])),
        ("type", row["type"]),
        ("unit", row["unit"]),
        ("bounds", row["bounds"]),
        ("in a file", row["in_file"]),
        ("environment", row["variable"]),
        ("", "advanced: few instances change it" if row["is_advanced"] else None),
    ]
    screen, width = output.console(), table.width()
    screen.print(row["name"], style="bold")
    screen.print(table.wrap_text(f"  {row['description']}", width, 2))
    for title, text in lines:
        if text is not None:
            screen.print(table.wrap_text(f"  {title:11}  {text}", width, 15))


def describe(settings: "Settings", flags: set[str]) -> list[dict[str, Any]]:
    """Returns one row per setting, section by section."""
    from forager.config.explain import accepted
    from forager.config.loader import source_of, variable_of
    from forager.config.settings import FIELDS, SECRETS, Settings, is_advanced, write_value

    return [
        {
            "name": path,
            "value": _value(path, settings),
            "source": "flag" if path in flags else source_of(path, home=settings.home),
            "is_advanced": is_advanced(path),
            "description": field.description,
            "default": None if path in SECRETS or path == "home" else write_value(path, Settings().get(path)),
            **accepted(path)._asdict(),
            "variable": variable_of(path),
            "in_file": _place_in_file(path),
        }
        for path, field in FIELDS.items()
    ]


def _place_in_file(path: str) -> str:
    section, _, name = path.rpartition(".")
    return f"{name} in [{section}]" if section else name


def _value(path: str, settings: "Settings") -> Any:
    from forager.config.settings import SECRETS, write_value
    from forager.masking import mask_value

    value = settings.get(path)
    if path in SECRETS and value:
        return MASK if path in {"secret_key", "model.api_key"} else mask_password(value)
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
    """Prints a table; where the meaning would be cut, it is wrapped below its setting."""
    cells = [[row["name"], _text(row["value"]), row["source"], row["description"]] for row in rows]
    titles = ("setting", "value", "from")
    if table.fits([*titles, "meaning"], cells):
        return table.write([*titles, "meaning"], cells)
    columns = (table.Column("setting"), table.wrap_column("value"), table.wrap_column("from"))
    below = [line for *row, meaning in cells for line in (row, table.Note(f"  {meaning}", indent=2))]
    return table.write(columns, below)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(str(part) for part in value) or "–" if isinstance(value, list) else str(value)
