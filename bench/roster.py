"""Who takes part, in which order, and how each keeps its state."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.run import Job, Run, Skipped
from bench.runners import ceiling, crawlee, forager, scrapy

FORAGER = "Forager, 1 worker"
FORAGER_TWO = "Forager, 2 workers"
CEILING = "ceiling: fetch + parse"
SCRAPY = "Scrapy tuned"
SCRAPY_SEEN = "Scrapy tuned, own seen-set"
SCRAPY_JOBDIR = "Scrapy tuned, own seen-set, JOBDIR"
CRAWLEE = "Crawlee (Parsel)"
CRAWLEE_SEEN = "Crawlee (Parsel), own seen-set"
CRAWLEE_POSTGRES = "Crawlee (Parsel) on PostgreSQL"
CRAWLEE_POSTGRES_SEEN = "Crawlee (Parsel) on PostgreSQL, own seen-set"


@dataclass(frozen=True, slots=True)
class Entrant:
    crawler: str
    state: str
    run: Callable[[str, Job], Run | Skipped]
    is_peer: bool = True
    """Peers crawl a part of the web: their rate is the same from the first thousand pages on, and some take minutes."""


ROSTER = (
    Entrant(FORAGER, "durable", forager.run_one_worker, is_peer=False),
    Entrant(SCRAPY, "memory", scrapy.run_memory),
    Entrant(CEILING, "none", ceiling.run_ceiling, is_peer=False),
    Entrant(SCRAPY_SEEN, "memory", scrapy.run_seen),
    Entrant(FORAGER_TWO, "durable", forager.run_two_workers, is_peer=False),
    Entrant(SCRAPY_JOBDIR, "disk, not crash-safe", scrapy.run_jobdir),
    Entrant(CRAWLEE, "memory", crawlee.run_memory),
    Entrant(CRAWLEE_SEEN, "memory", crawlee.run_memory_seen),
    Entrant(CRAWLEE_POSTGRES, "PostgreSQL", crawlee.run_postgres),
    Entrant(CRAWLEE_POSTGRES_SEEN, "PostgreSQL", crawlee.run_postgres_seen),
)
