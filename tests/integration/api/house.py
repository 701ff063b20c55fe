# ruff: noqa: E501 (statements read best in one piece)
"""A database with something of everything, so that every list has rows and every number 1 is there."""

import json
from typing import Any

from tests.builders import a_detailed_reading, a_target
from tests.ground import Ground

from forager.domains.store import find_domains
from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind
from forager.proxies.address import ProxyAddress
from forager.proxies.admin import ProxyInfo, add_proxy, assign

NAME = "a.example"


async def furnish(conn: Any) -> None:
    ground = Ground(conn)
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(NAME, run=run, pages=5)
    await ground.a_domain("b.example", pages=2)
    await ground.a_lease(domain, worker)
    first = await ground.a_page(
        f"http://{NAME}/read", domain, status="fetched", fetched_at="(now())", title="A lamp", language="en",
        content_type="text/html", links_count=1, content_hash=bytes(16), simhash=5, flags=["truncated"],
    )  # fmt: skip
    await ground.link(first, 1)
    await _visits(conn, ground, first, domain, run)
    await _things(conn, first, domain)
    target = a_target(page=first)
    await record_details(conn, [Outcome(target, OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())])
    await _words(conn, run)
    proxy, _ = await add_proxy(conn, ProxyAddress("http", "proxy.example", 3128, "me"), ProxyInfo(country="DE"), None)
    await add_proxy(conn, ProxyAddress("http", "other.example", 3128), ProxyInfo(), None)
    await assign(conn, [(await find_domains(conn, [NAME]))[NAME]], [proxy], priority=None)


async def _visits(conn: Any, ground: Ground, page: int, domain: int, run: int) -> None:
    for outcome, status, code in (("success", "completed", 200), ("failed", "failed", None)):
        await conn.execute(
            "INSERT INTO crawl_tasks (page_id, domain_id, run_id, status, outcome, status_code, error_code, error_message,"
            " blame, requested_at, completed_at, response_time_ms, bytes, pace_ms)"
            " VALUES ($1, $2, $3, $4::text::task_status, $5::text::task_outcome, $6, $7, $8, 'us', now(), now(), 12, 99, 0)",
            page,
            domain,
            run,
            status,
            outcome,
            code,
            None if code else "broken",
            None if code else "a bug",
        )
    waiting = await ground.a_page(f"http://{NAME}/waits", domain)
    await ground.a_task(waiting)


async def _things(conn: Any, page: int, domain: int) -> None:
    product = await conn.fetchval(
        "INSERT INTO products (domain_id, page_id, url, url_hash, product_name, price, currency, availability, brand,"
        " content_hash, parser_name, parser_version, confidence, is_valid, evidence, created_at, updated_at, last_seen_at)"
        " SELECT domain_id, id, url, url_hash, 'A lamp', 49.9, 'EUR', 'in_stock', 'Lumen', '\\x00', 'generic', 1, 0.9, true,"
        ' \'{"price": [["49.9", "jsonld", 0.9]]}\', now(), now(), now() FROM pages WHERE id = $1 RETURNING id',
        page,
    )
    await conn.execute(
        "INSERT INTO product_prices (domain_id, product_id, seen_at, price, currency, old_price, old_currency)"
        " VALUES ($1, $2, now(), 49.9, 'EUR', 59.9, 'EUR')",
        domain,
        product,
    )
    await conn.execute(
        "INSERT INTO product_days (domain_id, day, parser_name, parser_version, attempts, found, valid)"
        " VALUES ($1, current_date, 'generic', 1, 10, 9, 8)",
        domain,
    )
    image = await conn.fetchval(
        "INSERT INTO images (url_hash, url, domain_id, status, format, width, height, file_size, content_hash,"
        " perceptual_hash, body_ref, thumbnail_ref, stored_at)"
        " VALUES ('\\x00112233445566778899aabbccddeeff', 'http://a.example/lamp.png', $1, 'stored', 'png', 4, 4, 9, '\\x01', 7,"
        " 'images/00/00.png', 'thumbnails/00/00.webp', now()) RETURNING id",
        domain,
    )
    await conn.execute(
        "INSERT INTO page_images (domain_id, page_id, image_id, position, discovery_type, image_type, alt_text)"
        " VALUES ($1, $2, $3, 0, 'img', 'primary', 'a lamp')",
        domain,
        page,
        image,
    )


async def _words(conn: Any, run: int) -> None:
    await conn.execute(
        "INSERT INTO origins (domain_id, origin, robots_txt, robots_status_code, robots_fetched_at, robots_expires_at, sitemaps)"
        " SELECT id, 'http://a.example', 'User-agent: *', 200, now(), now() + interval '1 hour', '{}' FROM domains WHERE name = $1",
        NAME,
    )
    await conn.execute(
        "INSERT INTO domain_traps (domain_id, rule, template, example, found_at) SELECT id, 'calendar', '', 'http://a.example/2026/1', now()"
        " FROM domains WHERE name = $1",
        NAME,
    )
    await conn.execute("UPDATE domains SET is_active = false WHERE name = 'b.example'")
    await conn.execute(
        "INSERT INTO run_outcomes (run_id, outcome, reason, pages, bytes, time_ms) VALUES ($1, 'success', '200', 1, 99, 12)",
        run,
    )
    await conn.execute(
        "INSERT INTO jobs (name, every_s, ended_at, started_at, result) VALUES ('score', 60, now(), now(), 'ok')"
    )
    await conn.execute(
        "INSERT INTO alerts (rule, subject, severity, message, value) VALUES ('error_rate', '', 'warning', 'many errors', 0.3)"
    )
    await conn.execute("INSERT INTO batches (name, created_by) VALUES ('a batch', 'test')")
    await conn.execute(
        "INSERT INTO audit_log (who, via, action, object_kind, outcome, details) VALUES ('cli:test', 'cli', 'domain.pause', 'domain', 'done', $1)",
        json.dumps({"reason": "test"}),
    )
