"""`forager worker`: runs one worker process for a run, and drains workers. `forager crawl` and `forager up` start
workers; on another machine an operator or a service manager does."""

from typing import Annotated

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, require_bucket, run_action, run_fast
from forager.errors import UsageError


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Start one worker process.")
    family.callback(invoke_without_command=True)(worker)
    family.command("drain", cls=Command)(drain)
    app.add_typer(family, name="worker", rich_help_panel="Crawl")


def worker(
    context: typer.Context,
    *,
    run: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The run to work on, from `forager runs`; by default the continuous run of `forager up`.",
        ),
    ] = None,
    of: Annotated[int, typer.Option(min=1, metavar="N", help="How many workers share the run.")] = 1,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Also crawl domains that require this label; repeatable."),
    ] = None,
    attached: Annotated[bool, typer.Option("--attached", help="Stop when standard input ends.")] = False,
    home: Home = None,
) -> None:
    """Work on a run beside its other workers; by default on all that `forager up` crawls."""
    if context.invoked_subcommand is not None:
        if run or label or attached or home:
            raise UsageError("Flags of `drain` stand behind it: forager worker drain 12 --home FOLDER.")
        return
    settings = begin(home=home, worker_labels=tuple(label) if label else None)
    if not attached:  # the process that started an attached worker has checked already
        require_bucket(settings)
    from forager.runtime.worker import work

    run_fast(work(settings, run, workers=of, is_attached=attached))


def drain(
    whom: Annotated[str, typer.Argument(metavar="ID|HOST", help="ID of a worker, or a host name for all its workers.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Drain workers: they claim nothing new, finish open requests and end."""
    from dataclasses import asdict

    from forager.workers import service as workers

    number = int(whom) if whom.isascii() and whom.isdigit() else None
    host = None if number is not None else whom
    sent = run_action(
        begin(home=home),
        "worker",
        lambda connection: workers.drain_workers(connection, worker=number, host=host),
        noted=lambda sent: Noted("worker.drain", "worker", whom, {"workers": [each.worker for each in sent]}),
    )
    if as_json:
        return output.write_json_list([asdict(each) for each in sent])
    names = ", ".join(f"{each.worker} (pid {each.pid} on {each.host})" for each in sent)
    told = f"{words.things(len(sent), 'worker')} sent away: {names}"
    return output.say(f"{told}; open requests finish first.")
