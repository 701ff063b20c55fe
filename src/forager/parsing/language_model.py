"""The language detector's model: a 7 MB table in the user's cache folder, memory-mapped by all parser processes.

`language_build` builds it from the model of py3langid, once per user; if it cannot be stored, each worker builds its
own. It is a tree of byte n-grams. At each byte of a text, the longest n-gram that ends there counts; it has a weight
for each language, and the sums of the weights give the probability of each language.
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
"""Must change with the layout, so that no process maps a table of another layout."""
HEADER = "8s4I"
"""Magic, numbers of states, pairs and languages, bytes of their names. The parts of `Table` follow."""
LEVELS = 256
"""Levels of a weight stored as a byte: probabilities differ from those of py3langid by less than 0.01."""


class Table(NamedTuple):
    """The parts of the table, in the byte order of the machine."""

    states: "memoryview[int]"
    """Three 32-bit numbers per state: first child, fallback, first pair; a final entry marks the end of children and
    pairs. States are sorted by depth, so that the children of each are adjacent, sorted by letter. The first state is
    the empty n-gram; the fallback of any other is its longest suffix that is a state."""
    levels: "memoryview[float]"
    """The amount a pair adds to the floor of its language, by level."""
    floors: "memoryview[float]"
    """The weight of an n-gram that has no pair with the language."""
    priors: "memoryview[float]"
    pairs: "memoryview[int]"
    """16 bits: the language, and in the lower bits the level. A state without pairs counts as its fallback."""
    letters: "memoryview[int]"
    """The last byte of each state."""
    names: "memoryview[int]"


class LanguageModel:
    def __init__(self, table: bytes | mmap.mmap) -> None:
        """Raises ValueError for an invalid or incomplete table."""
        self._bytes = table
        self._table = _split(memoryview(table))
        self._names = bytes(self._table.names).decode().split("\n")
        if len(self._names) != len(self._table.floors):
            raise ValueError("the language model is not whole")
        self._columns = {name: column for column, name in reversed(list(enumerate(self._names)))}
        self._repeated = [
            (self._columns[name], column) for column, name in enumerate(self._names) if self._columns[name] != column
        ]
        """For a language with one column per script: the second column counts for the first."""

    @property
    def is_mapped(self) -> bool:
        return isinstance(self._bytes, mmap.mmap)

    def classify(self, text: str, among: frozenset[str] | None = None) -> tuple[str, float]:
        """Returns the most probable language, optionally only among some, and its probability."""
        likely = self.probabilities(text)
        columns = sorted(self._columns[name] for name in self._columns.keys() & among) if among else range(len(likely))
        best = max(columns, key=likely.__getitem__)
        return self._names[best], likely[best]

    def probabilities(self, text: str) -> list[float]:
        """Returns the probability per column. Text in capitals is converted to lower case."""
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
        """Uses logarithms of counts, and divides their sums by the square root of the length: otherwise a long text
        would give near certainty for any language."""
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
        """Yields the state of the longest n-gram that ends at each byte, if there is one."""
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
    """Loads the model; takes a second for the first process of a user."""
    with suppress(OSError, ValueError, RuntimeError):  # missing, incomplete, or no home folder
        return _map(_path())
    table = _build()
    with suppress(OSError, ValueError, RuntimeError):
        _save(table, _path())
        return _map(_path())
    return LanguageModel(table)


def cache_folder() -> Path:
    """Returns the folder for disposable files: XDG on Linux, Caches on macOS, /var/cache for root."""
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
    """Builds the table in another process, so that numpy and the large model are not loaded in this one."""
    import subprocess

    command = python_module("forager.parsing.language_build")
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout


def _save(table: bytes, path: Path) -> None:
    """Writes to a temporary name first. If two processes save at the same time, both tables are complete and equal."""
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
