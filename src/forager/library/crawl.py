"""A crawl that a script starts: checked, run and reported as one of `forager crawl`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from forager.config.crawl_settings import read_layer
from forager.engine.stop import StopRequest
from forager.errors import UsageError
from forager.instance import Forager
from forager.library.loop_thread import LoopThread
from forager.runs.models import Progress, RunReport, RunSpec, Scope
from forager.runtime.crawl import crawl
from forager.seeds.commands.arguments import find_bare, name_seeds, require_contact

BY = "library"


def run_crawl(
    forager: Forager,
    loop: LoopThread,
    urls: Sequence[str],
    settings: Mapping[str, Any],
    *,
    max_pages: int | None,
    workers: int,
    on_progress: Callable[[Progress], None],
) -> RunReport:
    """Crawls until nothing is left to visit now. On an interrupt open requests finish before it is raised."""
    spec = build_spec(forager, urls, settings, max_pages=max_pages)
    require_contact(spec.seeds, forager.settings.contact)
    stop = loop.run(_new_stop())
    future = loop.submit(crawl(forager, spec, workers=workers, on_progress=on_progress, stop=stop, by=BY))
    try:
        return future.result()
    except KeyboardInterrupt:
        loop.run(_ask(stop))
        future.result()
        raise


def build_spec(forager: Forager, urls: Sequence[str], settings: Mapping[str, Any], *, max_pages: int | None) -> RunSpec:
    if isinstance(urls, str) or not urls:
        raise UsageError("Give a list of URLs: crawl(['https://shop.example/']).")
    chosen = read_layer(settings)
    scope = chosen.pop("scope", None)
    networks = forager.settings.fetch.allow_networks
    return RunSpec(
        seeds=name_seeds(urls),
        scope=Scope(scope or Scope.HOST),
        is_scope_given=scope is not None,
        settings=chosen,
        include=tuple(chosen.get("include", ())),
        exclude=tuple(chosen.get("exclude", ())),
        max_depth=chosen.get("max_depth", forager.settings.crawl.max_depth),
        max_pages=max_pages,
        max_pages_per_domain=chosen.get("max_pages"),
        delay_s=chosen.get("delay"),
        allow_networks=networks,
        bare=find_bare(urls),
    )


async def _new_stop() -> StopRequest:
    return StopRequest()


async def _ask(stop: StopRequest) -> None:
    stop.ask()
