"""The entry point: every command, and how its errors are reported: one sentence on standard error and an exit code.

`forager --help` must stay under 0.3 s: command modules import only Typer and small modules at the top, everything
heavier inside the function that needs it.
"""

import copy
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from forager.accounts.commands import token, user
from forager.alerts import commands as alerts
from forager.api import commands as api
from forager.backup.commands import backup, restore
from forager.captures.commands import body, captures
from forager.cli import completion, demo, man, playground, root
from forager.cli.help import Group
from forager.cli.output import complain, set_quiet
from forager.cli.plugin_commands import with_plugin_commands
from forager.cli.version import describe_version
from forager.config import commands as settings
from forager.db import commands as database
from forager.dispatch import commands as queue
from forager.domains.commands import domain, domains, profiles
from forager.errors import ForagerError, UserError
from forager.explain.commands import audit, check, repair, why
from forager.export.commands import export
from forager.images import commands as images
from forager.pages.commands import fetch, links, page, pages, read, text
from forager.plugins import commands as plugins
from forager.products import commands as products
from forager.proxies.commands import proxies
from forager.records.commands import extract, extractors, items, records
from forager.replay import commands as replay
from forager.retention.commands import archive, purge
from forager.robots import commands as robots
from forager.runs.commands import crawl, refresh, runs
from forager.runtime.commands import up
from forager.scheduler import commands as schedule
from forager.search.commands import duplicates, reindex, search
from forager.seeds.commands import seed
from forager.stats import commands as stats
from forager.storage.commands import bodies, storage
from forager.tasks.commands import batches, errors, task, tasks
from forager.urls import commands as normalize
from forager.webhooks import commands as webhooks
from forager.workers.commands import recover, worker, workers

EXITS = """Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 bad configuration, 5 database unreachable,
6 nothing could be fetched, 7 not possible in this state, 8 database damaged, 11 interrupted but resumable,
15 cut by a limit, 130 interrupted."""

DAMAGED = 8

app = typer.Typer(
    name="forager",
    cls=Group,
    help="Crawl sites politely, remember everything, resume after any stop.",
    epilog=EXITS,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 140},
)
for family in (
    crawl,
    refresh,
    seed,
    demo,
    up,
    api,
    worker,
    playground,
    domains,
    domain,
    profiles,
    page,
    images,
    links,
    pages,
    runs,
    workers,
    tasks,
    task,
    batches,
    products,
    records,
    extractors,
    items,
    search,
    duplicates,
    reindex,
    why,
    export,
    captures,
    body,
    bodies,
    check,
    repair,
    audit,
    archive,
    backup,
    restore,
    storage,
    purge,
    proxies,
    alerts,
    errors,
    stats,
    user,
    token,
    webhooks,
    queue,
    schedule,
    plugins,
    replay,
    recover,
    fetch,
    normalize,
    robots,
    read,
    extract,
    text,
    settings,
    database,
    completion,
    man,
):
    family.register(app)


@app.callback(invoke_without_command=True)
def show_version_or_help(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="Settings file, read after the data folder's; also FORAGER_CONFIG."
        ),
    ] = None,
    allow_root: Annotated[
        bool,
        typer.Option(
            "--allow-root", help="Stay root instead of working as the user forager; also FORAGER_ALLOW_ROOT=1."
        ),
    ] = False,
) -> None:
    if config is not None:
        os.environ["FORAGER_CONFIG"] = str(config.expanduser().absolute())  # child processes read the same
    if allow_root:
        os.environ[root.ALLOW] = "1"
    if version:
        sys.stdout.write(f"forager {describe_version()}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


def main() -> None:
    root.mark_program()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit code; no exception is shown as a traceback."""
    _configure_streams()
    set_quiet(False)
    if arguments[:1] == [completion.REQUEST]:
        sys.stdout.write(completion.answer(arguments[1:], lambda word: get_command(_find_app([word]))))
        return 0
    try:
        code = _find_app(arguments)(args=list(arguments), prog_name="forager", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except typer.TyperException as error:
        return _reject(_usage_message(error), 2)
    except UserError as error:
        return _reject(str(error), error.exit_code)
    except ForagerError as error:
        return _reject(str(error), 1)
    except (typer.Abort, KeyboardInterrupt):
        return _reject("interrupted.", 130)
    except BrokenPipeError:
        return _exit_broken_pipe()
    except OSError as error:
        return _reject(f"system error: {error.strerror or error} {error.filename or ''}".rstrip() + ".", 1)
    except Exception as error:  # last resort: a bug becomes a sentence, not a traceback
        return _map_db_error(error) or _report_bug(error)


def _find_app(arguments: Sequence[str]) -> typer.Typer:
    """Returns the app that has the command: where it is none of ours, with those of plug-ins."""
    found = build_for(*arguments[:1])
    return found if found is not app or arguments == ["--version"] else with_plugin_commands(app)


@cache
def build_for(word: str = "") -> typer.Typer:
    """Returns an app with only the command of this name, if there is one: Typer would build all hundred, each time, in
    30 ms."""
    only = copy.copy(app)
    only.registered_commands = [each for each in app.registered_commands if each.name == word]
    only.registered_groups = [each for each in app.registered_groups if each.name == word]
    return only if only.registered_commands or only.registered_groups else app


def _reject(sentence: str, code: int) -> int:
    hint = root.hint() if "permission denied" in sentence.lower() else ""
    complain(f"{sentence}{hint}")
    return code


def _usage_message(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    sentence = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    ending = "" if sentence.endswith("?") else "."
    return f"{sentence}{ending} `{context.command_path if context else 'forager'} --help` explains."


def _exit_broken_pipe() -> int:
    """Handles a closed output pipe, as with `head`. What is still in the buffer must not raise again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _map_db_error(error: Exception) -> int | None:
    """Reports a database whose disk is full, or which is read-only or damaged: no bug of ours. None: any other
    error."""
    if "asyncpg" not in sys.modules:
        return None
    from forager.db.damage import find_corruption
    from forager.engine.transaction_retry import UNWRITABLE, unavailable_message

    if (damage := find_corruption(error)) is not None:
        return _reject(damage, DAMAGED)
    return _reject(unavailable_message(error), 5) if isinstance(error, UNWRITABLE) else None


def _report_bug(error: Exception) -> int:
    if os.environ.get("FORAGER_LOG_LEVEL", "").lower() == "debug":
        import traceback

        traceback.print_exception(error)
    name, text = type(error).__name__, " ".join(str(error).split())
    complain(f"a bug in Forager: {name}: {text}. The flag -v shows the trace; please report it.")
    return 1


def _configure_streams() -> None:
    """Sets data to UTF-8 whatever the locale; characters in messages that a terminal cannot show are replaced."""
    for stream, on_error in ((sys.stdout, "strict"), (sys.stderr, "replace")):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and (stream.encoding or "").lower() != "utf-8":
            reconfigure(encoding="utf-8", errors=on_error)
