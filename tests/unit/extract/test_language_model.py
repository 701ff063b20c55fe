"""A detector that is mapped says what one that is unpacked says; and nobody depends on what is kept."""

import fcntl
from pathlib import Path

import numpy as np
import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from tests.unit.extract.pages import TEXTS

from forager.extract import language_model

pytestmark = pytest.mark.xdist_group("language model")
UNPACK = LanguageIdentifier.from_model_file


@pytest.fixture(scope="module")
def unpacked() -> LanguageIdentifier:
    return UNPACK(MODEL_FILE, norm_probs=True)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unpacked: LanguageIdentifier) -> Path:
    """Empty. Unpacking, half a second of processor time, was done before, whoever asks for it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(LanguageIdentifier, "from_model_file", lambda *_, **__: unpacked)
    return tmp_path / "forager"


@pytest.fixture(scope="module")
def kept_once(tmp_path_factory: pytest.TempPathFactory, unpacked: LanguageIdentifier) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("language")))
        assert language_model.keep(unpacked)
        return language_model._place()


@pytest.fixture
def kept(cache: Path, kept_once: Path) -> Path:
    """The same files under other names: 68 MB need not be written for each test."""
    place = cache / kept_once.name
    place.mkdir(parents=True)
    for file in kept_once.iterdir():
        (place / file.name).hardlink_to(file)
    return place


def is_mapped(detector: LanguageIdentifier, place: Path) -> bool:
    """Not only found, but in memory as the file that all share."""
    return not detector.nb_ptc.flags.owndata and f"{place}/ptc.npy" in Path("/proc/self/maps").read_text()


def test_what_is_kept_says_the_same(kept: Path, unpacked: LanguageIdentifier) -> None:
    mapped = language_model.load()
    assert is_mapped(mapped, kept)
    for text in (*TEXTS.values(), "", "12 %", "\ud800"):
        assert mapped.rank(text) == unpacked.rank(text)


def test_it_is_kept_once(kept: Path) -> None:
    before = kept.stat()
    assert not language_model.keep(language_model.load())
    assert kept.stat() == before


@pytest.mark.parametrize("part", ["ptc", "classes"])
@pytest.mark.parametrize("harm", ["missing", "empty", "short"])
def test_what_is_not_whole_is_not_used(kept: Path, part: str, harm: str) -> None:
    file = kept / f"{part}.npy"
    whole = file.read_bytes()
    file.unlink()
    if harm != "missing":
        file.write_bytes(whole[:-100] if harm == "short" else b"")
    detector = language_model.load()
    assert not is_mapped(detector, kept)
    assert detector.classify(TEXTS["de"])[0] == "de"
    assert language_model.keep(detector)
    assert is_mapped(language_model.load(), kept)


def test_what_another_kept_meanwhile_is_left_alone(kept: Path, unpacked: LanguageIdentifier) -> None:
    before = kept.stat()
    assert not language_model.keep(unpacked)
    assert kept.stat() == before


def test_parts_that_do_not_fit_each_other_are_not_used(kept: Path) -> None:
    (kept / "pc.npy").unlink()
    np.save(kept / "pc.npy", np.zeros(3, dtype=np.float32))
    assert not is_mapped(language_model.load(), kept)


def test_one_that_was_killed_while_it_wrote_is_no_hindrance(cache: Path, unpacked: LanguageIdentifier) -> None:
    unfinished = cache / f"{language_model._place().name}.part"
    unfinished.mkdir(parents=True)
    (unfinished / "ptc.npy").write_bytes(b"half of it")
    assert not is_mapped(language_model.load(), unfinished)
    assert language_model.keep(unpacked)
    assert not unfinished.exists()


def test_only_one_writes_at_a_time(cache: Path, unpacked: LanguageIdentifier) -> None:
    cache.mkdir(parents=True)
    with (cache / "language.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not language_model.keep(unpacked)
        assert not list(cache.glob("language-*"))


def test_where_nothing_can_be_kept_it_works_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    detector = language_model.load()
    assert not language_model.keep(detector)
    assert detector.classify(TEXTS["fr"])[0] == "fr"
