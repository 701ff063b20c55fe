"""Images: where each was seen, those that look alike, and their files.

A file is somebody else's content: it goes out as what we decoded it to be, never as a page, and may run nothing.
"""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from forager.api import paging
from forager.api.access import User
from forager.api.database import get_forager, look
from forager.api.errors import responses
from forager.api.paging import Listed, Paged
from forager.api.reply import listed, reply
from forager.api.types import LARGEST_ID, After, Limit, Name, PathId, Text
from forager.errors import NotFoundError
from forager.images import queries as control
from forager.images import queries as image_queries
from forager.products import schemas as models
from forager.storage.factory import get_location

router = APIRouter(tags=["images"])
TYPES = {"jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp", "avif": "image/avif"}
"""What a browser may show; everything else, SVG with its scripts among it, is a download."""
SANDBOX = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cache-Control": "private, max-age=3600",
}
BINARY: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {"image/*": {}, "application/octet-stream": {}}}
}


@router.get("/api/images", response_model=Paged[models.ImageRow], responses=responses(404))
async def list_images(
    request: Request,
    _who: User,
    *,
    domain: Annotated[Name | None, Query()] = None,
    status: Annotated[models.ImageStatus | None, Query()] = None,
    format: Annotated[Text | None, Query(max_length=20, examples=["jpeg"])] = None,  # noqa: A002 (the column's name)
    page: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Only those this page shows.")] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Images in the order they were found."""
    async with look(request) as conn:
        rows = await image_queries.list_images(
            conn,
            paging.read(request, after, paging.BY_ID),
            domain=domain,
            status=status,
            file_format=format,
            page=page,
            limit=limit + 1,
        )
    return paging.page(request, rows, limit)


@router.get("/api/images/{image:int}", response_model=models.Image, responses=responses(404))
async def show_image(
    request: Request, _who: User, image: PathId, pages: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Response:
    """One image, with the pages it was seen on."""
    async with look(request) as conn:
        found = await control.describe_image(conn, str(image), pages=pages)
    return reply(found | {"perceptual_hash": _hex(found["perceptual_hash"])})


def _hex(bits: int | None) -> str | None:
    """Numbers of 64 bits are more than JavaScript can count."""
    return None if bits is None else f"{bits & (1 << 64) - 1:016x}"


@router.get("/api/images/{image:int}/similar", response_model=Listed[models.Similar], responses=responses(404))
async def similar_images(
    request: Request,
    _who: User,
    image: PathId,
    within: Annotated[int, Query(ge=0, le=64, description="Bits of 64 that may differ.")] = 6,
    limit: Limit = 20,
) -> Response:
    """Stored images that look like one, nearest first."""
    async with look(request) as conn:
        return listed((await control.similar_images(conn, str(image), within=within, limit=limit))[1])


@router.get("/api/images/{image:int}/thumbnail", response_class=Response, responses={**BINARY, **responses(404)})
async def show_thumbnail(request: Request, _who: User, image: PathId) -> Response:
    """A small picture of it."""
    return await _file(request, image, "thumbnail_ref")


@router.get("/api/images/{image:int}/file", response_class=Response, responses={**BINARY, **responses(404)})
async def show_file(request: Request, _who: User, image: PathId) -> Response:
    """The file as it was stored."""
    return await _file(request, image, "body_ref")


async def _file(request: Request, image: int, which: str) -> Response:
    async with look(request) as conn:
        found = await control.describe_image(conn, str(image), pages=0)
    key = found[which]
    if key is None:
        raise NotFoundError(f"Image {image} has no such file: it is {found['status']}.")
    place = get_location(get_forager(request).settings)
    content = await asyncio.to_thread(place.get, key)
    kind = TYPES.get(key.rpartition(".")[2].lower())
    headers = dict(SANDBOX)
    if kind is None:
        headers["Content-Disposition"] = f'attachment; filename="image-{image}"'
    return Response(content, 200, headers, kind or "application/octet-stream")
