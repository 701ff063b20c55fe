"""Images that were fetched: looked at in a process of their own, and stored by the hash of their bytes.

The same bytes under two URLs are one file. Nothing is stored that is not an image we could open.
"""

import asyncio
import hashlib
from collections.abc import Mapping

from forager.archive.place import Place
from forager.errors import NotKeptError
from forager.images.decode.desk import Decoder
from forager.records import Fetched, ImageFile, ImageStatus


class ImageShelf:
    def __init__(self, decoder: Decoder, place: Place, *, max_bytes: int) -> None:
        self._decoder = decoder
        self._place = place
        self.max_bytes = max_bytes
        """The largest file."""

    async def look(self, fetched: Fetched) -> ImageFile:
        """What the file is; where it is, if it is one to keep."""
        digest = await asyncio.to_thread(lambda: hashlib.sha256(fetched.body).digest())
        seen, thumbnail = await self._decoder.look(fetched.body)
        body_ref = thumbnail_ref = None
        if seen.status == ImageStatus.STORED:
            body_ref, thumbnail_ref = name(digest, seen.format or ""), small_name(digest) if thumbnail else None
            files = {body_ref: fetched.body} | ({thumbnail_ref: thumbnail} if thumbnail_ref else {})
            await asyncio.to_thread(self._put, files)
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

    def _put(self, files: Mapping[str, bytes]) -> None:
        there = self._place.confirm(list(files))
        for error in self._place.put({key: body for key, body in files.items() if key not in there}).values():
            raise NotKeptError(str(error)) from error


def name(digest: bytes, file_format: str) -> str:
    """Its key in the store."""
    return f"images/{digest.hex()[:2]}/{digest.hex()}.{file_format}"


def small_name(digest: bytes) -> str:
    return f"thumbnails/{digest.hex()[:2]}/{digest.hex()}.webp"
