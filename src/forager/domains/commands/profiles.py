"""`forager profiles`: named crawl settings for many domains: list, show, set, apply a file, join and leave."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.settings_flags import SettingsCommand, given_settings, merge_cleared
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.domains.commands.set import refresh_cooldown
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.domains.profiles import Applied, ProfileChange

Row = dict[str, Any]
MAX_SHOWN = 20
Name = Annotated[str, typer.Argument(metavar="NAME", help="The profile.")]
Members = Annotated[
    list[str] | None, typer.Argument(metavar="DOMAIN…", help="Names, URLs or patterns such as '*.example.org'.")
]
ListFile = Annotated[
    Path | None, typer.Option("--file", "-f", metavar="FILE", help="A list of domains, one per line; - for stdin.")
]
Source = Annotated[str | None, typer.Option(metavar="TEXT", help="Known domains from this source, such as tranco.")]
Parent = Annotated[str | None, typer.Option(metavar="NAME", help="Known domains below this registrable domain.")]
Status = Annotated[str | None, typer.Option(metavar="STATUS", help="Known domains in this state.")]
Cleared = Annotated[
    list[str] | None, typer.Option("--default", metavar="SETTING", help="Take this setting out. Repeatable.")
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Crawl settings for many domains at once.")
    family.command("list", cls=Command)(list_all)
    family.command("show", cls=Command)(show)
    family.command("set", cls=SettingsCommand)(change)
    family.command("apply", cls=Command)(apply)
    family.command("join", cls=Command)(join)
    family.command("leave", cls=Command)(leave)
    family.command("delete", cls=Command)(delete)
    app.add_typer(family, name="profiles", rich_help_panel="Look after it")


def list_all(as_json: AsJson = False, home: Home = None) -> None:
    """List profiles with the number of their domains."""
    from forager.domains import profiles

    settings = begin(home=home)
    rows = run_query(settings, "profiles", lambda conn: profiles.list_profiles(conn, _cipher(settings)))
    if as_json:
        return output.write_json(rows)
    if not rows:
        return output.say("There is no profile yet; `forager profiles apply FILE.toml` makes some.")
    now = clock.now()
    columns = [table.Column("profile"), table.number("domains"), table.text_column("settings"), table.Column("changed")]
    lines = [
        [
            row["name"],
            f"{row['domains']:,}",
            ", ".join(row["settings"]) or "none",
            words.format_relative(row["updated_at"], now),
        ]
        for row in rows
    ]
    return table.write(columns, lines)


def show(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Show a profile: its settings, which domains it names, which belong to it."""
    from forager.domains import profiles
    from forager.domains.commands.settings_table import write_settings

    settings = begin(home=home)
    found = run_query(settings, "profiles", lambda conn: profiles.show_profile(conn, name, _cipher(settings)))
    if as_json:
        return output.write_json(found)
    rows = [{"name": key, "value": value, "origin": f"profile {name}"} for key, value in found["settings"].items()]
    write_settings(f"profile {name}", None, rows)
    output.say(f"\n  names   {_some(found['members'])}")
    output.say(f"  domains {found['domains']:,}: {_some(found['domain_names'])}")
    return None


def change(ctx: typer.Context, name: Name, default: Cleared = None, as_json: AsJson = False, home: Home = None) -> None:
    """Change settings of a profile; a new name makes a new one."""
    changes = merge_cleared(given_settings(ctx), default or ())
    if not changes:
        raise UsageError("Nothing to set; `forager profiles set --help` lists what can be.")
    _run_change(name, home, as_json, settings=changes)


def join(
    name: Name,
    domains: Members = None,
    *,
    file: ListFile = None,
    source: Source = None,
    parent: Parent = None,
    status: Status = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Put domains into a profile: by name, list, filter or pattern."""
    begin(home=home)
    named = [*(domains or ()), *_read_list(file)]
    if source or parent or status:
        named += _matching(home, source=source, parent=parent, status=status)
    if not named:
        raise UsageError("Name domains, a pattern, --file, --source, --parent or --status.")
    _run_change(name, home, as_json, join=named)


def leave(
    name: Name, domains: Members = None, file: ListFile = None, as_json: AsJson = False, home: Home = None
) -> None:
    """Take domains or patterns out of a profile."""
    begin(home=home)
    named = [*(domains or ()), *_read_list(file)]
    if not named:
        raise UsageError("Name the domains or patterns that leave.")
    _run_change(name, home, as_json, leave=named)


def apply(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="Tables [profile.NAME]; - for stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Make profiles as a file declares them: shows the difference, then applies it."""
    from forager.domains import profiles

    settings = begin(home=home)
    specs = profiles.read_profiles(_read(file))

    def run(is_dry_run: bool) -> "Applied":
        return run_action(
            settings,
            "profiles",
            lambda conn: profiles.apply_profiles(
                conn,
                specs,
                by=whoami(),
                cipher=_cipher(settings, creates=True),
                refresh_every_s=refresh_cooldown(settings),
                is_dry_run=is_dry_run,
            ),
            noted=lambda done: None if is_dry_run else _noted(done),
        )

    if as_json:
        return output.write_json(asdict(run(dry_run)) | {"dry_run": dry_run})
    shown = run(is_dry_run=True)
    _say(describe(shown))
    if dry_run:
        return output.say("Nothing was changed: --dry-run.")
    done = run(is_dry_run=False)
    if done.changes != shown.changes:  # another process changed a profile in between
        _say(["What was applied is:", *describe(done)])
    return _say(describe_moves(done))


def delete(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """Delete a profile; what was chosen for its domains stays."""
    from forager.domains import profiles

    settings = begin(home=home)
    left = run_action(
        settings,
        "profiles",
        lambda conn: profiles.delete_profile(
            conn, name, by=whoami(), cipher=_cipher(settings), refresh_every_s=refresh_cooldown(settings)
        ),
        noted=lambda _left: Noted("profile.delete", "profile", name, {}),
    )
    if as_json:
        output.write_json({"name": name, "domains": left})
    else:
        output.say(f"Profile {name} deleted; {words.things(left, 'domain')} had it.")


def describe(done: "Applied") -> list[str]:
    """Returns a line per profile, and lines for what changes in it."""
    return [line for change in done.changes for line in _describe(change)]


def describe_moves(done: "Applied") -> list[str]:
    return [f"{words.things(done.domains, 'known domain')} changed profile."] if done.domains else []


def _say(lines: list[str]) -> None:
    for line in lines:
        output.say(line)


def _describe(change: "ProfileChange") -> list[str]:
    from forager.domains.commands.settings_table import format_value

    if change.is_empty:
        return [f"{change.name}: no change"]
    lines = [f"{change.name}: {'new' if change.is_new else 'changed'}"]
    for name, value in change.settings.items():
        if name in change.before:
            lines.append(f"  - {name} = {format_value(name, change.before[name])}")
        if value is not None:
            lines.append(f"  + {name} = {format_value(name, value)}")
    if change.joined:
        lines.append(f"  + domains {_some(change.joined)}")
    if change.left:
        lines.append(f"  - domains {_some(change.left)}")
    return lines


def _run_change(name: str, home: Path | None, as_json: bool, **order: Any) -> None:
    from forager.domains import profiles

    settings = begin(home=home)
    done = run_action(
        settings,
        "profiles",
        lambda conn: profiles.change_profile(
            conn,
            name,
            by=whoami(),
            cipher=_cipher(settings, creates=True),
            refresh_every_s=refresh_cooldown(settings),
            **order,
        ),
        noted=_noted,
    )
    if as_json:
        output.write_json(asdict(done))
    else:
        _say([*describe(done), *describe_moves(done)])


def _noted(done: "Applied") -> Noted | None:
    changed = [change for change in done.changes if not change.is_empty]
    if not changed:
        return None
    details = {
        each.name: {"settings": each.settings, "before": each.before, "joined": each.joined, "left": each.left}
        for each in changed
    }
    return Noted("profile.change", "profile", ", ".join(details), details)


def _cipher(settings: "Settings", *, creates: bool = False) -> Any:
    from forager.config.keys import get_cipher

    return get_cipher(settings, creates=creates)


def _read(file: Path) -> str:
    import sys

    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror.lower() if isinstance(error, OSError) and error.strerror else "it is no text in UTF-8"
        raise UsageError(f"{file} cannot be read: {reason}.") from None


def _read_list(file: Path | None) -> list[str]:
    lines = _read(file).splitlines() if file is not None else []
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _matching(home: Path | None, **filters: str | None) -> list[str]:
    """Returns the names of known domains that match; it is an error if there is none."""
    from forager.domains.queries import find_names

    found: list[str] = run_query(begin(home=home), "profiles", lambda conn: find_names(conn, **filters))
    if not found:
        raise UsageError("No known domain matches.")
    return found


def _some(names: Any) -> str:
    shown = ", ".join(list(names)[:MAX_SHOWN])
    return (shown + f" and {len(names) - MAX_SHOWN:,} more" if len(names) > MAX_SHOWN else shown) or "none"
