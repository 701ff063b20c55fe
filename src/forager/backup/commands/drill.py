"""`forager restore --drill`: a backup is restored, checked, served and compared, and nothing of it stays."""

import asyncio
import re
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.start import whoami

if TYPE_CHECKING:
    from forager.backup.drill import Copy, Sizes
    from forager.config.settings import Settings

FAILED = 1
SCRIPT = re.compile(r'<script[^>]+src="([^"]+)"')
TIMEOUT_S = 30.0
NAME_WIDTH = 12


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    result: str
    is_ok: bool


def run_drill(settings: "Settings", source: Path | str | None, *, as_json: bool) -> None:
    from forager.backup.drill import newest_backup

    began = clock.monotonic()
    chosen = source if source is not None else newest_backup(settings)
    steps = asyncio.run(_try(settings, chosen))
    took_s, is_clean = clock.monotonic() - began, all(step.is_ok for step in steps)
    if as_json:
        steps_told = [asdict(step) for step in steps]
        output.write_json(
            {"backup": str(chosen), "is_clean": is_clean, "took_s": round(took_s, 1), "steps": steps_told}
        )
    else:
        _write(steps)
        output.say(f"{chosen}, restored and removed again in {words.duration(took_s)}: your time to recover.")
    if not is_clean:
        raise typer.Exit(FAILED)


async def _try(settings: "Settings", source: Path | str) -> list[Step]:
    from forager.backup.drill import open_copy

    async with open_copy(settings, source, by=whoami()) as copy:
        return [*_compare(copy), *await _serve(copy.settings)]


def _compare(copy: "Copy") -> list[Step]:
    made, verdicts = copy.restored.backup, copy.restored.verdicts
    broken = [verdict.promise.number for verdict in verdicts if verdict.broken]
    what = f"{words.things(made.tables, 'table')} and {words.things(made.file_count, 'file')}"
    kept = f"{words.things(len(verdicts), 'guarantee')} verified"
    return [
        Step("restored", f"{what}, as of {made.made_at:%Y-%m-%d %H:%M} UTC", is_ok=True),
        Step("guarantees", f"violated: {', '.join(map(str, broken))}" if broken else kept, is_ok=not broken),
        *compare_sizes(copy.sizes, copy.original),
    ]


def compare_sizes(copy: "Sizes", original: "Sizes | None") -> list[Step]:
    """A difference is no fault: the original may have grown, or forgotten, since the backup was made. A copy that is
    empty while its original is not, is one."""
    is_ok = original is None or copy.pages > 0 or original.pages == 0
    now = original if original is not None else copy
    return [
        Step(name, words.count(count) + (_difference(count, other) if original is not None else ""), is_ok)
        for name, count, other in zip(copy._fields, copy, now, strict=True)
    ]


def _difference(count: int, now: int) -> str:
    return "; the original has as many" if now == count else f"; now {words.count(now)}"


async def _serve(settings: "Settings") -> list[Step]:
    from forager.api.app import create_app
    from forager.engine.stop import StopRequest
    from forager.instance import open_forager
    from forager.runtime.server import bind, limits_of, serve

    stop = StopRequest()
    with bind("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        async with open_forager(settings.replace(api_port=port), application="forager api") as forager:
            app = create_app(forager.settings, forager=forager)
            serving = asyncio.create_task(
                serve(app, listening, stop, limits=limits_of(settings), on_stop=app.state.live.close)
            )
            try:
                return await asyncio.to_thread(_ask, port)
            finally:
                stop.ask()
                await serving


def _ask(port: int) -> list[Step]:
    status, _ = _get(port, "/health")
    steps = [Step("health", f"/health answered {status}", is_ok=status == 200)]
    status, page = _get(port, "/")
    steps.append(Step("dashboard", f"/ answered {status}", is_ok=status == 200))
    for script in SCRIPT.findall(page):
        status, _ = _get(port, script if script.startswith("/") else f"/{script}")
        steps.append(Step("", f"{script} answered {status}", is_ok=status == 200))
    return steps


def _get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    except OSError as error:
        return 0, str(error)
    finally:
        connection.close()


def _write(steps: list[Step]) -> None:
    from rich.text import Text

    screen = output.console()
    for step in steps:
        line = Text(" ✓ " if step.is_ok else " ✗ ", style="bold green" if step.is_ok else "bold red")
        line.append(f"{step.name:<{NAME_WIDTH}}{step.result}", style="default" if step.is_ok else "red")
        screen.print(line, soft_wrap=True)
