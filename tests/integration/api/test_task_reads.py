"""Tasks over HTTP: those of one batch, those for images, and why one that is paused is not fetched."""

import httpx
from tests.ground import Ground

URL = "http://a.example/lamp"


async def test_tasks_of_a_batch_and_tasks_for_images(admin: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    image = await ground.a_page("http://a.example/lamp.png", domain, is_image="(true)", status="queued")
    picture = await ground.conn.fetchval(
        "INSERT INTO crawl_tasks (page_id, domain_id) VALUES ($1, $2) RETURNING id", image, domain
    )
    batch = {"name": "lamps", "tasks": [{"url": URL}, {"url": f"{URL}/2"}]}
    made = (await admin.post("/api/admin/tasks/batch", json=batch)).json()
    ordered = sorted(task["task_id"] for task in made["tasks"])

    async def listed(**filters: str | int) -> list[int]:
        answer = await admin.get("/api/tasks", params=filters)
        assert answer.status_code == 200, answer.text
        return sorted(row["id"] for row in answer.json()["items"])

    assert await listed(batch_id=made["batch_id"]) == ordered
    assert await listed(kind="image") == [picture]
    assert await listed(kind="page") == ordered
    assert await listed(kind="image", batch_id=made["batch_id"]) == []
    assert (await admin.get("/api/tasks", params={"batch_id": 4711})).status_code == 404
    for bad in ({"kind": "video"}, {"batch_id": 0}, {"batch_id": "x"}):
        assert (await admin.get("/api/tasks", params=bad)).status_code == 422, bad


async def test_why_a_paused_task_is_not_fetched(admin: httpx.AsyncClient) -> None:
    task = (await admin.post("/api/admin/tasks", json={"url": URL})).json()["task_id"]
    await admin.post(f"/api/admin/tasks/{task}/pause", json={"reason": "they asked"})
    told = (await admin.get("/api/why", params={"of": URL})).json()
    (gate,) = [gate for gate in told["page_checks"] if gate["name"] == "task"]
    assert (gate["is_open"], told["next_fetch_at"]) == (False, None)
    assert "is paused, by api:" in gate["sentence"]
    assert gate["sentence"].endswith(": they asked")
    assert str(task) in gate["remedy"]
    await admin.post(f"/api/admin/tasks/{task}/resume")
    again = (await admin.get("/api/why", params={"of": URL})).json()
    assert [gate["is_open"] for gate in again["page_checks"] if gate["name"] == "task"] == [True]
