"""From a worker that fell silent to the webhook that hears of it: both jobs, a real receiver."""

import json
from pathlib import Path

from tests.ground import Ground
from tests.integration.scheduler.stage import a_context
from tests.integration.tasks.test_webhooks import Receiver, call, settings_for

from forager.alerts import service as control
from forager.alerts.jobs import AlertsJob


async def test_a_silent_worker_is_told_to_the_webhook_signed_and_once(ground: Ground, tmp_path: Path) -> None:
    await ground.a_worker(silent_s=200, host="box/boot/pid")
    async with Receiver().listen() as receiver:
        await control.add_target(ground.conn, receiver.url, by="ada")
        for _ in range(3):
            await AlertsJob().run(a_context(ground.conn))
            await call(ground.conn, settings_for(tmp_path))
        [alert] = await control.list_alerts(ground.conn)
        await control.resolve(ground.conn, [alert["id"]], by="ada")
        await call(ground.conn, settings_for(tmp_path))
    raised, resolved = map(json.loads, receiver.bodies)
    assert (raised["event"], raised["rule"], raised["subject"]) == ("alert.raised", "worker_silent", "box")
    assert "given no heartbeat for 3 minutes" in raised["message"]
    assert (resolved["event"], resolved["resolved_by"], resolved["id"]) == ("alert.resolved", "ada", raised["id"])
    assert all(head["forager-signature"].startswith("t=") for head in receiver.heads)
