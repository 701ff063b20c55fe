"""Flags for crawl settings: every setting is a flag of its name, built from the record when a command needs them."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any

import typer

from forager.cli.help import Command
from forager.cli.name_first import Verb
from forager.errors import UsageError

GIVEN = "forager.settings"
PREFIX = "setting_"
METAVARS = {float: "N", int: "N"}


class SettingsCommand(Command):
    """A command with a flag for every crawl setting; `given_settings` returns those that were given."""

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        return [*own[:-1], *_options(), *own[-1:]]

    def invoke(self, ctx: Any) -> Any:
        given = {name: ctx.params.pop(name) for name in list(ctx.params) if name.startswith(PREFIX)}
        chosen = {name: value for name, value in given.items() if value is not None and value not in ((), [])}
        ctx.meta[GIVEN] = {name.removeprefix(PREFIX): _as_mapping(name, value) for name, value in chosen.items()}
        return super().invoke(ctx)


class SettingsVerb(SettingsCommand, Verb):
    """The same, after a name."""


def given_settings(ctx: typer.Context) -> dict[str, Any]:
    """Returns name → text for the settings flags of this command, as they were given."""
    return dict(ctx.meta.get(GIVEN, {}))


def merge_cleared(given: Mapping[str, Any], cleared: Iterable[str]) -> dict[str, Any]:
    """Returns what is to be changed; None takes a setting back. One that is set cannot be taken back as well."""
    from forager.config.crawl_settings import canonical_name

    names = {canonical_name(word) for word in cleared}
    if both := sorted(names.intersection(given)):
        raise UsageError(f"--{both[0].replace('_', '-')} and --default {both[0]} contradict each other; leave one out.")
    return {**given, **dict.fromkeys(names)}


def setting_flags(name: str) -> list[str]:
    """Returns the flags of a setting, the shortest word first."""
    from forager.config.crawl_settings import ALIASES

    words = [word for word, meant in ALIASES.items() if meant == name]
    return [f"--{word.replace('_', '-')}" for word in (name, *words)]


@cache
def _options() -> tuple[Any, ...]:
    from forager.config.crawl_settings import FIELDS

    parameters = [
        inspect.Parameter(
            PREFIX + name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name, field)
        )
        for name, field in FIELDS.items()
    ]

    def flags() -> None:
        """Carries the signature."""

    flags.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flags.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(flags)
    return tuple(option for option in typer.main.get_command(app).params if option.name in flags.__annotations__)


def _annotation(name: str, field: Any) -> Any:
    from forager.config.crawl_settings import plain_type

    flags, kind = setting_flags(name), plain_type(field.annotation)
    extra = field.json_schema_extra or {}
    told, panel = field.description, extra.get("group")
    if kind is bool:
        flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags]
        return Annotated[bool | None, typer.Option(*flags, help=told, rich_help_panel=panel)]
    if kind in {tuple, dict}:
        metavar = "NAME=VALUE" if kind is dict else "VALUE"
        told = f"{told} Repeatable."
        return Annotated[list[str] | None, typer.Option(*flags, help=told, metavar=metavar, rich_help_panel=panel)]
    return Annotated[str | None, typer.Option(*flags, help=told, metavar=_metavar(name), rich_help_panel=panel)]


def _metavar(name: str) -> str:
    from forager.config.crawl_settings import choices_of, is_duration

    if choices := choices_of(name):
        return "|".join(choices)
    return "TIME" if is_duration(name) else "VALUE"


def _as_mapping(name: str, value: Any) -> Any:
    """Reads `NAME=VALUE` and `Name: value` of settings that are mappings."""
    from forager.config.crawl_settings import FIELDS, plain_type

    if not isinstance(value, list) or plain_type(FIELDS[name.removeprefix(PREFIX)].annotation) is not dict:
        return value
    pairs = (text.partition(":" if ":" in text.partition("=")[0] else "=") for text in value)
    found: Mapping[str, str] = {key.strip(): text.strip() for key, _, text in pairs}
    return found
