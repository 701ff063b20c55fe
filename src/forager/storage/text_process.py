"""`python -m forager.storage.text_process URL CONTENT_TYPE`: the text of the document on standard input, as Markdown.

A reader of PDF files is native code, and its input is untrusted: in a process of its own it may crash or hang without
harm to the API or to an export.
"""

import resource
import subprocess
import sys

from forager.errors import DecodeError
from forager.fetch.models import Fetched
from forager.interpreter import python_module

LONGEST_S = 30
MOST_MEMORY_BYTES = 2 * 1024**3


def render_isolated(fetched: Fetched) -> str:
    """Returns the text of a document. Raises DecodeError if the process does not. Blocks for about a second."""
    command = python_module(__name__, fetched.url, fetched.content_type)
    try:
        done = subprocess.run(command, input=fetched.body, capture_output=True, check=True, timeout=LONGEST_S)
    except (subprocess.SubprocessError, OSError) as error:
        raise DecodeError(f"the document cannot be parsed: {type(error).__name__}") from error
    return done.stdout.decode()


def main(url: str, content_type: str) -> None:
    from forager.parsing.page import read_markdown

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_S, LONGEST_S))
    body = sys.stdin.buffer.read()
    sys.stdout.buffer.write(
        read_markdown(Fetched(url, 200, {"content-type": content_type}, body, len(body), 0)).encode()
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
