"""`python -m tests.fuzz.sanitize`: the C parts, compiled with AddressSanitizer and UBSan, over hostile pages, random
ones and, where this machine has them, real ones. Whatever they find ends the process with a report.

The sanitizers have to be loaded before Python is, so this starts itself again with them. Where the compiler has none,
it says so and is done.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "FORAGER_SANITIZED"
ROUNDS = {"html": 300, "html_c": 200, "html_oracle": 100, "links": 2000}
"""Examples of the fuzzer's targets."""
EVERY = 2
"""So many real pages are passed over for one that is read."""
SPLINTERS = (
    *(b"<table>", b"<td>", b"</table>", b"<caption>", b"<col>", b"<template>", b"</template>", b"<select>", b"<form>"),
    *(b"<svg>", b"</svg>", b"<math><mi>", b"<foreignObject>", b"<desc>", b"<annotation-xml encoding=text/html>"),
    *(b"<b>", b"</b>", b"<a href=x>", b"</a>", b"<nobr>", b"<p>", b"</p>", b"<li>", b"<button>", b"<object>"),
    *(b"<!--", b"-->", b"<script>", b"</script>", b"<title>", b"<textarea>\n", b"<plaintext>", b"<![CDATA[", b"]]>"),
    *(b"<body a=1>", b"<html b=2>", b"<frameset>", b"<image>", b"\0", b"&", b"&#", b"&#x110000;", b"\xff", b"\xc2"),
    *(b"<", b">", b'"', b"'", b"=", b"/", b"\xa0"),
)
DAMAGED = 600
MOST_DAMAGED_BYTES = 120_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.sanitize", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if folder := os.environ.get(FOLDER):
        attack(Path(folder), given.seed)
        return 0
    with tempfile.TemporaryDirectory() as place:
        built = subprocess.run(
            [sys.executable, str(ROOT / "native.py"), "--sanitize", place], capture_output=True, text=True, check=False
        )
        if built.returncode:
            sys.stderr.write(f"{built.stderr.strip()} The C parts were not run with sanitizers.\n")
            return 1 if os.environ.get("FORAGER_REQUIRE_SERVICES") else 0
        environment = os.environ | {
            FOLDER: place,
            "LD_PRELOAD": built.stdout.strip(),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        }
        command = [sys.executable, "-m", "tests.fuzz.sanitize", "--seed", str(given.seed)]
        return subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode


def attack(folder: Path, seed: int) -> None:
    _load(folder)
    from tests.fuzz.targets import TARGETS
    from tests.unit.parsing.test_extract_hostile import HONEST, HOSTILE

    from forager.parsing import compiled

    assert compiled.native is not None
    assert str(folder) in str(getattr(compiled.native, "__file__", ""))
    pages = [text.encode("utf-8", "surrogateescape") for text in (HOSTILE | HONEST).values()]
    counts = {"hostile and odd": _read(pages)}
    counts |= {f"random ({name})": TARGETS[name].attack(examples, seed) for name, examples in ROUNDS.items()}
    counts["real"] = _read(_real_pages())
    counts["damaged"] = _read(_damaged_pages(seed))
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    sys.stdout.write(f"The C parts read {told} pages with AddressSanitizer and UBSan: nothing found.\n")


def _load(folder: Path) -> None:
    """The sanitized modules in place of those that lie in the package."""
    for path in sorted(folder.glob("*.so")):
        name = f"forager.{path.stem}._native"
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)


def _read(pages: Iterator[bytes] | list[bytes]) -> int:
    from forager.errors import DecodeError
    from forager.fetch.models import Fetched
    from forager.parsing.page import read

    count = 0
    for body in pages:
        count += 1
        try:
            read(
                Fetched("https://a.example/b", 200, {"content-type": "text/html"}, body, len(body), 1),
                keyword_words=200,
                markdown=True,
            )
        except DecodeError:
            continue
    return count


def _real_pages() -> Iterator[bytes]:
    from tests.quality.real_pages import ARCHIVE, real_pages

    if ARCHIVE.exists():
        yield from (body for at, (_name, body) in enumerate(real_pages()) if at % (EVERY + 1) == 0)


def _damaged_pages(seed: int) -> Iterator[bytes]:
    """Real pages, or generated ones where there are none, with parts cut out, repeated and put elsewhere."""
    from tests.unit.parsing.random_pages import make_page

    chance = random.Random(seed)
    whole = [body for body in _real_pages() if len(body) < MOST_DAMAGED_BYTES][:200]
    for _ in range(DAMAGED):
        if whole and chance.random() < 0.6:
            page = bytearray(chance.choice(whole))
        else:
            page = bytearray(make_page(chance).encode("utf-8", "replace") * chance.randint(1, 30))
        for _ in range(chance.randint(1, 60)):
            _damage(page, chance)
        yield bytes(page)


def _damage(page: bytearray, chance: random.Random) -> None:
    at, kind = chance.randrange(len(page) + 1), chance.random()
    if kind < 0.25:
        del page[at : at + chance.randint(1, 200)]
    elif kind < 0.7:
        page[at:at] = chance.choice(SPLINTERS) * chance.choice((1, 1, 1, 2, 5, 50))
    elif kind < 0.85:
        page[at : at + 1] = bytes([chance.randrange(256)])
    else:
        start = chance.randrange(len(page) + 1)
        page[at:at] = page[start : start + chance.randint(1, 3000)]


if __name__ == "__main__":
    sys.exit(main())
