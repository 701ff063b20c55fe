"""Records the products found on the pages of each batch."""

from collections.abc import Mapping, Sequence

from forager.db.types import Connection
from forager.engine.batch import BatchPart
from forager.frontier.models import Outcome
from forager.products import store


class ProductRecorder(BatchPart):
    """Keeps no state between batches, so one instance serves all of them."""

    async def prepare(self, _outcomes: Sequence[Outcome]) -> BatchPart:
        return self

    def clear(self) -> None:
        """Does nothing: there is no state."""

    async def record_after_pages(
        self, conn: Connection, done: Sequence[Outcome], page_ids: Mapping[bytes, int]
    ) -> None:
        await store.store(conn, [*store.get_product_visits(done), *store.listed_of(done, page_ids)])
