"""Reads one page in a process of its own, the sanitising way: a page that killed a worker may kill this one, and
nothing else.

Both sides are here. In goes a line of JSON and the body, out comes the reading as JSON.
"""

import asyncio
import json
import resource
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from forager.crawl.black_box import LONGEST_READ_S, MOST_MEMORY_BYTES, START_S
from forager.errors import DecodeError, ParserCrashError
from forager.interpreter import python_module
from forager.records import Fetched, FoundImage, FoundLink, Reading
from forager.records.product import Listed, pack, unpack

LONGEST_S = 120.0


async def read_alone(fetched: Fetched, *, keyword_words: int, robots_agent: str, parser_name: str = "auto") -> Reading:
    """Raises ParserCrashError when the reader dies, runs out of memory or takes too long."""
    order = {
        "url": fetched.url,
        "headers": dict(fetched.headers),
        "is_truncated": fetched.is_truncated,
        "keyword_words": keyword_words,
        "robots_agent": robots_agent,
        "parser_name": parser_name,
    }
    command = python_module("forager.crawl.alone")
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    try:
        async with asyncio.timeout(LONGEST_S):
            answer, _ = await process.communicate(json.dumps(order).encode() + b"\n" + fetched.body)
    except TimeoutError:
        raise ParserCrashError(f"the page kept its reader for more than {LONGEST_S:.0f} s") from None
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode != 0:
        raise ParserCrashError(f"the page killed its reader again ({_how(process.returncode or 0)})")
    return _unpack(json.loads(answer))


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _unpack(answer: dict[str, Any]) -> Reading:
    if "error" in answer:
        raise DecodeError(answer["error"])
    answer["content_hash"] = bytes.fromhex(answer["content_hash"])
    answer["links"] = [FoundLink(*link) for link in answer["links"]]
    answer["images"] = [FoundImage(*image) for image in answer["images"]]
    answer["flags"] = tuple(answer["flags"])
    answer["product"] = unpack(answer["product"]) if answer["product"] else None
    answer["listed"] = tuple(Listed(url, unpack(product)) for url, product in answer["listed"])
    for moment in ("published_at", "modified_at"):
        answer[moment] = datetime.fromisoformat(answer[moment]) if answer[moment] else None
    return Reading(**answer)


def main() -> None:
    """The other side."""
    from forager import extract

    seconds = int(START_S + LONGEST_READ_S)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    order = json.loads(sys.stdin.buffer.readline())
    body = sys.stdin.buffer.read()
    fetched = Fetched(order["url"], 200, order["headers"], body, len(body), 0, is_truncated=order["is_truncated"])
    try:
        reading = extract.read(
            fetched,
            keyword_words=order["keyword_words"],
            robots_agent=order["robots_agent"],
            parser_name=order["parser_name"],
            is_sanitized=True,
        )
        answer = asdict(replace(reading, links=list(reading.links), product=None, listed=()))
        answer["content_hash"] = reading.content_hash.hex()
        answer["product"] = pack(reading.product) if reading.product else None
        answer["listed"] = [(url, pack(product)) for url, product in reading.listed]
    except DecodeError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer, default=datetime.isoformat))


if __name__ == "__main__":
    main()
