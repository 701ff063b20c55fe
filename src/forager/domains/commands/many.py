"""`forager domains pause|resume|reset|reset-breaker`: one action for many domains, by names, by filters, or for all."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainStatus, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note_on, repair, whoami
from forager.cli.table import Cell, text_column
from forager.errors import ForagerError, UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.domains.many import Verb

PARTLY = 1
"""Exit code when the action failed for one of the domains."""
MOST_SHOWN = 50
Names = Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Names or URLs.")]
Status = Annotated[DomainStatus | None, typer.Option(help="Those in this state.")]
Contains = Annotated[str | None, typer.Option("--filter", metavar="TEXT", help="Those with this in their name.")]
Source = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Those of this seed list.")]
All = Annotated[bool, typer.Option("--all", help="Every domain.")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why; kept in the history of each.")]
Trial = Annotated[bool, typer.Option("--dry-run", help="Only list the domains it would be done to.")]

VERBS: dict[str, tuple["Verb", str]] = {
    "pause": ("pause", "Pause many domains: nothing of them is visited until they are resumed."),
    "resume": ("resume", "Resume many domains, such as those that `seed --hold` added."),
    "reset": ("reset", "Reset many domains: forget what holds them back."),
    "reset-breaker": ("reset_breaker", "Close the breakers of many domains."),
}


class Told(NamedTuple):
    """What happened to one domain."""

    name: str
    is_done: bool
    message: str


def register(family: typer.Typer) -> None:
    for word, (verb, sentence) in VERBS.items():
        family.command(word, cls=Command, help=sentence)(_command(word, verb))


def _command(word: str, verb: "Verb") -> Callable[..., None]:
    def run(
        names: Names = None,
        *,
        status: Status = None,
        contains: Contains = None,
        source: Source = None,
        every: All = False,
        reason: Reason = None,
        dry_run: Trial = False,
        as_json: AsJson = False,
        home: Home = None,
    ) -> None:
        filters = {"status": status.value if status else None, "contains": contains, "source": source}
        chosen = {name: value for name, value in filters.items() if value is not None}
        if sum((bool(names), bool(chosen), every)) != 1:
            raise UsageError(
                f"Say which domains: names, or filters (--status, --filter, --source), or --all. "
                f"Such as: forager domains {word} --status blocked"
            )
        if verb == "resume" and not names:
            chosen["is_active"] = False  # type: ignore[assignment]
        why = reason or f"{word.replace('-', ' ')} of many by hand"
        told = _run(begin(home=home), verb, names, chosen, why, is_trial=dry_run)
        _tell(told, word, is_trial=dry_run, as_json=as_json)

    run.__name__ = verb
    return run


def _run(
    settings: "Settings",
    verb: "Verb",
    names: Sequence[str] | None,
    filters: dict[str, Any],
    reason: str,
    *,
    is_trial: bool,
) -> list[Told]:
    from forager.domains.many import apply_verb, select_names

    async def work(pool: Any) -> list[Told]:
        async with pool.acquire() as conn:
            chosen = list(dict.fromkeys(names)) if names else await select_names(conn, **filters)
            return [await one(conn, name) for name in chosen]

    async def one(conn: Any, name: str) -> Told:
        """Each is done, or not, by itself."""
        if is_trial:
            return Told(name, True, "")
        try:
            async with conn.transaction():
                known, message = await apply_verb(conn, verb, name, by=whoami(), reason=reason, settings=settings)
                details = {"reason": reason, "is_one_of_many": True}
                await note_on(conn, Noted(f"domain.{verb}", "domain", known, details))
                return Told(known, True, message)
        except ForagerError as error:
            return Told(name, False, str(error))

    return repair(settings, "domains", work)


def _tell(told: Sequence[Told], word: str, *, is_trial: bool, as_json: bool) -> None:
    done = sum(each.is_done for each in told)
    if as_json:
        rows = [each._asdict() for each in told]
        counts = {"done": done, "failed": len(told) - done}
        output.write_json({"verb": word, "dry_run": is_trial, **counts, "domains": rows})
    elif not told:
        output.say("No domain matches; nothing was changed.")
    else:
        bad_first = sorted(told, key=lambda each: each.is_done)
        table.write(
            (text_column("domain"), text_column("")),
            [
                (words.clean(each.name), Cell(words.clean(each.message), "" if each.is_done else "red"))
                for each in bad_first[:MOST_SHOWN]
            ],
        )
        if len(told) > MOST_SHOWN:
            output.say(f"and {words.things(len(told) - MOST_SHOWN, 'more domain')}; --json has all")
        would = "would be changed" if is_trial else "done"
        output.say(f"{word}: {words.things(done, 'domain')} {would}, {words.count(len(told) - done)} failed.")
    if done < len(told):
        raise typer.Exit(PARTLY)
