"""`forager domain NAME VERB`: commands that take the name of the object first, then the action.

Typer expects the action first, so the two are swapped before it parses them; without an action, the object is shown.
"""

from collections.abc import Collection, Sequence
from typing import Any

from forager.cli import verbosity
from forager.cli.help import Command, Group

SHOW = "show"
HELP = frozenset({"-h", "--help"})


class NameFirst(Group):
    """A command group whose commands all take the same first argument."""

    subject = "NAME"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, put_command_first(args, self.commands))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [self.subject, "[VERB]", "[OPTIONS]"]


class Verb(Command):
    """A command of such a group; its usage is shown as it is typed."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        family, name = ctx.parent, self.name or SHOW
        _, *more = [each.metavar for each in self.params if each.param_type_name == "argument"]
        words = [family.command.subject, *([] if name == SHOW else [name]), *more, "[OPTIONS]"]
        formatter.write_usage(family.command_path, " ".join(words))


def put_command_first(words: Sequence[str], verbs: Collection[str]) -> list[str]:
    """`example.com reset --reason x` becomes `reset example.com --reason x`, and `example.com --json` a show. `-v` and
    `-q` may stand before the name."""
    match list(words):
        case [first, *rest] if first in verbosity.WORDS and rest:
            return [*put_command_first(rest, verbs), first]
        case [name, verb, *rest] if (
            not name.startswith("-") and not verb.startswith("-") and not (name in verbs and verb not in verbs)
        ):
            return [verb, name, *rest]
        case [first, *_] as all_words if first in verbs or first in HELP:
            return all_words
        case all_words:
            return [SHOW, *all_words]
