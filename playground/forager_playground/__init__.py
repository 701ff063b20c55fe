"""A deterministic small web on loopback, with an answer key and a log: what demo, tests and benchmarks crawl.

Everything is generated from a seed. Names are loaded when first used, so that importing this costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forager_playground.answer import Answer
    from forager_playground.key import AnswerKey, ExpectedPage, SiteKey, make_key, read_key
    from forager_playground.log import (
        RequestLog,
        Visit,
        forbidden_hits,
        most_open_at_once,
        read_log,
        requests_per_path,
        smallest_gap_s,
        visits_of,
    )
    from forager_playground.process import Running, serve, start_playground, start_server
    from forager_playground.site import Fate, Site, SitePage
    from forager_playground.sites import DEMO_SITES, LIFE_SITES, make_sites
    from forager_playground.sites.bench import bench_sites
    from forager_playground.sites.lifelike import lifelike_sites
    from forager_playground.sites.news import News
    from forager_playground.sites.uniform import uniform_sites
    from forager_playground.web import Playground, make_answer_key, open_playground

_HOMES = {
    "answer": ("Answer",),
    "key": ("AnswerKey", "ExpectedPage", "SiteKey", "make_key", "read_key"),
    "log": (
        "RequestLog",
        "Visit",
        "forbidden_hits",
        "most_open_at_once",
        "read_log",
        "requests_per_path",
        "smallest_gap_s",
        "visits_of",
    ),
    "process": ("Running", "serve", "start_playground", "start_server"),
    "site": ("Fate", "Site", "SitePage"),
    "sites": ("DEMO_SITES", "LIFE_SITES", "make_sites"),
    "sites.bench": ("bench_sites",),
    "sites.lifelike": ("lifelike_sites",),
    "sites.news": ("News",),
    "sites.uniform": ("uniform_sites",),
    "web": ("Playground", "make_answer_key", "open_playground"),
}

__all__ = [
    "DEMO_SITES",
    "LIFE_SITES",
    "Answer",
    "AnswerKey",
    "ExpectedPage",
    "Fate",
    "News",
    "Playground",
    "RequestLog",
    "Running",
    "Site",
    "SiteKey",
    "SitePage",
    "Visit",
    "bench_sites",
    "forbidden_hits",
    "lifelike_sites",
    "make_answer_key",
    "make_key",
    "make_sites",
    "most_open_at_once",
    "open_playground",
    "read_key",
    "read_log",
    "requests_per_path",
    "serve",
    "smallest_gap_s",
    "start_playground",
    "start_server",
    "uniform_sites",
    "visits_of",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"forager_playground.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
