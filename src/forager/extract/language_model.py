"""The language detector's model: 68 MB that lie packed in its package, unpacked once and mapped from then on.

Unpacking takes half a second of processor time, and a copy of its own in each process that reads. What is mapped is
there at once, and all processes share it. It lies in the user's cache folder; where nothing can be kept, or somebody
emptied it, each process unpacks for itself.
"""

import fcntl
import os
import shutil
import sys
from array import array
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from py3langid.langid import LanguageIdentifier

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Heard by numpy when it is loaded, here for the first time. Else each process that reads starts a thread for every
core there is, each of which spins for a tenth of a second: for sums that are over sooner."""
PARTS = ("ptc", "pc", "classes", "nextmove", "nextmove_row", "out_feat")
"""Weights by feature and language, weights and names of languages; an automaton: rows, the row of each state, the
feature a state stands for."""


def cache_folder() -> Path:
    """What may be lost: XDG on Linux, Caches on macOS, /var/cache for root."""
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache) / "forager"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/forager"
    return Path("/var/cache/forager") if os.geteuid() == 0 else Path.home() / ".cache/forager"


def load() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    with suppress(OSError, ValueError, EOFError, RuntimeError):  # not there, not whole, no home
        return _map(_place())
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def keep(detector: "LanguageIdentifier") -> bool:
    """So that the next process can map it; False where it was kept before, or cannot be. One does it at a time, and
    whoever is killed in the midst of it leaves nothing that is taken for whole. What was damaged since is kept anew."""
    try:
        place = _place()
        if _is_mapped(detector):
            return False
        place.parent.mkdir(parents=True, exist_ok=True)
        with (place.parent / "language.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_whole(place):
                return False
            shutil.rmtree(place, ignore_errors=True)
            return _write(detector, place)
    except (OSError, RuntimeError):
        return False


def _is_mapped(detector: "LanguageIdentifier") -> bool:
    import numpy as np

    return isinstance(detector.nb_ptc.base, np.memmap)


def _is_whole(place: Path) -> bool:
    """Takes a tenth of a second; asked only by a process that had to unpack for itself."""
    try:
        _map(place)
    except (OSError, ValueError, EOFError):
        return False
    return True


def _place() -> Path:
    return cache_folder() / f"language-{version('py3langid')}-{sys.byteorder}"


def _write(detector: "LanguageIdentifier", place: Path) -> bool:
    import numpy as np

    unfinished = place.with_name(f"{place.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        for name, part in zip(PARTS, _parts_of(detector), strict=True):
            with (unfinished / f"{name}.npy").open("wb") as file:
                np.save(file, part, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
        unfinished.rename(place)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return True


def _parts_of(detector: "LanguageIdentifier") -> "tuple[np.ndarray[Any, Any], ...]":
    import numpy as np

    rows, row_of = (_as_numpy(numbers) for numbers in (detector.tk_nextmove, detector.tk_row))
    features = np.asarray(detector.tk_output, dtype=np.int32)
    return detector.nb_ptc, detector.nb_pc, np.array(detector.nb_classes), rows, row_of, features


def _as_numpy(numbers: "array[int]") -> "np.ndarray[Any, Any]":
    import numpy as np

    return np.frombuffer(numbers, dtype=f"u{numbers.itemsize}")


def _map(place: Path) -> "LanguageIdentifier":
    import numpy as np
    from py3langid.langid import LanguageIdentifier

    weights, prior, names, rows, row_of, features = (
        np.asarray(np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False)) for name in PARTS
    )
    if weights.shape[1] != len(names) or len(prior) != len(names) or len(row_of) != len(features):
        raise ValueError(f"{place} is not what was kept there")
    return LanguageIdentifier(
        weights,
        prior,
        names.tolist(),
        rows.data,
        features.tolist(),
        norm_probs=True,
        tk_row=row_of.data,
    )
