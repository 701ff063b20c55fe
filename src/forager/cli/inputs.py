"""URLs and files given as arguments, checked."""

import os
from pathlib import Path
from typing import Annotated

import typer

from forager.cli.root import opened_input
from forager.errors import BadUrlError, UsageError

Json = Annotated[bool, typer.Option("--json", help="Accepted for uniformity; the output is always JSON.")]


def normal_url(url: str) -> str:
    from forager.urls.normalize import normalize as spell

    try:
        return spell(url)
    except BadUrlError as error:
        raise UsageError(str(error)) from None


def bytes_of(path: Path) -> bytes:
    try:
        if (handle := opened_input(str(path))) is not None:
            with os.fdopen(handle, "rb") as stream:
                return stream.read()
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}.") from None
