"""Read-only queries on duplicate and near-duplicate pages for operators: clusters, and pages similar to one page."""

from collections.abc import Sequence
from typing import Any

from forager.db import statements
from forager.db.rows import Row
from forager.db.types import Connection
from forager.domains.lookup import known_name
from forager.errors import UsageError
from forager.pages.queries import find_page
from forager.search.near_duplicates import NEAR_BITS, distance, split_simhash

SQL = statements.load("forager.search", "duplicates.sql")
MOST_MEMBERS = 1000
Key = tuple[int | None, int | None]
"""The number of pages of a cluster when it was counted, and its id."""
NOTHING: Key = (None, None)


async def list_clusters(
    conn: Connection, *, domain: str | None = None, distance_bits: int = NEAR_BITS, limit: int = 20, members: int = 5
) -> list[Row]:
    """Returns clusters of two or more pages, largest first, each with its representative page and some other members.

    A smaller distance shows only members that near to the representative; the count then covers only the members
    checked.
    """
    shown, _ = await page_of_clusters(conn, NOTHING, domain=domain, near=(distance_bits, members), limit=limit)
    return shown


async def page_of_clusters(
    conn: Connection, after: Key, *, domain: str | None, near: tuple[int, int], limit: int
) -> tuple[list[Row], Key | None]:
    """Returns the `limit` clusters after a key, as `list_clusters` does, and the key of the last one; None: there
    are no more. Fewer are returned if clusters shrank since they were counted. `near`: the distance in bits, and the
    number of members."""
    distance_bits, members = near
    validate_distance(distance_bits)
    name = await known_name(conn, domain)
    of_domain = SQL["clusters_of_domain"], *after, name, limit + 1
    rows = await conn.fetch(*(of_domain if name else (SQL["largest_clusters"], *after, limit + 1)))
    found = [row["id"] for row in rows[:limit]]
    counts = {row["cluster_id"]: row for row in await conn.fetch(SQL["count_members"], found)}
    most = members + 1 if distance_bits == NEAR_BITS else MOST_MEMBERS
    pages = await _members(conn, [cluster for cluster in found if cluster in counts], most)
    described = [_cluster(pages[cluster], counts[cluster], distance_bits, members) for cluster in pages]
    last = (rows[limit - 1]["pages"], rows[limit - 1]["id"]) if len(rows) > limit else None
    return [row for row in described if row["pages"] > 1], last


async def of_page(conn: Connection, url: str, *, distance_bits: int = NEAR_BITS, limit: int = 100) -> Row:
    """Returns pages with nearly the same content as this one, nearest first."""
    validate_distance(distance_bits)
    page = await find_page(conn, url)
    mine = await conn.fetchrow(SQL["cluster_of_page"], page["id"])
    answer = {"url": page["url"], "title": page["title"], "is_indexed": mine is not None}
    if mine is None or mine["id"] is None:
        return answer | {"has_text": False, "members": []}
    near = [
        row["id"] for row in await conn.fetch(SQL["near_clusters"], mine["simhash"], split_simhash(mine["simhash"]))
    ]
    found = await _members(conn, list(dict.fromkeys([mine["id"], *near])), MOST_MEMBERS)
    others = [row for rows in found.values() for row in rows if row["id"] != page["id"]]
    compared = [_member(row, mine["simhash"], mine["content_hash"]) for row in others]
    shown = [row for row in compared if row["distance"] <= distance_bits]
    return answer | {"has_text": True, "members": sorted(shown, key=lambda row: (row["distance"], row["url"]))[:limit]}


def validate_distance(distance_bits: int) -> None:
    if not 0 <= distance_bits <= NEAR_BITS:
        raise UsageError(
            f"The distance is in bits, from 0 (the same text) to {NEAR_BITS}, not {distance_bits}.", field="distance"
        )


async def _members(conn: Connection, clusters: Sequence[int], most: int) -> dict[int, list[Any]]:
    """Returns members in cluster order; the first of each cluster is its representative."""
    pages: dict[int, list[Any]] = {cluster: [] for cluster in clusters}
    for row in await conn.fetch(SQL["members"], clusters, most):
        pages[row["cluster_id"]].append(row)
    return {cluster: rows for cluster, rows in pages.items() if rows}


def _cluster(pages: Sequence[Any], count: Any, distance_bits: int, members: int) -> Row:
    first, *rest = pages
    others = [_member(row, first["simhash"], first["content_hash"]) for row in rest]
    is_all = distance_bits == NEAR_BITS
    near = others if is_all else [row for row in others if row["distance"] <= distance_bits]
    return {
        "url": first["url"],
        "title": first["title"],
        "domain": first["domain"],
        "pages": count["pages"] if is_all else 1 + len(near),
        "domains": count["domains"] if is_all else len({first["domain"], *(row["domain"] for row in near)}),
        "members": near[:members],
    }


def _member(row: Any, simhash: int, content_hash: bytes) -> Row:
    return {
        "url": row["url"],
        "title": row["title"],
        "domain": row["domain"],
        "distance": distance(row["simhash"], simhash),
        "is_exact": row["content_hash"] == content_hash,
        "fetched_at": row["fetched_at"],
    }
