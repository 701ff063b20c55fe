"""Who takes part, in which order, and how each keeps its state."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.run import Job, Run, Skipped
from bench.runners import ceiling, crawlee, forager, same_work, scrapy, spider_rs
from bench.web import PLAIN, WEBS

FORAGER = "Forager, 1 worker"
FORAGER_TWO = "Forager, 2 workers"
CEILING = "ceiling: fetch + parse"
SCRAPY = "Scrapy tuned"
SCRAPY_SEEN = "Scrapy tuned, own seen-set"
SCRAPY_JOBDIR = "Scrapy tuned, own seen-set, JOBDIR"
SCRAPY_TWO = "Scrapy tuned, own seen-set, 2 processes"
SAME_WORK = "Scrapy + trafilatura + extruct + PostgreSQL"
"""The same work by what people would put together otherwise."""
SPIDER = "spider-rs"
CRAWLEE = "Crawlee (Parsel)"
CRAWLEE_SEEN = "Crawlee (Parsel), own seen-set"
CRAWLEE_POSTGRES = "Crawlee (Parsel) on PostgreSQL"
CRAWLEE_POSTGRES_SEEN = "Crawlee (Parsel) on PostgreSQL, own seen-set"


@dataclass(frozen=True, slots=True)
class Entrant:
    crawler: str
    stores: str
    """What is left of a page afterwards, and where."""
    run: Callable[[str, Job], Run | Skipped]
    is_peer: bool = True
    """Peers crawl a part of the web: their rate is the same from the first thousand pages on, and some take minutes."""
    is_slow: bool = False
    """Crawls one site only."""
    webs: tuple[str, ...] = WEBS


ALL_SIGNALS = "text, metadata, structured data, language, images, links: PostgreSQL"
MEMORY = "nothing; seen URLs in memory"
ROSTER = (
    Entrant(FORAGER, ALL_SIGNALS, forager.run_one_worker, is_peer=False),
    Entrant(SCRAPY, MEMORY, scrapy.run_memory),
    Entrant(CEILING, MEMORY, ceiling.run_ceiling, is_peer=False),
    Entrant(SCRAPY_SEEN, MEMORY, scrapy.run_seen),
    Entrant(
        SAME_WORK, "text, metadata, structured data, language, links: PostgreSQL", same_work.run_same_work, is_slow=True
    ),
    Entrant(FORAGER_TWO, ALL_SIGNALS, forager.run_two_workers, is_peer=False),
    Entrant(SCRAPY_TWO, MEMORY, scrapy.run_two_processes),
    Entrant(SPIDER, MEMORY, spider_rs.run_spider),
    Entrant(CRAWLEE_SEEN, MEMORY, crawlee.run_memory_seen),
    Entrant(SCRAPY_JOBDIR, "queue on disk, not crash-safe", scrapy.run_jobdir, webs=(PLAIN,)),
    Entrant(CRAWLEE, MEMORY, crawlee.run_memory, webs=(PLAIN,)),
    Entrant(CRAWLEE_POSTGRES, "queue in PostgreSQL", crawlee.run_postgres, webs=(PLAIN,)),
    Entrant(CRAWLEE_POSTGRES_SEEN, "queue in PostgreSQL", crawlee.run_postgres_seen, webs=(PLAIN,)),
)
