"""`forager worker`: one worker process for a run. `forager crawl` and `forager up` start these; on another machine a
person or a service manager may."""

from typing import Annotated

import typer

from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin, refuse_without_bucket, run_fast


def register(app: typer.Typer) -> None:
    app.command("worker", cls=Command, rich_help_panel="Crawl")(worker)


def worker(
    run: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="The run to work on, of `forager runs`; else the one that never ends."),
    ] = None,
    of: Annotated[int, typer.Option(min=1, metavar="N", help="How many workers share the run.")] = 1,
    attached: Annotated[bool, typer.Option("--attached", help="Stop when standard input ends.")] = False,
    home: Home = None,
) -> None:
    """Work on a run beside its other workers; by default on all that `forager up` crawls."""
    settings = begin(home=home)
    if not attached:  # who started an attached one has asked already
        refuse_without_bucket(settings)
    from forager.app.worker import work

    run_fast(work(settings, run, workers=of, is_attached=attached))
