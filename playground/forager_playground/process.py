"""The playground as a process of its own: `serve` is what it runs, `start_playground` starts one."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forager.errors import UsageError
from forager.interpreter import python_module
from forager_playground.key import AnswerKey, make_key
from forager_playground.site import Site
from forager_playground.sites import DEMO_SITES
from forager_playground.web import HOST_BASE, Playground, collect_sites, list_networks, open_playground

STOP_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Running:
    """A playground in another process."""

    process: subprocess.Popen[str]
    urls: tuple[str, ...]
    sites: Mapping[str, Site]
    """Base URL → site, made here from the same seed."""
    seed: int

    @property
    def networks(self) -> tuple[str, ...]:
        """Exactly the served addresses, as `fetch.allow_networks` takes them."""
        return list_networks(self.sites)

    @cached_property
    def answer_key(self) -> AnswerKey:
        return make_key(self.sites, self.seed)


def serve(
    sites: Sequence[str | Site] = tuple(DEMO_SITES),
    *,
    scale: float = 1.0,
    seed: int = 1,
    day: int = 0,
    host_base: str = HOST_BASE,
    port: int = 0,
    log_path: Path | None = None,
    ready_path: Path | None = None,
    answer_key_path: Path | None = None,
    warm_pages: int = 0,
    keeps_visits: bool = False,
) -> None:
    """Serves until SIGTERM or SIGINT. Prints the start URLs, one per line, when they can be fetched."""

    async def run() -> None:
        stopped = _stop_on_signals()
        async with open_playground(
            sites,
            scale=scale,
            seed=seed,
            day=day,
            host_base=host_base,
            port=port,
            log_path=log_path,
            keeps_visits=keeps_visits,
        ) as web:
            web.warm(warm_pages)
            _announce(web, ready_path, answer_key_path)
            await stopped.wait()

    with asyncio.Runner(loop_factory=_pick_loop()) as runner:
        runner.run(run())


@contextmanager
def start_playground(
    sites: Sequence[str] = tuple(DEMO_SITES),
    *,
    scale: float = 1.0,
    seed: int = 1,
    day: int = 0,
    host_base: str = HOST_BASE,
    port: int = 0,
    log_path: Path | None = None,
    warm_pages: int = 0,
) -> Iterator[Running]:
    """Starts `python -m forager_playground`, waits until it serves, stops it when the block ends."""
    command = [*python_module("forager_playground", "--sites", ",".join(sites), "--scale", str(scale))]
    command += ["--seed", str(seed), "--day", str(day), "--host-base", host_base, "--port", str(port)]
    command += ["--log", str(log_path)] if log_path else []
    command += ["--warm", str(warm_pages)]
    with start_server(command, collect_sites(sites, seed, scale, day), seed) as running:
        yield running


@contextmanager
def start_server(command: Sequence[str], made: Sequence[Site], seed: int = 1) -> Iterator[Running]:
    """Starts a process that calls `serve` for these sites, waits until it serves, stops it when the block ends."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            urls = _read_urls(process, len(made))
            bases = [url.removesuffix("/") for url in urls]
            yield Running(process, urls, dict(zip(bases, made, strict=True)), seed)
        finally:
            _stop(process)


def _read_urls(process: subprocess.Popen[str], count: int) -> tuple[str, ...]:
    assert process.stdout is not None
    urls = tuple(process.stdout.readline().strip() for _ in range(count))
    if not all(urls):
        raise UsageError("The playground did not start; its message is above.")
    return urls


def _stop(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _stop_on_signals() -> asyncio.Event:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    return stopped


def _announce(web: Playground, ready_path: Path | None, answer_key_path: Path | None) -> None:
    if answer_key_path:
        _write_atomic(answer_key_path, web.answer_key.to_json())
    if ready_path:
        _write_atomic(ready_path, json.dumps({"pid": os.getpid(), "urls": web.urls, "networks": web.networks}))
    sys.stdout.write("".join(f"{url}\n" for url in web.urls))
    sys.stdout.flush()


def _write_atomic(path: Path, text: str) -> None:
    """Whoever waits for the file never sees half of it."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); name another file.") from None


def _pick_loop() -> "type[asyncio.AbstractEventLoop] | None":
    try:
        import uvloop
    except ImportError:  # pragma: no cover - Windows has none
        return None
    return uvloop.Loop
