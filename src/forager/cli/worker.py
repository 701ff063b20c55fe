"""`forager worker`: one worker process for a run. `forager crawl` starts these; on another machine a person may."""

from typing import Annotated

import typer

from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin, run_fast


def register(app: typer.Typer) -> None:
    app.command("worker", cls=Command, rich_help_panel="Crawl")(worker)


def worker(
    run: Annotated[int, typer.Option(min=1, metavar="N", help="The run to work on; `forager runs` lists them.")],
    of: Annotated[int, typer.Option(min=1, metavar="N", help="How many workers share the run.")] = 1,
    attached: Annotated[bool, typer.Option("--attached", help="Stop when standard input ends.")] = False,
    home: Home = None,
) -> None:
    """Work on a run that exists, beside its other workers."""
    settings = begin(home=home)
    from forager.app.worker import work

    run_fast(work(settings, run, workers=of, is_attached=attached))
