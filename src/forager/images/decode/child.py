"""The decoding process: reads files from standard input and writes results to standard output, until the input ends.

In: two numbers (length of the body, most pixels) and the body. Out: two numbers (length of the result, of the
thumbnail), the result as JSON, the thumbnail. The system limits memory and processor time; exceeding a limit kills only
this process.
"""

import json
import os
import resource
import signal
import struct
import sys
from dataclasses import asdict
from typing import BinaryIO

HEAD = struct.Struct("<qq")
MOST_MEMORY_BYTES = 1024**3
"""Limit on address space, of which libraries take a fifth; 40 million pixels take 160 MB, twice while their mode is
converted."""
LONGEST_S = 10
"""Limit on processor time for one file."""


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    from forager.images.decode.inspect import look
    from forager.images.decode.result import Look

    while head := source.read(HEAD.size):
        length, max_pixels = HEAD.unpack(head)
        body = source.read(length)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)  # its signal ends the process even inside C code
        try:
            seen, thumbnail = look(body, max_pixels)
        except MemoryError:
            seen, thumbnail = Look("broken", "decoding it takes too much memory"), b""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        answer = json.dumps(asdict(seen)).encode()
        sink.write(HEAD.pack(len(answer), len(thumbnail)) + answer + thumbnail)
        sink.flush()
        del body, thumbnail


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    os.nice(5)  # pages have priority
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
