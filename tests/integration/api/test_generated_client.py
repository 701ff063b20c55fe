"""A client that a stock generator makes from our OpenAPI document does everyday jobs against a running API."""

import asyncio
import importlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
import pytest
from tests.integration.api.conftest import token_of
from tests.integration.api.house import NAME, furnish
from tests.integration.api.test_serving import address_of, start

from forager.accounts.identity import Role, Scope
from forager.api.app import create_app
from forager.config.crawl_settings import FIELDS
from forager.config.settings import Settings

PACKAGE = "generated_client"


def generator() -> Path:
    """The stock generator, in an environment of its own: it needs an older typer than ours."""
    program = Path(sys.prefix) / "generator/bin/openapi-python-client"
    if not program.exists():
        reason = f"there is no {program}: `make .venv/.generator` installs it"
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return program


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the client, which is importable meanwhile."""
    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    document.write_text(json.dumps(create_app(Settings()).openapi()))
    said = subprocess.run(
        [
            *(generator(), "generate", "--meta", "none"),
            *("--path", str(document), "--output-path", str(folder / PACKAGE)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    told = said.stdout + said.stderr
    assert "Unable to" not in told, told
    assert "WARNING" not in told, told
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


class Api:
    """The generated operations and models, by name."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.models: ModuleType = importlib.import_module(f"{PACKAGE}.models")

    def call(self, where: str, *arguments: Any, **given: Any) -> Any:
        """What the server answered, as the client understood it; anything but a success is a failure of the test."""
        operation = importlib.import_module(f"{PACKAGE}.api.{where}")
        response = operation.sync_detailed(*arguments, client=self._client, **given)
        assert response.status_code < 300, (where, response.status_code, response.content)
        return response.parsed if response.parsed is not None else response.content


@pytest.fixture
async def api(
    generated: Path, database_url: str, conn: asyncpg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Api]:
    monkeypatch.setenv("FORAGER_FETCH_ALLOW_NETWORKS", "127.0.0.0/8")
    await furnish(conn)
    token = await token_of(conn, Role.ADMIN, Scope.ADMIN)
    process = await start(database_url, tmp_path)
    client = importlib.import_module(f"{PACKAGE}.client")
    try:
        with client.AuthenticatedClient(base_url=await address_of(process), token=token) as opened:
            yield Api(opened)
    finally:
        process.kill()
        await process.communicate()


def test_no_class_is_named_after_its_position_in_the_document(generated: Path) -> None:
    names = {path.stem for path in (generated / "models").glob("*.py")}
    of_settings = {f"domain_changes_{name}_type_0" for name in FIELDS}  # choices and mappings that may be taken back
    placed = {name for name in names if name.endswith(("_type_0", "_type_1")) or "forager" in name}
    assert placed - of_settings - {"sitemap_file_format_type_0"} == set()
    assert {"reason_body", "task_status", "run_order", "visit_order", "task_row_page"} <= names


async def test_it_does_everyday_jobs(api: Api, conn: asyncpg.Connection) -> None:
    await asyncio.to_thread(_look, api)
    await asyncio.to_thread(_order, api)
    task = await conn.fetchval("SELECT max(id) FROM crawl_tasks WHERE outcome IS NULL AND locked_at IS NULL")
    await asyncio.to_thread(_steer, api, task)


def _look(api: Api) -> None:
    """Health, numbers, lists with filters and pages, search, errors, prices, an export, storage."""
    status = api.models.TaskStatus
    assert api.call("system.health").parts.additional_properties["database"].state == "ok"
    assert api.call("stats.stats").domains == 2
    assert [row.name for row in api.call("domains.list_domains", limit=1).items] == [NAME]
    first = api.call("tasks.list_tasks", limit=1, status=status.COMPLETED)
    assert [row.status for row in first.items] == [status.COMPLETED]
    everything, after = [], None
    while True:
        page = api.call("tasks.list_tasks", limit=1, **({"after": after} if after else {}))
        everything += page.items
        if not (after := page.next_):
            break
    assert len(everything) == 3
    assert api.call("search.search", q="lamp").hits is not None
    assert api.call("errors.list_errors").items is not None
    assert [float(change.price) for change in api.call("products.list_changes").items] == [49.9]
    product = api.call("products.list_products").items[0]
    assert api.call("products.list_prices", product.id)
    kind = api.models.ExportRowsKind
    exported = api.call("exports.export_rows", kind.PRODUCTS, format_="csv")
    assert b"A lamp" in exported
    assert api.call("storage.show_storage").rules


def _order(api: Api) -> None:
    """Seeds, a visit, a batch of visits, a run, a person, a token."""
    models = api.models
    seeded = api.call("frontier.add_seeds", body=models.Urls(urls=["http://127.0.0.1:9/new"]))
    assert seeded.new_pages == 1
    assert api.call("tasks.submit_task", body=models.Submission(url="http://127.0.0.1:9/visit"))
    visits = [models.VisitOrder(url=f"http://127.0.0.1:9/{number}") for number in range(3)]
    assert len(api.call("tasks.submit_batch", body=models.BatchOrder(name="three", tasks=visits)).tasks) == 3
    assert api.call("runs.start_run", body=models.RunOrder(urls=["http://127.0.0.1:9/"]))
    assert api.call("accounts.invite", body=models.Invite(name="bob", role=models.Role.USER)).link
    assert api.call("accounts.create_token", body=models.TokenCreate(name="mine", scope=models.TokenScope.READ)).token


def _steer(api: Api, task: int) -> None:
    """Pause and resume without a body, change one thing of a domain and of a proxy, cancel."""
    models = api.models
    assert api.call("domains.pause_domain", NAME).is_active is False
    before = api.call("domains.show_domain", NAME).to_dict()
    api.call("domains.configure_domain", NAME, body=models.DomainChanges(delay=7.0))
    after = api.call("domains.show_domain", NAME).to_dict()
    kept = {"is_active", "verifies_tls", "stores_links", "is_adaptive", "paces_per_proxy", "content_policy"}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert after["crawl_delay_s"] == 7.0
    assert api.call("domains.resume_domain", NAME, body=models.ReasonBody(reason="back")).is_active is True
    proxy = api.call("proxies.list_proxies").items[0]
    api.call("proxies.configure_proxy", proxy.id, body=models.ProxyChanges(provider="Acme"))
    changed = api.call("proxies.admin_show_proxy", proxy.id)
    assert (changed.provider, changed.country_code) == ("Acme", proxy.country_code)
    assert api.call("tasks.cancel_task", task)
