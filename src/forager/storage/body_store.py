"""Stores bodies. `pack` prepares one body, `store` writes a batch of them, `load` returns one.

All three block and run in threads. A body that cannot be stored now is returned with the error: the caller holds the
visit back until it can be stored.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from forager import __version__
from forager.errors import StoreError
from forager.fetch.models import Fetched
from forager.frontier.models import Past
from forager.logs import log
from forager.storage import snapshot, text, warc_record
from forager.storage.bucket import Bucket
from forager.storage.fallback import LayeredLocation
from forager.storage.local import LocalLocation
from forager.storage.location import Location
from forager.storage.migrator import WarcMover
from forager.storage.models import StoredBody
from forager.storage.objects import BucketLocation
from forager.storage.plugin_location import PluginLocation
from forager.storage.policy import ContentPolicy
from forager.storage.refs import OPEN, SnapshotRef, TextRef, WarcRef, parse
from forager.storage.warc_file import Limits, WarcWriter, repair_all
from forager.storage.warc_record import REFERS_TO, Original, Record

Remote = Bucket | PluginLocation
"""Where new bodies go instead of the data folder."""
FOLDER = "bodies"
MOST_ORIGINALS = 20_000
"""Payloads that a worker remembers, about 500 bytes each: a repeated payload from any URL is a revisit."""
NOT_MODIFIED = 304
STORED, KNOWN, LOST = "stored", "known", "lost:"


class StoreResult(NamedTuple):
    """The result of storing one body."""

    ref: str | None
    """The reference for the task; None if the body is lost, could not be stored, or does not exist."""
    name: str | None
    """The stored file."""
    kind: str
    what: str
    """`stored`, `known`, or `lost:` with the reason."""
    size_bytes: int
    stored_bytes: int
    error: StoreError | None = None
    """Why it is not stored now; a retry may store it."""


class BodyStore:
    def __init__(self, place: Location, desk: WarcWriter) -> None:
        self._place = place
        self._desk = desk
        self._storing = threading.Lock()
        self._originals: dict[str, Original] = {}
        """Payload digest → its location."""

    # packing -------------------------------------------------------------------------------------------------------

    def pack(
        self,
        policy: str,
        fetched: Fetched,
        past: Past | None,
        at: datetime,
        *,
        screenshot: bytes | None = None,
        markdown: str = "",
    ) -> StoredBody | None:
        """Returns what is to be stored of a response; None if there is nothing. A screenshot is stored with a snapshot
        only: an archive holds what the server sent. `markdown` is what the policy `text` stores."""
        before = past.body_ref if past else None
        is_confirmed = fetched.status_code == NOT_MODIFIED
        is_page = 200 <= fetched.status_code < 300 and bool(fetched.body)
        match ContentPolicy(policy):
            case ContentPolicy.SIGNALS:
                return None
            case ContentPolicy.TEXT | ContentPolicy.SNAPSHOT if is_confirmed:
                return _confirmed(before)
            case ContentPolicy.TEXT:
                return text.pack(markdown) if is_page and markdown else None
            case ContentPolicy.SNAPSHOT:
                return snapshot.pack(fetched, screenshot) if is_page else None
            case ContentPolicy.ARCHIVE if is_confirmed:
                original = self._original_of(before)
                return warc_record.pack(fetched, at, original) if original else _confirmed(before)
            case ContentPolicy.ARCHIVE:
                if not (is_page or 300 <= fetched.status_code < 400):
                    return None
                digest = warc_record.digest_of(fetched.body)
                same = self._same(digest, before) if fetched.body else None
                return warc_record.pack(fetched, at, same, digest=digest)

    def _same(self, digest: str, before: str | None) -> Original | None:
        """Returns a record with exactly this body: the page's own last one, or any that this worker wrote."""
        if found := self._originals.get(digest):
            return found
        original = self._original_of(before)
        return original if original and original.digest == digest else None

    def _original_of(self, ref: str | None) -> Original | None:
        if ref is None or not ref.startswith("warc:"):
            return None
        try:
            fields = self._record(parse(ref)).headers
        except StoreError as error:
            log().warning("archived body not found", action="archive.missing", ref=ref, error=str(error))
            return None
        digest = fields.get("WARC-Payload-Digest", "")
        if REFERS_TO in fields:
            return Original(
                fields[REFERS_TO], digest, fields["WARC-Refers-To-Target-URI"], fields["WARC-Refers-To-Date"]
            )
        return Original(ref, digest, fields["WARC-Target-URI"], fields["WARC-Date"])

    # storing -------------------------------------------------------------------------------------------------------

    def store(self, stored_bodies: Sequence[StoredBody]) -> list[StoreResult]:
        """Stores bodies in their order; they are durable when this returns. One call at a time: a WARC file has one
        end."""
        with self._storing:
            return self._store(stored_bodies)

    def _store(self, stored_bodies: Sequence[StoredBody]) -> list[StoreResult]:
        shelved: dict[int, StoreResult] = {}
        for at, stored in enumerate(stored_bodies):
            if stored.ref is not None:
                shelved[at] = self._confirm(stored)
        fresh = {at: stored for at, stored in enumerate(stored_bodies) if stored.ref is None}
        archived = {at: stored for at, stored in fresh.items() if stored.kind == ContentPolicy.ARCHIVE}
        snapshots = {at: stored for at, stored in fresh.items() if at not in archived}
        shelved |= self._store_snapshots(snapshots)
        shelved |= self._store_archived(archived)
        return [shelved[at] for at in range(len(stored_bodies))]

    def close(self) -> None:
        self._desk.close()

    def _confirm(self, stored: StoredBody) -> StoreResult:
        ref = parse(stored.ref or "")
        if isinstance(ref, WarcRef) or self._place.confirm([ref.key]):
            return StoreResult(str(ref), ref.name, stored.kind, KNOWN, 0, 0)
        return self._retry_confirm(stored, ref)

    def _retry_confirm(self, stored: StoredBody, ref: SnapshotRef | TextRef) -> StoreResult:
        """Handles a body that could not be confirmed. A missing body is lost; one whose state is unknown is not. One
        that exists and cannot be marked as used is stored again: its file may belong to another account, or the store
        may be read-only."""
        try:
            error = self._place.put({ref.key: self._place.get(ref.key)}).get(ref.key)
        except StoreError as found:
            if found.reason == "missing":
                return StoreResult(None, None, stored.kind, LOST + "missing", 0, 0)
            error = found
        if error is None:
            return StoreResult(str(ref), ref.name, stored.kind, KNOWN, 0, 0)
        return StoreResult(None, None, stored.kind, LOST + error.reason, 0, 0, error)

    def _store_snapshots(self, stored_bodies: dict[int, StoredBody]) -> dict[int, StoreResult]:
        if not stored_bodies:
            return {}
        refs = {at: _ref_of(stored) for at, stored in stored_bodies.items()}
        contents = {refs[at].key: stored.blob for at, stored in stored_bodies.items()}
        known = self._place.confirm(list(contents))
        fresh = {key: blob for key, blob in contents.items() if key not in known}
        failed = self._place.put(fresh) if fresh else {}
        shelved = {}
        for at, ref in refs.items():
            kind, size, stored = stored_bodies[at].kind, stored_bodies[at].size_bytes, len(stored_bodies[at].blob)
            if error := failed.get(ref.key):
                shelved[at] = StoreResult(None, None, kind, LOST + error.reason, size, 0, error)
            else:
                what = STORED if fresh.pop(ref.key, None) is not None else KNOWN
                shelved[at] = StoreResult(str(ref), ref.name, kind, what, size, stored)
        return shelved

    def _store_archived(self, stored_bodies: dict[int, StoredBody]) -> dict[int, StoreResult]:
        if not stored_bodies:
            return {}
        kind = ContentPolicy.ARCHIVE
        try:
            refs = self._desk.write(list(stored_bodies.values()))
        except StoreError as error:
            lost = LOST + error.reason
            return {at: StoreResult(None, None, kind, lost, k.size_bytes, 0, error) for at, k in stored_bodies.items()}
        shelved = {}
        for (at, stored), ref in zip(stored_bodies.items(), refs, strict=True):
            if stored.origin is not None:
                self._cache_original(Original(str(ref), stored.digest, *stored.origin))
            what = STORED if stored.origin or not stored.is_body else KNOWN
            named = str(ref) if stored.is_body else None
            shelved[at] = StoreResult(named, ref.name, kind, what, stored.size_bytes, stored.buffer_bytes)
        return shelved

    def _cache_original(self, original: Original) -> None:
        self._originals[original.digest] = original
        if len(self._originals) > MOST_ORIGINALS:
            del self._originals[next(iter(self._originals))]

    # loading -------------------------------------------------------------------------------------------------------

    def load(self, ref: str, url: str) -> Fetched:
        """Returns the response as it was read, verified by its checksum. Raises StoreError."""
        found = parse(ref)
        if isinstance(found, SnapshotRef):
            return snapshot.unpack(self._place.get(found.key), found, url)
        if isinstance(found, TextRef):
            raise StoreError("Only the text of this visit is stored, not its body.", "text_only")
        record = self._record(found)
        if record.kind == "response":
            return warc_record.to_fetched(record)
        original = self._record(parse(record.headers.get(REFERS_TO, "")))
        if record.headers.get("WARC-Profile") == warc_record.NOT_MODIFIED:
            return warc_record.to_fetched(original)
        return warc_record.to_fetched(record, warc_record.to_fetched(original).body)

    def load_text(self, ref: TextRef) -> str:
        """Returns a stored text as Markdown, verified by its checksum. Raises StoreError."""
        return text.unpack(self._place.get(ref.key), ref)

    def _record(self, ref: SnapshotRef | TextRef | WarcRef) -> Record:
        if not isinstance(ref, WarcRef):
            raise StoreError("A record of the archive refers to no record.", "bad_ref")
        for key in (ref.key, ref.key + OPEN):
            try:
                return warc_record.read(self._place.get(key, ref.offset, ref.length))
            except StoreError as error:
                if error.reason != "missing":
                    raise
        return warc_record.read(self._place.get(ref.key, ref.offset, ref.length))  # the file was closed in between


def open_location(home: Path, bucket: Remote | None = None) -> Location:
    """Builds the location of bodies: the data folder, and for new bodies the bucket, if one is configured."""
    local = LocalLocation(home / FOLDER)
    if bucket is None:
        return local
    return LayeredLocation(BucketLocation(bucket) if isinstance(bucket, Bucket) else bucket, local)


@contextlib.contextmanager
def open_store(
    home: Path,
    *,
    bucket: Remote | None = None,
    user_agent: str = "",
    warc_bytes: int = 1 << 30,
    warc_age_s: float = 86_400.0,
) -> Iterator[BodyStore]:
    """Opens the store and repairs what dead workers left; a bad folder or an unreachable bucket is detected at the
    first body."""
    root = home / FOLDER
    with contextlib.suppress(OSError):
        if root.is_dir():
            LocalLocation(root).remove_stale()
            repair_all(root / "warc")
    make_info = partial(warc_record.info, software=f"Forager/{__version__}", user_agent=user_agent)
    body_store = BodyStore(
        open_location(home, bucket), WarcWriter(root / "warc", Limits(warc_bytes, warc_age_s), make_info)
    )
    with _moving(root / "warc", bucket):
        try:
            yield body_store
        finally:
            try:
                body_store.close()
            except OSError as error:
                log().warning("archive not closed", action="archive.close", error=str(error))


@contextlib.contextmanager
def _moving(folder: Path, bucket: Remote | None) -> Iterator[None]:
    """Moves closed archive files to the bucket in the background, the last ones at the end."""
    if bucket is None:
        yield
        return
    mover = WarcMover(folder, bucket)
    mover.start()
    try:
        yield
    finally:
        mover.stop()


def open_readonly_store(home: Path, bucket: Remote | None = None) -> BodyStore:
    """Opens a store for loading only: it needs no closing and repairs nothing."""
    return BodyStore(
        open_location(home, bucket), WarcWriter(home / FOLDER / "warc", Limits(0, 0), lambda _name, _at: b"")
    )


def _confirmed(ref: str | None) -> StoredBody | None:
    if ref is None:
        return None
    kind = ContentPolicy.ARCHIVE if ref.startswith("warc:") else ContentPolicy(ref.partition(":")[0])
    return StoredBody(kind, "", 0, ref=ref)


def _ref_of(stored: StoredBody) -> SnapshotRef | TextRef:
    return (TextRef if stored.kind == ContentPolicy.TEXT else SnapshotRef)(stored.digest)
