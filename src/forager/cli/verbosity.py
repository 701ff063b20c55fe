"""The flags `-v` and `-q`, which every command takes, before or after its name. Imported by `--help`: keep it light.

They choose the log level of this process and, through the environment, of those it starts. `-q` also turns off messages
that are not errors; `output.py` has the switch.
"""

import os
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from forager.cli import output

LOG_LEVEL = "FORAGER_LOG_LEVEL"
VERBOSE, QUIET = ("--verbose", "-v"), ("--quiet", "-q")
WORDS = frozenset({*VERBOSE, *QUIET})


def is_verbose() -> bool:
    """Returns whether log lines of every request come to this terminal, so that nothing may be drawn over them."""
    return os.environ.get(LOG_LEVEL, "").lower() == "debug"


def _be_verbose(is_given: bool) -> None:
    if is_given:
        os.environ[LOG_LEVEL] = "debug"
        output.set_quiet(False)


def _be_quiet(is_given: bool) -> None:
    if is_given:
        os.environ[LOG_LEVEL] = "error"
        output.set_quiet(True)


Verbose = Annotated[
    bool,
    typer.Option(*VERBOSE, callback=_be_verbose, expose_value=False, help="Log every request and job."),
]
Quiet = Annotated[
    bool,
    typer.Option(*QUIET, callback=_be_quiet, expose_value=False, help="Print data and errors only."),
]


@cache
def global_options() -> tuple[Any, ...]:
    """Returns the two options as Typer builds them, to be added to every command."""
    carrier = typer.Typer(add_completion=False)

    @carrier.command()
    def carry(verbose: Verbose = False, quiet: Quiet = False) -> None: ...

    return tuple(get_command(carrier).params)


def add_global_options(own: list[Any]) -> list[Any]:
    """Returns a command's parameters with the global options before `--help`; its own flag of the same name wins."""
    names = {name for each in own for name in (*each.opts, *each.secondary_opts)}
    *rest, last = own or [None]
    added = [each for each in global_options() if not names.intersection(each.opts)]
    return [*rest, *added, last] if last is not None else added


def quiet_params(params: dict[str, Any]) -> None:
    """Makes `forager -q crawl` and `forager crawl -q` the same for commands that have a flag of their own."""
    if params.get("quiet"):
        _be_quiet(True)
    elif "quiet" in params and output.is_quiet():
        params["quiet"] = True
