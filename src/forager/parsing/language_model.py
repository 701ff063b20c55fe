"""The language detector's model: a table of 7 MB in the user's cache folder, mapped by all processes that read.

`language_build` makes it from the model of py3langid, once for each user; where nothing can be kept, each worker makes
it for itself. It is a tree of byte n-grams. At each byte of a text the longest n-gram that ends there counts; it has a
weight for each language, and the sums of these, as probabilities, say how likely each language is.
"""

import mmap
import os
import struct
import sys
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from itertools import accumulate, pairwise
from math import exp, log1p, sqrt
from pathlib import Path
from typing import NamedTuple

from forager.interpreter import python_module
from forager.parsing import compiled

MAGIC = b"forager1"
"""To be changed with the layout, so that no process maps a table of another one."""
HEADER = "8s4I"
"""Magic, numbers of states, pairs and languages, bytes of their names. The parts of `Table` follow."""
LEVELS = 256
"""Of a weight, as a byte: probabilities differ from those of py3langid by less than 0.01."""


class Table(NamedTuple):
    """In the byte order of the machine."""

    states: "memoryview[int]"
    """Three numbers of 32 bits each: first child, fallback, first pair; and those of a last one, where children and
    pairs end. States are in the order of their depths, so that the children of each lie side by side, in the order of
    their letters. The first is no n-gram; the fallback of another is its longest ending that is a state."""
    levels: "memoryview[float]"
    """What a pair adds to the floor of its language, by its level."""
    floors: "memoryview[float]"
    """The weight of an n-gram that has no pair with the language."""
    priors: "memoryview[float]"
    pairs: "memoryview[int]"
    """Of 16 bits: the language, and below it the level. A state without pairs counts as its fallback does."""
    letters: "memoryview[int]"
    """The last byte of each state."""
    names: "memoryview[int]"


class LanguageModel:
    def __init__(self, table: bytes | mmap.mmap) -> None:
        """Raises ValueError for what is no table, or not all of it."""
        self._bytes = table
        self._table = _split(memoryview(table))
        self._names = bytes(self._table.names).decode().split("\n")
        if len(self._names) != len(self._table.floors):
            raise ValueError("the language model is not whole")
        self._columns = {name: column for column, name in reversed(list(enumerate(self._names)))}
        self._repeated = [
            (self._columns[name], column) for column, name in enumerate(self._names) if self._columns[name] != column
        ]
        """Of a language that has a column for each of its scripts: the second counts for the first."""

    @property
    def is_mapped(self) -> bool:
        return isinstance(self._bytes, mmap.mmap)

    def classify(self, text: str, among: frozenset[str] | None = None) -> tuple[str, float]:
        """The likeliest language, or the likeliest of some, and how likely it is."""
        likely = self.probabilities(text)
        columns = sorted(self._columns[name] for name in self._columns.keys() & among) if among else range(len(likely))
        best = max(columns, key=likely.__getitem__)
        return self._names[best], likely[best]

    def probabilities(self, text: str) -> list[float]:
        """By column. A text of capital letters is read as one of small ones."""
        text = unicodedata.normalize("NFC", text.lower() if text.isupper() else text)
        letters = text.encode(errors="surrogatepass")
        if compiled.native is None:
            likely = self._probabilities_in_python(letters)
        else:
            likely = compiled.native.language_probabilities(self._bytes, letters)
        for first, second in self._repeated:
            likely[first] += likely[second]
            likely[second] = 0.0
        return likely

    def _probabilities_in_python(self, letters: bytes) -> list[float]:
        """Logarithms of counts are weighed, and their sums divided by the root of the length: else a long text is as
        good as sure of every language."""
        states, levels, floors, priors, pairs, _, _ = self._table
        starts = states[2::3]
        counts = Counter(self._find_ngrams(letters))
        if not counts:
            return [1 / len(floors)] * len(floors)
        weights = {state: log1p(count) for state, count in counts.items()}
        total = sum(weights.values())
        sums = [prior + total * floor for prior, floor in zip(priors, floors, strict=True)]
        for state, weight in weights.items():
            for pair in pairs[starts[state] : starts[state + 1]]:
                sums[pair >> 8] += weight * levels[pair & 255]
        highest, root = max(sums), sqrt(len(letters))
        shares = [exp((one - highest) / root) for one in sums]
        total = sum(shares)
        return [share / total for share in shares]

    def _find_ngrams(self, letters: bytes) -> Iterator[int]:
        """The state of the longest n-gram that ends at each byte, where there is one."""
        children, fallbacks, starts = (self._table.states[field::3] for field in range(3))
        letter_of = self._table.letters
        state = 0
        for letter in letters:
            while True:
                first, end = children[state], children[state + 1]
                child = bisect_left(letter_of, letter, first, end)
                if child < end and letter_of[child] == letter:
                    state = child
                    break
                if state == 0:
                    break
                state = fallbacks[state]
            found = state
            while found and starts[found] == starts[found + 1]:
                found = fallbacks[found]
            if found:
                yield found


def load() -> LanguageModel:
    """Takes a second where no process of this user did it before."""
    with suppress(OSError, ValueError, RuntimeError):  # not there, not whole, no home
        return _map(_path())
    table = _build()
    with suppress(OSError, ValueError, RuntimeError):
        _save(table, _path())
        return _map(_path())
    return LanguageModel(table)


def cache_folder() -> Path:
    """What may be lost: XDG on Linux, Caches on macOS, /var/cache for root."""
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache) / "forager"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/forager"
    return Path("/var/cache/forager") if os.geteuid() == 0 else Path.home() / ".cache/forager"


def _path() -> Path:
    return cache_folder() / f"language-{version('py3langid')}-{sys.byteorder}.{MAGIC.decode()}"


def _map(path: Path) -> LanguageModel:
    with path.open("rb") as file:
        return LanguageModel(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _build() -> bytes:
    """By another process, so that numpy and the large model are not in this one."""
    import subprocess

    command = python_module("forager.parsing.language_build")
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def _save(table: bytes, path: Path) -> None:
    """Under another name first. Of two that do it at the same time, either table is whole, and they are the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.urandom(4).hex()}.part")
    try:
        with unfinished.open("xb") as file:
            file.write(table)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise


def _split(whole: "memoryview[int]") -> Table:
    start = struct.calcsize(HEADER)
    if len(whole) < start:
        raise ValueError("the language model is not whole")
    magic, states, pairs, languages, names = struct.unpack(HEADER, whole[:start])
    sizes = (12 * (states + 1), 4 * LEVELS, 4 * languages, 4 * languages, 2 * pairs, states, names)
    ends = list(accumulate(sizes, initial=start))
    if magic != MAGIC or ends[-1] != len(whole):
        raise ValueError("the language model is not whole")
    parts = [whole[begin:end] for begin, end in pairwise(ends)]
    return Table(
        states=parts[0].cast("I"),
        levels=parts[1].cast("f"),
        floors=parts[2].cast("f"),
        priors=parts[3].cast("f"),
        pairs=parts[4].cast("H"),
        letters=parts[5],
        names=parts[6],
    )
