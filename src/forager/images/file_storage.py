"""Fetched images: inspected in a separate process, and stored by the hash of their bytes.

The same bytes under two URLs are one file. Only images that could be opened are stored. A file that cannot be stored
waits until it can be, and requests of domains that store something wait with it.
"""

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import suppress

from forager.engine.body_storage import FIRST_WAIT_S, LONGEST_WAIT_S
from forager.engine.models import PauseReason
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest
from forager.errors import StoreUnavailableError
from forager.fetch.models import Fetched
from forager.images.decode.client import Decoder
from forager.images.models import ImageFile, ImageStatus
from forager.storage.location import Location


class ImageStorage:
    def __init__(
        self,
        decoder: Decoder,
        place: Location,
        *,
        max_bytes: int,
        pauses: Pauses | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        self._decoder = decoder
        self._place = place
        self._pauses = pauses or Pauses()
        self._stop = stop or StopRequest()
        self.max_bytes = max_bytes
        """Limit on the size of a file."""

    async def look(self, fetched: Fetched) -> ImageFile:
        """Returns what the file is, and its location if it is to be stored. Raises StoreUnavailableError when the
        worker is asked to stop while the file cannot be stored."""
        digest = await asyncio.to_thread(lambda: hashlib.sha256(fetched.body).digest())
        seen, thumbnail = await self._decoder.look(fetched.body)
        body_ref = thumbnail_ref = None
        if seen.status == ImageStatus.STORED:
            body_ref, thumbnail_ref = name(digest, seen.format or ""), thumbnail_name(digest) if thumbnail else None
            files = {body_ref: fetched.body} | ({thumbnail_ref: thumbnail} if thumbnail_ref else {})
            await self._store(files)
        return ImageFile(
            status=ImageStatus(seen.status),
            content_hash=digest,
            file_size=len(fetched.body),
            format=seen.format,
            width=seen.width,
            height=seen.height,
            frames=seen.frames,
            perceptual_hash=seen.perceptual_hash,
            body_ref=body_ref,
            thumbnail_ref=thumbnail_ref,
            reason=seen.reason,
        )

    async def _store(self, files: Mapping[str, bytes]) -> None:
        error = await asyncio.to_thread(self._put, files)
        if error is None:
            return
        wait_s = FIRST_WAIT_S
        while error is not None:
            self._pauses.begin(PauseReason.STORE_UNAVAILABLE, error, owner="images")
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._stop.wait_requested()
                raise StoreUnavailableError(f"an image cannot be stored: {error}")
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)
            error = await asyncio.to_thread(self._put, files)
        self._pauses.end(PauseReason.STORE_UNAVAILABLE, owner="images")

    def _put(self, files: Mapping[str, bytes]) -> str | None:
        """Returns why the file is not stored, or None."""
        there = self._place.confirm(list(files))
        failed = self._place.put({key: body for key, body in files.items() if key not in there})
        return next((str(error).rstrip(".") for error in failed.values()), None)


def name(digest: bytes, file_format: str) -> str:
    """Returns its key in the store."""
    return f"images/{digest.hex()[:2]}/{digest.hex()}.{file_format}"


def thumbnail_name(digest: bytes) -> str:
    return f"thumbnails/{digest.hex()[:2]}/{digest.hex()}.webp"
