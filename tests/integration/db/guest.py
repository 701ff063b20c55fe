"""A process that takes a seat at the embedded server of a home, says where it is, and leaves when it is told to."""

import signal
import sys
from pathlib import Path

from forager.db import embedded
from forager.errors import ForagerError

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
try:
    seat = embedded.join(Path(sys.argv[1]))
except ForagerError as error:
    print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201
    sys.exit(1)
print(seat.dsn, flush=True)  # noqa: T201
sys.stdin.readline()
seat.leave()
print("left", flush=True)  # noqa: T201
