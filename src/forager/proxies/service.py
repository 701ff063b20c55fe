"""Operator actions on proxies and on domains' proxy pools. All interfaces (CLI, API) call these.

Each runs in the caller's transaction. No password is returned: it is stored encrypted, and the output only shows that
there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import with_config

from forager.config.cipher import PasswordCipher
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains import store as domain_store
from forager.domains.lookup import canonical_name, known_name
from forager.domains.service import add_unknown
from forager.errors import NotFoundError, UsageError
from forager.proxies import admin as operate
from forager.proxies.address import ProxyAddress
from forager.proxies.admin import ProxyInfo, Row
from forager.proxies.rotation import proxies_needed, requests_allowed

FEWEST_ACTIVE = 3
"""A pool with fewer active proxies hardly rotates."""
MOST_FAILED_PERCENT = 10.0
IDLE_S = 7 * 86_400.0
WHERE_LISTED = "`forager proxies` lists them."


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class AddedProxy:
    id: int
    is_new: bool


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Assigned:
    domain: str
    proxies: list[int]
    """What was asked for, already there or not."""
    new: list[int]


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class SwitchedProxies:
    proxies: list[int]
    domain: str | None
    """Only in its pool; None: everywhere."""
    is_active: bool


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class PoolSize:
    """How a domain's pool does, and how large it should be."""

    domain: str
    proxies: int
    active: int
    failing: int
    needed: int
    pages_per_hour: float
    requests_per_proxy_hour: float
    failed_percent: float | None
    avg_response_time_ms: float | None
    successes: int
    failures: int
    monthly_cost: float | None
    remarks: tuple[str, ...]


async def add(
    conn: Connection, vault: PasswordCipher, addresses: Sequence[ProxyAddress], facts: ProxyInfo
) -> list[AddedProxy]:
    """Adds all of the proxies or none. A known one takes the given values as its new password and details."""
    sealed = [vault.encrypt(address.password) if address.password else None for address in addresses]
    pairs = zip(addresses, sealed, strict=True)
    return [AddedProxy(*await operate.add_proxy(conn, address, facts, closed)) for address, closed in pairs]


async def list_all(
    conn: Connection, *, domain: str | None = None, country: str | None = None, provider: str | None = None
) -> list[Row]:
    """Returns all proxies, a selection, or the pool of one domain; with their health."""
    if domain is None:
        return await operate.list_proxies(conn, country=country, provider=provider)
    identity, _ = await _find_domain(conn, domain)
    rows = await operate.list_pool(conn, identity)
    return [row for row in rows if country in {None, row["country_code"]} and provider in {None, row["provider"]}]


async def change_facts(
    conn: Connection,
    vault: PasswordCipher,
    ids: Sequence[int],
    changes: Mapping[str, Any],
    *,
    password: str | None = None,
) -> list[int]:
    """Changes the named details of proxies; None clears one."""
    await reject_unknown(conn, ids)
    return await operate.change_proxies(conn, ids, changes, vault.encrypt(password) if password else None)


async def remove(conn: Connection, ids: Sequence[int], *, is_forced: bool = False) -> list[int]:
    await reject_unknown(conn, ids)
    lonely = await operate.only_ones_of(conn, ids)
    if lonely and not is_forced:
        raise UsageError(
            f"{lonely[0]} would have no proxy left and be asked directly; "
            f"`forager proxies unassign {lonely[0]}` says that you want that, --force too."
        )
    return await operate.remove_proxies(conn, ids)


async def assign(
    conn: Connection,
    domain: str,
    ids: Sequence[int],
    *,
    country: str | None = None,
    provider: str | None = None,
    priority: int | None = None,
    by: str,
) -> Assigned:
    """Assigns proxies: from now on, requests to the domain are sent through its pool only. An unknown domain is added
    without pages, so that its first request goes through them."""
    proxies = await _choose_proxies(conn, ids, country, provider)
    name, identity = await _add_domain(conn, domain)
    [done] = await _assign(conn, {name: identity}, proxies, priority=priority, by=by)
    return done


async def assign_many(
    conn: Connection,
    domains_named: Sequence[str] | None,
    ids: Sequence[int],
    *,
    profile: str | None = None,
    country: str | None = None,
    provider: str | None = None,
    priority: int | None = None,
    by: str,
) -> list[Assigned]:
    """Assigns proxies to many domains: names (unknown ones are added) and patterns such as *.example.org, those of a
    profile, or all that are known (None)."""
    proxies = await _choose_proxies(conn, ids, country, provider)
    found: dict[str, int] = {}
    if domains_named is None:
        found = await operate.match_domains(conn, profile=profile)
    for text in domains_named or ():
        if "*" in text:
            matched = await operate.match_domains(conn, [_like(text)], profile=profile)
            if not matched:
                raise NotFoundError(f"No domain matches {text!r}; `forager domains` lists them.")
            found |= matched
        else:
            name, identity = await _add_domain(conn, text)
            found[name] = identity
    if not found:
        raise NotFoundError(f"No domain has the profile {profile!r}." if profile else "No domain is known.")
    return await _assign(conn, found, proxies, priority=priority, by=by)


async def _assign(
    conn: Connection, found: Mapping[str, int], proxies: Sequence[int], *, priority: int | None, by: str
) -> list[Assigned]:
    new = await operate.assign(conn, sorted(found.values()), proxies, priority=priority)
    for identity, added in sorted(new.items()):
        await domains.note(conn, identity, by=by, reason=f"asked through {_numbers(added)}")
    return [Assigned(name, list(proxies), new.get(identity, [])) for name, identity in sorted(found.items())]


async def _choose_proxies(conn: Connection, ids: Sequence[int], country: str | None, provider: str | None) -> list[int]:
    await reject_unknown(conn, ids)
    chosen = set(ids)
    if country or provider:
        chosen |= set(await operate.find_ids(conn, None, country=country, provider=provider))
    if not chosen:
        raise NotFoundError(f"No proxy fits; {WHERE_LISTED}")
    return sorted(chosen)


async def _add_domain(conn: Connection, text: str) -> tuple[str, int]:
    """Returns name and id of a domain, which is added if it is not known."""
    try:
        identity, name = await _find_domain(conn, text)
    except NotFoundError:
        name = canonical_name(text)
        await add_unknown(conn, text)
        identity = (await domain_store.find_domains(conn, [name]))[name]
    return name, identity


def _like(pattern: str) -> str:
    """Returns a pattern of names as LIKE takes it."""
    escaped = pattern.strip().lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%")


async def unassign(conn: Connection, domain: str, ids: Sequence[int] | None, *, by: str) -> Assigned:
    """Removes proxies from a pool. Without its last proxy, a domain uses the default pool; if there is none it is
    requested directly, and an alert says so."""
    identity, name = await _find_domain(conn, domain)
    gone = await operate.unassign(conn, identity, ids or None)
    if missing := set(ids or ()) - set(gone):
        raise NotFoundError(f"{_numbers(sorted(missing))} is not in the pool of {name}.")
    if gone:
        await domains.note(conn, identity, by=by, reason=f"no longer asked through {_numbers(gone)}")
    return Assigned(name, gone, [])


async def switch(
    conn: Connection, ids: Sequence[int], is_active: bool, *, domain: str | None = None
) -> SwitchedProxies:
    """Switches proxies on or off. On resets consecutive failures; off lasts until an operator switches it on."""
    if domain is None:
        await reject_unknown(conn, ids)
        return SwitchedProxies(await operate.switch_proxies(conn, ids, is_active), None, is_active)
    identity, name = await _find_domain(conn, domain)
    turned = await operate.switch_members(conn, identity, ids, is_active)
    if missing := set(ids) - set(turned):
        raise NotFoundError(f"{_numbers(sorted(missing))} is not in the pool of {name}.")
    return SwitchedProxies(turned, name, is_active)


async def rekey(conn: Connection, vault: PasswordCipher) -> int:
    """Encrypts all passwords with the first key; returns how many there are. Afterwards the other keys can be
    removed."""
    return await operate.rotate_secret(conn, vault)


async def costs(conn: Connection) -> Row:
    return await operate.costs(conn, idle_s=IDLE_S)


async def compute_pool_size(
    conn: Connection,
    domain: str | None,
    *,
    pages_per_hour: float | None = None,
    requests_per_proxy_hour: float | None = None,
    delay_s: float,
) -> list[PoolSize]:
    """Returns the pool size for one domain, or for all that have a pool. Without a number, for as many pages as the
    domain's pace allows."""
    identity = (await _find_domain(conn, domain))[0] if domain else None
    rows = await operate.pool_health(conn, identity)
    return [_compute_size(row, pages_per_hour, requests_per_proxy_hour, delay_s) for row in rows]


def _compute_size(row: Row, pages: float | None, per_proxy: float | None, delay_s: float) -> PoolSize:
    delay_s = row["crawl_delay_s"] if row["crawl_delay_s"] is not None else delay_s
    pages = pages or 3600.0 / max(delay_s, 0.1)
    spacing_s = delay_s if row["paces_per_proxy"] else None
    limits = per_proxy, row["requests_per_proxy_hour"] or 1000.0, row["pair_per_hour"]
    per_proxy = requests_allowed(limits, rotation_s=row["rotation_s"], spacing_s=spacing_s) or 1000.0
    uses = row["successes"] + row["failures"]
    failed_percent = 100.0 * row["failures"] / uses if uses else None
    needed = proxies_needed(pages, per_proxy)
    return PoolSize(
        domain=row["name"],
        proxies=row["proxies"],
        active=row["active"],
        failing=row["failing"],
        needed=needed,
        pages_per_hour=pages,
        requests_per_proxy_hour=per_proxy,
        failed_percent=failed_percent,
        avg_response_time_ms=row["avg_response_time_ms"],
        successes=row["successes"],
        failures=row["failures"],
        monthly_cost=row["monthly_cost"],
        remarks=tuple(_list_warnings(row["active"], needed, failed_percent)),
    )


def _list_warnings(active: int, needed: int, failed_percent: float | None) -> list[str]:
    told = []
    if active < needed:
        told.append(f"{needed - active} more needed")
    if active < FEWEST_ACTIVE:
        told.append(f"fewer than {FEWEST_ACTIVE} work")
    if failed_percent is not None and failed_percent > MOST_FAILED_PERCENT:
        told.append(f"{failed_percent:.0f} % of requests failed")
    if active > 2 * needed:
        told.append(f"{active - needed} more than needed")
    return told


async def _find_domain(conn: Connection, text: str) -> tuple[int, str]:
    name = await known_name(conn, text)
    assert name is not None
    return (await domain_store.find_domains(conn, [name]))[name], name


async def reject_unknown(conn: Connection, ids: Sequence[int]) -> None:
    known = await operate.find_ids(conn, list(ids)) if ids else []
    if missing := sorted(set(ids) - set(known)):
        raise NotFoundError(f"There is no {_numbers(missing)}; {WHERE_LISTED}")


def _numbers(ids: Sequence[int]) -> str:
    return f"proxy {ids[0]}" if len(ids) == 1 else f"proxies {', '.join(map(str, ids))}"
