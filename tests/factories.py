"""Tasks, pages and domains in named states, each as the engine leaves it: evidence and counters are right, so `forager
check` finds nothing. A test names the state it is about instead of writing columns.

    task = await ground.new_task.failed()
    page = await ground.new_page.gone("http://a.example/old")
    domain = await ground.new_domain.exhausted("b.example")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from forager.frontier.models import Lease
from forager.urls.domain import domain_of

if TYPE_CHECKING:
    from tests.ground import Ground


@dataclass(frozen=True, slots=True)
class End:
    """How a visit ended, and what that makes of its page."""

    outcome: str
    page_status: str
    status_code: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    blame: str | None = None

    @property
    def status(self) -> str:
        return {"success": "completed", "cancelled": "cancelled"}.get(self.outcome, "failed")


ENDS: Mapping[str, End] = {
    "successful": End("success", "fetched", 200),
    "failed": End("failed", "failed", None, "connect_error", "nobody answers at a.example:80", "network"),
    "timed_out": End("timeout", "failed", None, "timeout", "no response within 20 s", "network"),
    "not_found": End("blocked_4xx", "gone", 404, "http_status", "the server answered 404", "site"),
    "forbidden": End("blocked_4xx", "blocked", 403, "http_status", "the server answered 403", "site"),
    "server_error": End("blocked_5xx", "failed", 500, "http_status", "the server answered 500", "site"),
    "robots_denied": End("blocked_robots", "blocked", None, "robots_denied", "robots.txt forbids it", "nobody"),
    "broken": End("failed", "failed", None, "broken", "KeyError: 'price'", "us"),
    "cancelled": End("cancelled", "blocked", None, "cancelled", "cancelled by a test", "nobody"),
}
"""State → how a task in it ended."""
WAITING = frozenset({"discovered", "queued"})


class TaskFactory:
    """Tasks. A page is given by its id or its URL; without one it is new. Further columns are set as given."""

    def __init__(self, ground: "Ground") -> None:
        self._ground = ground

    async def pending(self, page: int | str | None = None, **columns: Any) -> int:
        """Due now, and claimed by no worker."""
        return await self._ground.a_task(await self._ground.new_page.find_or_add(page), **columns)

    async def scheduled(self, page: int | str | None = None, *, in_s: float = 3600.0, **columns: Any) -> int:
        """Due later."""
        return await self.pending(page, due_in_s=in_s, **columns)

    async def locked(self, page: int | str | None = None, *, worker: int | None = None, **columns: Any) -> int:
        """Claimed by a worker that holds a lease on its domain."""
        task = await self.pending(page)
        domain = (await self._ground.task(task))["domain_id"]
        holder = (await self._ground.domain(domain))["claimed_by"]
        if holder is None:
            holder = worker if worker is not None else await self._ground.a_worker()
            await self._ground.a_lease(domain, holder)
        locked = {"status": "crawling", "locked_at": "(now())", "locked_by": holder} | columns
        await self._ground.set_at_once("crawl_tasks", task, locked)
        return task

    async def paused(self, page: int | str | None = None, **columns: Any) -> int:
        """Held by an operator."""
        task = await self.pending(page)
        await self._ground.set_at_once("crawl_tasks", task, {"status": "paused"} | columns)
        return task

    async def waiting(self, page: int | str | None = None, *, depends_on: int | None = None, **columns: Any) -> int:
        """Paused until another task is completed."""
        other = depends_on if depends_on is not None else await self.pending()
        return await self.paused(page, is_waiting=True, depends_on=other, **columns)

    async def recurring(self, page: int | str | None = None, *, every_s: float = 86_400.0, **columns: Any) -> int:
        """The next visit of a page that was read, and is read again and again."""
        first = await self.successful(page, revisit_every_s=every_s)
        page_id = (await self._ground.task(first))["page_id"]
        order = {"created_by": "revisit", "parent_task_id": first, "recrawl_count": 1, "revisit_every_s": every_s}
        task = await self._ground.a_task(page_id, due_in_s=every_s, **order | columns)
        await self._ground.conn.execute("UPDATE pages SET status = 'fetched' WHERE id = $1", page_id)
        return task

    async def retry(self, page: int | str | None = None, *, number: int = 1, **columns: Any) -> int:
        """Another try of a page whose visits failed."""
        failed = await self.failed(page)
        for retry_count in range(1, number + 1):
            page_id = (await self._ground.task(failed))["page_id"]
            await self._ground.conn.execute(
                "UPDATE domains d SET frontier_size = frontier_size + 1 FROM pages p"
                " WHERE p.id = $1 AND d.id = p.domain_id",
                page_id,
            )
            task = await self._ground.a_task(page_id, retry_count=retry_count, parent_task_id=failed)
            if retry_count < number:
                await self.close(task, ENDS["failed"])
            failed = task
        await self._ground.set_at_once("crawl_tasks", failed, columns)
        return failed

    async def successful(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("successful", page, columns)

    async def failed(self, page: int | str | None = None, **columns: Any) -> int:
        """No connection."""
        return await self._closed("failed", page, columns)

    async def timed_out(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("timed_out", page, columns)

    async def not_found(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("not_found", page, columns)

    async def forbidden(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("forbidden", page, columns)

    async def server_error(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("server_error", page, columns)

    async def robots_denied(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("robots_denied", page, columns)

    async def broken(self, page: int | str | None = None, **columns: Any) -> int:
        """Failed by a bug of ours."""
        return await self._closed("broken", page, columns)

    async def cancelled(self, page: int | str | None = None, **columns: Any) -> int:
        return await self._closed("cancelled", page, columns)

    async def _closed(self, state: str, page: int | str | None, columns: Mapping[str, Any]) -> int:
        task = await self.pending(page)
        await self.close(task, ENDS[state], **columns)
        return task

    async def close(self, task: int, end: End, **columns: Any) -> None:
        """Closes an open task as its worker would: evidence, the state of its page, and counters."""
        ground = self._ground
        row = await ground.task(task)
        page = await ground.page(row["page_id"])
        if end.outcome != "cancelled" and row["status"] != "crawling":
            await ground.set_at_once("crawl_tasks", task, {"status": "crawling"})
        has_request = end.outcome not in {"cancelled", "blocked_robots"}
        evidence = {
            "status": end.status,
            "outcome": end.outcome,
            "completed_at": "(now())",
            "locked_at": None,
            "locked_by": None,
            "status_code": end.status_code,
            "error_code": end.error_code,
            "error_message": end.error_message,
            "blame": end.blame,
            "is_waiting": False,
            "requested_at": "(now())" if has_request else None,
            "pace_ms": 0 if has_request else None,
            "response_time_ms": 12 if end.status_code else None,
        }
        await ground.set_at_once("crawl_tasks", task, evidence | columns)
        stamp = "fetched_at" if end.page_status == "fetched" else "failed_at"
        await ground.set_at_once("pages", page["id"], {"status": end.page_status, stamp: "(now())"})
        await ground.conn.execute(
            "UPDATE domains SET frontier_size = frontier_size - $2, pages_crawled = pages_crawled + $3,"
            " total_error_count = total_error_count + $4 WHERE id = $1",
            row["domain_id"],
            int(page["status"] in WAITING),
            int(end.outcome == "success"),
            int(end.blame in {"site", "network"}),
        )


class PageFactory:
    """Pages, with the visit that made them so. Without a URL each is a new one of `a.example`."""

    def __init__(self, ground: "Ground") -> None:
        self._ground = ground
        self._numbers = count(1)

    async def discovered(self, url: str | None = None, **columns: Any) -> int:
        """Known by a link, and never visited."""
        url = url or f"http://a.example/page/{next(self._numbers)}"
        name = domain_of(url)
        domain = await self._ground.conn.fetchval("SELECT id FROM domains WHERE name = $1", name)
        if domain is None:
            domain = await self._ground.a_domain(name)
        return await self._ground.a_page(url, domain, **columns)

    async def queued(self, url: str | None = None, **columns: Any) -> int:
        """With an open task for its first visit."""
        page = await self.discovered(url, **columns)
        await self._ground.a_task(page)
        return page

    async def fetched(self, url: str | None = None, **columns: Any) -> int:
        return await self._visited("successful", url, columns)

    async def failed(self, url: str | None = None, **columns: Any) -> int:
        return await self._visited("failed", url, columns)

    async def gone(self, url: str | None = None, **columns: Any) -> int:
        return await self._visited("not_found", url, columns)

    async def blocked(self, url: str | None = None, **columns: Any) -> int:
        """Forbidden by robots.txt."""
        return await self._visited("robots_denied", url, columns)

    async def _visited(self, state: str, url: str | None, columns: Mapping[str, Any]) -> int:
        page = await self.queued(url)
        (task,) = await self._ground.tasks(page)
        await self._ground.new_task.close(task["id"], ENDS[state])
        await self._ground.set_at_once("pages", page, columns)
        return page

    async def find_or_add(self, page: int | str | None) -> int:
        """Returns the page of an id or a URL, adding it where it is not known."""
        if isinstance(page, int):
            return page
        known = await self._ground.conn.fetchval("SELECT id FROM pages WHERE url = $1", page)
        return known if known is not None else await self.discovered(page)


class DomainFactory:
    """Domains. Each moved to its state as the engine moves it, so that its history says so."""

    def __init__(self, ground: "Ground") -> None:
        self._ground = ground

    async def pending(self, name: str = "a.example", **columns: Any) -> int:
        """Known, and never claimed."""
        return await self._ground.a_domain(name, status="pending", **columns)

    async def active(self, name: str = "a.example", *, pages: int = 1, **columns: Any) -> int:
        """With pages that wait for a worker."""
        return await self._ground.a_domain(name, pages=pages, **columns)

    async def paused(self, name: str = "a.example", *, pages: int = 1, **columns: Any) -> int:
        """Switched off by an operator."""
        return await self.active(name, pages=pages, is_active=False, **columns)

    async def exhausted(self, name: str = "a.example", *, in_s: float = 86_400.0, **columns: Any) -> int:
        """Crawled to its end; it is refreshed later."""
        ended = {"status": "exhausted", "ready_at": None}
        return await self._move(name, "fetched", in_s, ended | columns)

    async def blocked(self, name: str = "a.example", *, in_s: float = 86_400.0, **columns: Any) -> int:
        """It answered 403 until it was left alone."""
        why = {"status": "blocked", "block_reason_code": "forbidden", "block_reason": "it answered 403"}
        return await self._move(name, "failed", in_s, why | columns)

    async def unreachable(self, name: str = "a.example", *, in_s: float = 86_400.0, **columns: Any) -> int:
        """Nobody answered."""
        why = {"status": "unreachable", "block_reason_code": "connect_error", "block_reason": "nobody answers"}
        return await self._move(name, "failed", in_s, why | columns)

    async def leased(
        self, name: str = "a.example", *, worker: int | None = None, pages: int = 1, **columns: Any
    ) -> Lease:
        """Held by a worker."""
        domain = await self.active(name, pages=pages, **columns)
        return await self._ground.a_lease(domain, worker if worker is not None else await self._ground.a_worker())

    async def _move(self, name: str, visit: str, in_s: float, columns: dict[str, Any]) -> int:
        """A domain whose home page was visited; `run` and `pages` are those of `active`."""
        domain = await self.active(name, pages=columns.pop("pages", 0), run=columns.pop("run", None))
        await getattr(self._ground.new_page, visit)(f"http://{name}/")
        ends = {"next_crawl_after": f"(now() + make_interval(secs => {float(in_s)}))"}
        await self._ground.set_at_once("domains", domain, ends | columns)
        return domain
