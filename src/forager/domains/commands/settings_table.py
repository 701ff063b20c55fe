"""Prints effective crawl settings, group by group, each with its origin."""

from typing import Any

from forager.cli import format as words
from forager.cli import output
from forager.config.crawl_settings import group_of, is_duration

Row = dict[str, Any]


def write_settings(title: str, profile: str | None, rows: list[Row]) -> None:
    """Prints a line per setting: name, value, origin where it is not a default."""
    from rich.text import Text

    screen = output.console()
    heading = Text(words.clean(title), style="bold")
    screen.print(heading.append(f"  profile {profile}" if profile else "", style="dim"))
    width = max((len(row["name"]) for row in rows), default=0)
    group = None
    for row in rows:
        if (its := group_of(row["name"])) != group:
            group = its
            screen.print(Text(f"\n  {group}", style="dim"))
        is_default = row["origin"] == "default"
        line = Text(f"    {row['name']:<{width}}  ", style="dim" if is_default else "")
        line.append(words.clean(format_value(row["name"], row["value"])), style="dim" if is_default else "bold")
        if not is_default:
            line.append(f"  ({row['origin']})", style="cyan")
        screen.print(line, soft_wrap=True)
    if not rows:
        output.say("Nothing was chosen: every setting has its default.")


def format_value(name: str, value: Any) -> str:
    """Returns a value as it is written after a flag."""
    match value:
        case None:
            return "never" if is_duration(name) and name.endswith("_every") else "none"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(map(str, value)) or "none"
        case dict():
            return ", ".join(f"{key}: {text}" for key, text in value.items()) or "none"
        case float():
            return f"{value:,g}"
        case _:
            return str(value)
