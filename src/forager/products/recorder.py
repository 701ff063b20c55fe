"""Records with every batch the products that its pages show."""

from collections.abc import Mapping, Sequence

from forager.db.types import Connection
from forager.engine.batch import BatchPart
from forager.frontier.models import Outcome
from forager.products import store


class ProductRecorder(BatchPart):
    """Keeps nothing between batches, so one part serves them all."""

    async def prepare(self, _outcomes: Sequence[Outcome]) -> BatchPart:
        return self

    def clear(self) -> None:
        """Remembers nothing of pages."""

    async def record_after_pages(
        self, conn: Connection, done: Sequence[Outcome], page_ids: Mapping[bytes, int]
    ) -> None:
        await store.store(conn, [*store.get_product_visits(done), *store.listed_of(done, page_ids)])
