"""The decoding process: files in on standard input, looks out on standard output, until the input ends.

In: two numbers (length of the body, most pixels) and the body. Out: two numbers (length of the look, of the thumbnail),
the look as JSON, the thumbnail. Memory and processor time are limited by the system; who breaks a limit dies alone.
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
"""Of addresses, of which libraries take a fifth; 40 million pixels take 160 MB, twice while they change their mode."""
LONGEST_S = 10
"""Of processor time for one file."""


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    from forager.images.decode.inspect import look
    from forager.images.decode.result import Look

    while head := source.read(HEAD.size):
        length, max_pixels = HEAD.unpack(head)
        body = source.read(length)
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)  # its signal ends the process, in C code too
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us
    os.nice(5)  # pages come first
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
