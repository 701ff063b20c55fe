"""Images that were found while nobody wanted their files, and are wanted now: they get their places in the frontier.

Each domain notes from which page on that is to be done. A portion's places and the note that it is done are one
transaction, so whoever is killed in the middle is followed by whoever comes next, and nothing is queued twice.
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
"""With up to a hundred images each."""


async def backfill_images(
    database: Database,
    *,
    by_default: bool,
    max_subdomains: int,
    run: int | None = None,
    name: str | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Of all domains that want them, of those of one run, or of one domain; answers how many images wait now that did
    not. `by_default`: domains that do not say want them too."""
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
