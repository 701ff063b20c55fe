"""Image backfill: enqueues images that were found while their files were not wanted, and are wanted now.

Each domain records from which page on its images have to be enqueued. The frontier rows of a batch and the record that
it is done are written in one transaction, so the next process resumes after a kill, and nothing is enqueued twice.
"""

from collections.abc import Callable
from functools import partial

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import images as domains
from forager.domains.images import ImageBackfill
from forager.engine.transaction_retry import in_transaction
from forager.images import store as images
from forager.images.recorder import ImageRecorder
from forager.links.models import Discovery
from forager.urls.domain import domain_of

PAGES_AT_ONCE = 50
"""Pages per batch, with up to a hundred images each."""


async def backfill_images(
    database: Database,
    *,
    by_default: bool,
    max_subdomains: int,
    run: int | None = None,
    name: str | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Enqueues images of all domains that want them, of those of one run, or of one domain; returns how many images
    were added to the frontier. `by_default`: domains without a setting of their own want them too."""
    queued, since = 0, 0
    while not is_stopped():
        find = partial(domains.next_image_backfill, by_default=by_default, run=run, name=name, since=since)
        owing = await in_transaction(database, find)
        if owing is None:
            break
        since = owing.id
        queued += await _backfill_batch(database, owing, max_subdomains)
    return queued


async def _backfill_batch(database: Database, owing: ImageBackfill, max_subdomains: int) -> int:
    desk = ImageRecorder(database, run=owing.run_id, max_subdomains=max_subdomains, remembered=1)

    async def once(conn: Connection) -> int:
        last, found = await images.list_pending_images(conn, owing.id, after=owing.after_page, pages=PAGES_AT_ONCE)
        wanted = {key: Discovery(url, key, domain_of(url), depth, 0, "", "image") for url, key, depth in found}
        new = (await desk.enqueue_images(conn, wanted)).new if wanted else {}
        await domains.update_image_backfill(conn, owing, last)
        return sum(new.values())

    return await in_transaction(database, once)
