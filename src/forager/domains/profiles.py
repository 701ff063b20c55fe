"""Profiles: named crawl settings for many domains. Declared in a file and applied, or changed one by one.

A profile names its domains, or patterns such as `*.example.org`. A domain that is added later joins too, before its
first request. Applying the same file twice changes nothing.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import with_config

from forager.config.cipher import PasswordCipher
from forager.config.crawl_layers import dump_layer, load_layer
from forager.config.crawl_settings import (
    FIELDS,
    changed_names,
    check_authentication,
    describe_changes,
    restore_hidden,
    show_value,
)
from forager.db import statements
from forager.db.query import Query
from forager.db.rows import RECORD
from forager.db.types import Connection
from forager.domains import admin as domains
from forager.domains.settings import Changes, StoredLayers, follow_up, read_changes
from forager.errors import BadUrlError, NotFoundError, UsageError
from forager.urls.domain import domain_of
from forager.urls.normalize import normalize

SQL = statements.load("forager.domains", "settings.sql")
DOMAINS = "domains"
"""The key of a profile in a file that is not a setting."""
NO_VALUE = "none"
MAX_MEMBERS = 100_000
MAX_NAME = 260
PATTERN = r"[^\s/?#@]*\*[^\s/?#@]*"
PORTION = 500
NAME_PATTERN = r"[a-z0-9][a-z0-9._-]{0,62}"


class StoredProfile(NamedTuple):
    id: int
    name: str
    settings: str
    members: list[str]
    updated_at: datetime
    updated_by: str


class ListedProfile(NamedTuple):
    name: str
    settings: str
    members: list[str]
    updated_at: datetime
    updated_by: str
    domains: int


class MisplacedDomain(NamedTuple):
    id: int
    name: str
    was: int | None
    is_now: int | None


FIND_PROFILE = Query(SQL["find_profile"], StoredProfile)
LIST_PROFILES = Query(SQL["list_profiles"], ListedProfile)
MISPLACED = Query(SQL["misplaced_domains"], MisplacedDomain)
DOMAINS_OF = Query(SQL["domains_of_profile"], str)
READ_SETTINGS = Query(SQL["read_settings"], StoredLayers)


@dataclass(frozen=True, slots=True)
class ProfileSpec:
    """A profile as it is declared."""

    name: str
    settings: Mapping[str, Any]
    members: tuple[str, ...]


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class ProfileChange:
    """The difference between a profile and its declaration."""

    name: str
    is_new: bool
    settings: Mapping[str, Any]
    """Name → new value as written in a file; None: no longer set."""
    before: Mapping[str, Any]
    """Those of `settings` that were set before → the value they had."""
    joined: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.is_new or self.settings or self.joined or self.left)


@with_config(RECORD)
@dataclass(frozen=True, slots=True)
class Applied:
    changes: tuple[ProfileChange, ...]
    """One for each declared profile; those that are the same already are empty."""
    domains: int
    """Known domains that joined another profile, or none."""


def read_profiles(text: str) -> list[ProfileSpec]:
    """Reads `[profile.NAME]` tables of settings, each with `domains = [...]`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The file is not valid TOML: {error}.") from None
    if unknown := sorted(set(document) - {"profile"}):
        raise UsageError(f"There is no table {unknown[0]!r}; write [profile.NAME].", field=unknown[0])
    tables = document.get("profile", {})
    if not isinstance(tables, dict) or not tables:
        raise UsageError("The file declares no profile; write a table [profile.NAME].")
    specs = [_read_profile(name, table) for name, table in tables.items()]
    _check_members(specs)
    return specs


def _read_profile(name: str, table: Any) -> ProfileSpec:
    check_name(name)
    if not isinstance(table, dict):
        raise UsageError(f"profile.{name} is no table; write [profile.{name}].")
    members = table.get(DOMAINS, [])
    if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
        raise UsageError(f"domains of profile {name} is no list of names; write domains = ['shop.example'].")
    values = {key: value for key, value in table.items() if key != DOMAINS}
    try:
        chosen = read_changes(values).chosen if values else {}
    except UsageError as error:
        raise UsageError(f"profile {name}: {error}", field=error.field) from None
    return ProfileSpec(name, chosen, tuple(dict.fromkeys(map(read_member, members))))


def check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN, name):
        raise UsageError(
            f"{name!r} is no name of a profile; write up to 63 small letters, digits, dots, dashes or underscores.",
            field="name",
        )


def read_member(text: str) -> str:
    """Returns the canonical name of a domain, or a pattern as it is."""
    clean = text.strip().lower()
    if len(clean) <= MAX_NAME and re.fullmatch(PATTERN, clean):
        return clean
    try:
        if len(clean) <= MAX_NAME:
            return domain_of(normalize(clean if "://" in clean else f"http://{clean}"))
    except BadUrlError:
        pass
    raise UsageError(f"{text!r} is no name of a domain and no pattern such as *.example.org.", field=DOMAINS)


def _check_members(specs: Sequence[ProfileSpec]) -> None:
    owners: dict[str, str] = {}
    for spec in specs:
        if len(spec.members) > MAX_MEMBERS:
            raise UsageError(f"profile {spec.name} names more than {MAX_MEMBERS:,} domains; use a pattern.")
        for member in spec.members:
            if (other := owners.setdefault(member, spec.name)) != spec.name:
                raise UsageError(f"{member} is in the profiles {other} and {spec.name}; a domain has one.")


async def list_profiles(conn: Connection, cipher: PasswordCipher) -> list[dict[str, Any]]:
    """Returns all profiles as they are shown: secrets are hidden."""
    return [_shown(row._asdict(), cipher) for row in await LIST_PROFILES.fetch(conn)]


async def show_profile(conn: Connection, name: str, cipher: PasswordCipher, *, limit: int = 1000) -> dict[str, Any]:
    """Returns one profile with the names of its domains, up to the limit."""
    for row in await LIST_PROFILES.fetch(conn):
        if row.name == name:
            return _shown(row._asdict(), cipher) | {"domain_names": await DOMAINS_OF.fetch(conn, name, limit)}
    raise await _missing(conn, name)


def _shown(row: dict[str, Any], cipher: PasswordCipher) -> dict[str, Any]:
    layer = load_layer(row["settings"], cipher, f"profile {row['name']}")
    return row | {"settings": {name: show_value(name, layer[name]) for name in FIELDS if name in layer}}


async def read_spec(
    conn: Connection, name: str, values: Mapping[str, Any], members: Sequence[str], cipher: PasswordCipher
) -> ProfileSpec:
    """Reads a profile as it is declared over the API, where `•••` keeps a stored secret."""
    check_name(name)
    stored = await FIND_PROFILE.first(conn, name)
    before = load_layer(stored.settings, cipher, f"profile {name}") if stored else {}
    chosen = read_changes(restore_hidden(values, before)).chosen if values else {}
    return ProfileSpec(name, chosen, tuple(dict.fromkeys(map(read_member, members))))


async def apply_profiles(
    conn: Connection,
    specs: Sequence[ProfileSpec],
    *,
    by: str,
    cipher: PasswordCipher,
    refresh_every_s: float | None,
    is_dry_run: bool = False,
) -> Applied:
    """Makes the profiles equal to their declarations; others stay. Known domains join at once."""
    await conn.execute(SQL["lock_profile_tables"])
    changes = [await _difference(conn, spec, cipher) for spec in specs]
    await _check_other_profiles(conn, specs)
    if is_dry_run:
        return Applied(tuple(changes), 0)
    for spec, change in zip(specs, changes, strict=True):
        if not change.is_empty:
            await _save(conn, spec, by=by, cipher=cipher, refresh_every_s=refresh_every_s)
    moved = await _place_domains(conn, by=by, cipher=cipher, refresh_every_s=refresh_every_s)
    return Applied(tuple(changes), moved)


async def change_profile(
    conn: Connection,
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    join: Sequence[str] = (),
    leave: Sequence[str] = (),
    by: str,
    cipher: PasswordCipher,
    refresh_every_s: float | None,
) -> Applied:
    """Changes single settings of a profile, or which domains belong to it; settings create it if it is new. None takes
    a setting back."""
    check_name(name)
    before = await FIND_PROFILE.first(conn, name)
    if before is None and not settings:
        raise await _missing(conn, name)  # a typing error would take domains out of reach
    layer = load_layer(before.settings, cipher, f"profile {name}") if before else {}
    given = read_changes(settings) if settings else Changes({}, frozenset())
    leaving = set(map(read_member, leave))
    members = [member for member in (before.members if before else ()) if member not in leaving]
    chosen = given.apply_to(layer)
    check_authentication(chosen)
    members += [member for member in map(read_member, join) if member not in members]
    spec = ProfileSpec(name, chosen, tuple(members))
    return await apply_profiles(conn, [spec], by=by, cipher=cipher, refresh_every_s=refresh_every_s)


async def delete_profile(
    conn: Connection, name: str, *, by: str, cipher: PasswordCipher, refresh_every_s: float | None
) -> int:
    """Deletes a profile; its domains keep what was chosen for them. Returns how many domains left it."""
    await conn.execute(SQL["lock_profile_tables"])
    if await FIND_PROFILE.first(conn, name) is None:
        raise await _missing(conn, name)
    empty = ProfileSpec(name, {}, ())
    await _save(conn, empty, by=by, cipher=cipher, refresh_every_s=refresh_every_s)
    moved = await _place_domains(conn, by=by, cipher=cipher, refresh_every_s=refresh_every_s)
    await conn.execute(SQL["delete_profile"], name)
    return moved


async def _difference(conn: Connection, spec: ProfileSpec, cipher: PasswordCipher) -> ProfileChange:
    stored = await FIND_PROFILE.first(conn, spec.name)
    before = load_layer(stored.settings, cipher, f"profile {spec.name}") if stored else {}
    changed = changed_names(before, spec.settings)
    values = {name: _written(name, spec.settings) if name in spec.settings else None for name in changed}
    replaced = {name: _written(name, before) for name in changed if name in before}
    old, new = set(stored.members if stored else ()), set(spec.members)
    joined, left = tuple(sorted(new - old)), tuple(sorted(old - new))
    return ProfileChange(spec.name, stored is None, values, replaced, joined, left)


def _written(name: str, layer: Mapping[str, Any]) -> Any:
    """Returns a chosen value as it is written in a file, where `none` chooses that there is no value."""
    shown = show_value(name, layer[name])
    return NO_VALUE if shown is None else shown


async def _check_other_profiles(conn: Connection, specs: Sequence[ProfileSpec]) -> None:
    declared = {spec.name for spec in specs}
    others = [row for row in await LIST_PROFILES.fetch(conn) if row.name not in declared]
    owners = {member: row.name for row in others for member in row.members}
    for spec in specs:
        for member in spec.members:
            if member in owners:
                raise UsageError(
                    f"{member} belongs to the profile {owners[member]}: "
                    f"`forager profiles leave {owners[member]} {member}` takes it out.",
                    field=DOMAINS,
                )


async def _save(
    conn: Connection, spec: ProfileSpec, *, by: str, cipher: PasswordCipher, refresh_every_s: float | None
) -> None:
    """Stores a profile; its domains get the new settings, and their next visits are rescheduled if need be."""
    stored = await FIND_PROFILE.first(conn, spec.name)
    before = load_layer(stored.settings, cipher, f"profile {spec.name}") if stored else {}
    members = list(spec.members)
    if not changed_names(before, spec.settings):
        text = stored.settings if stored else "{}"  # encrypted values differ each time
        await conn.execute(SQL["save_profile"], spec.name, text, members, by)
        return
    names = await DOMAINS_OF.fetch(conn, spec.name, None) if stored else []
    await conn.execute(SQL["save_profile"], spec.name, dump_layer(spec.settings, cipher), members, by)
    described = describe_changes({name: spec.settings.get(name) for name in changed_names(before, spec.settings)})
    for name in names:
        own = load_layer((await READ_SETTINGS.one(conn, name)).settings, cipher, name)
        layers = Change({**before, **own}, {**spec.settings, **own}, f"profile {spec.name}: {described}")
        await _follow_up(conn, name, layers, by=by, refresh_every_s=refresh_every_s)


async def _place_domains(conn: Connection, *, by: str, cipher: PasswordCipher, refresh_every_s: float | None) -> int:
    """Moves known domains to the profiles that name them; returns how many."""
    moved = 0
    while batch := await MISPLACED.fetch(conn, PORTION):
        before = {domain.name: await _effective(conn, domain.name, cipher) for domain in batch}
        ids, profiles = [domain.id for domain in batch], [domain.is_now for domain in batch]
        await conn.execute(SQL["place_domains"], ids, profiles, by)
        for domain in batch:
            stored = await READ_SETTINGS.one(conn, domain.name)
            after = await _effective(conn, domain.name, cipher)
            reason = f"joined the profile {stored.profile}" if stored.profile else "left its profile"
            layers = Change(before[domain.name], after, reason)
            await _follow_up(conn, domain.name, layers, by=by, refresh_every_s=refresh_every_s)
        moved += len(batch)
    return moved


async def _effective(conn: Connection, name: str, cipher: PasswordCipher) -> dict[str, Any]:
    stored = await READ_SETTINGS.one(conn, name)
    profile = load_layer(stored.profile_settings or "{}", cipher, f"profile {stored.profile}")
    return {**profile, **load_layer(stored.settings, cipher, name)}


class Change(NamedTuple):
    """Effective settings of a domain before and after, and why they changed."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    reason: str


async def _follow_up(conn: Connection, name: str, change: Change, *, by: str, refresh_every_s: float | None) -> None:
    held = await domains.hold(conn, name)
    assert held is not None, "domains of a profile exist"
    await domains.note(conn, held.id, by=by, reason=change.reason)
    await follow_up(conn, held, change.before, change.after, by=by, refresh_every_s=refresh_every_s)


async def _missing(conn: Connection, name: str) -> NotFoundError:
    known = [row.name for row in await LIST_PROFILES.fetch(conn)]
    there_are = f"there are {', '.join(known)}" if known else "there is none yet"
    return NotFoundError(f"There is no profile {name!r}; {there_are}.")
