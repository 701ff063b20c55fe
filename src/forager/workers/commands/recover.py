"""`forager recover`: makes domains of dead and silent workers claimable again, whatever the settings say."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, note

if TYPE_CHECKING:
    from forager.config.settings import Settings

FIVE_MINUTES_S = 300.0
Silent = Annotated[
    float,
    typer.Option(
        "--silent", min=1, metavar="S", help="Seconds without a heartbeat after which a worker counts as dead."
    ),
]


def register(app: typer.Typer) -> None:
    app.command("recover", cls=Command, rich_help_panel="Look after it")(recover)


def recover(silent: Silent = FIVE_MINUTES_S, as_json: AsJson = False, home: Home = None) -> None:
    """Take domains from dead and silent workers."""
    import asyncio

    freed = sorted(asyncio.run(_run_takeover(begin(home=home), silent)))
    if as_json:
        return output.write_json_list([{"domain": name} for name in freed])
    sys.stdout.writelines(f"{name}\n" for name in freed)
    if not freed:
        return output.say("Nothing to recover: no worker is dead or silent and holds a domain.")
    return output.say(f"{words.things(len(freed), 'domain')} can be claimed again.")


async def _run_takeover(settings: "Settings", silent_s: float) -> list[str]:
    from forager.instance import open_forager
    from forager.workers.service import recover_domains

    async with open_forager(settings, application="forager recover") as forager:
        freed = await recover_domains(forager, silent_s=silent_s)
        if freed:
            told = {"silent_s": silent_s, "count": len(freed), "domains": sorted(freed)}
            await note(forager.database, Noted("frontier.recover", "frontier", None, told))
        return freed
