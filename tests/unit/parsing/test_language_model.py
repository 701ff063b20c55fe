"""The small table says what py3langid says, in C and in Python; no process depends on what lies in the cache folder."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier
from tests.unit.parsing.pages import TEXTS
from tests.unit.parsing.sentences import SENTENCES

from forager.parsing import compiled, language_model
from forager.parsing.language_build import build
from forager.parsing.language_model import HEADER, LanguageModel

pytestmark = pytest.mark.xdist_group("language model")
ODD_TEXTS = ("", "12 %", "\ud800", "ALL IN CAPITAL LETTERS", "e\u0301te\u0301", "\0" * 300, "a" * 5000)


@pytest.fixture(scope="module")
def table() -> bytes:
    return build()


@pytest.fixture(scope="module")
def model(table: bytes) -> LanguageModel:
    return LanguageModel(table)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: bytes) -> Path:
    """Empty. The table, a second of processor time, was built before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(language_model, "_build", lambda: table)
    return tmp_path / "forager"


@pytest.fixture
def kept(cache: Path, table: bytes) -> Path:
    cache.mkdir(parents=True)
    path = language_model._path()
    path.write_bytes(table)
    return path


def is_mapped(path: Path) -> bool:
    """Not only found, but in memory as the file that all processes share."""
    return str(path) in Path("/proc/self/maps").read_text()


class TestProbabilities:
    def test_they_are_those_of_py3langid(self, model: LanguageModel) -> None:
        unpacked = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        for text in (*TEXTS.values(), *SENTENCES.values(), *ODD_TEXTS):
            expected = dict(unpacked.rank(text))
            found = {name: share for name, share in zip(model._names, model.probabilities(text), strict=True) if share}
            assert found.keys() == expected.keys()
            assert all(abs(found[name] - share) < 0.01 for name, share in expected.items()), text
            assert model.classify(text)[0] == unpacked.classify(text)[0]

    @given(st.one_of(st.text(max_size=400), st.sampled_from(sorted(TEXTS.values())), st.text("aé 日ж", max_size=600)))
    @example("")
    @example("\ud800" * 20)
    @settings(deadline=None)
    def test_they_are_the_same_without_a_compiler(self, model: LanguageModel, text: str) -> None:
        likely = model.probabilities(text)
        with compiled.left_out():
            assert model.probabilities(text) == pytest.approx(likely, abs=1e-9)
        assert sum(likely) == pytest.approx(1)

    def test_the_likeliest_of_some(self, model: LanguageModel) -> None:
        assert model.classify(TEXTS["de"])[0] == "de"
        name, share = model.classify(TEXTS["de"], frozenset({"nl", "ja", "no such language"}))
        assert name == "nl"
        assert share < 0.5


class TestTable:
    @pytest.mark.parametrize("size", [0, 10, struct.calcsize(HEADER), -1])
    def test_one_that_is_not_whole_is_no_table(self, table: bytes, size: int) -> None:
        with pytest.raises(ValueError, match="not whole"):
            LanguageModel(table[:size])
        if compiled.native is not None:
            with pytest.raises(ValueError, match="not whole"):
                compiled.native.language_probabilities(table[:size], b"text")

    def test_one_of_another_layout_is_no_table(self, table: bytes) -> None:
        with pytest.raises(ValueError, match="not whole"):
            LanguageModel(b"forager0" + table[8:])

    @pytest.mark.parametrize("seed", range(8))
    @pytest.mark.parametrize("each", [1, 7, 300])
    def test_damage_crashes_nothing(self, table: bytes, model: LanguageModel, seed: int, each: int) -> None:
        """Every byte is another one, or one in some: each number in it may point anywhere."""
        native = pytest.importorskip("forager.parsing._native", reason="there was no C compiler")
        damaged = bytearray(table)
        start = struct.calcsize(HEADER) + seed % each
        damaged[start::each] = Random(seed).randbytes(len(damaged[start::each]))
        for text in TEXTS.values():
            assert len(native.language_probabilities(damaged, text.encode())) == len(model._names)


class TestLoad:
    def test_builds_once(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert language_model.load().is_mapped
        monkeypatch.setattr(language_model, "_build", lambda: pytest.fail("built again"))
        mapped = language_model.load()
        assert mapped.is_mapped
        assert is_mapped(language_model._path())
        assert mapped.classify(TEXTS["fr"])[0] == "fr"
        assert [file.name for file in cache.iterdir()] == [language_model._path().name]

    @pytest.mark.parametrize("harm", ["empty", "short", "zeros"])
    def test_replaces_what_is_not_whole(self, kept: Path, table: bytes, harm: str) -> None:
        kept.write_bytes({"empty": b"", "short": table[:-100], "zeros": bytes(len(table))}[harm])
        assert language_model.load().classify(TEXTS["de"])[0] == "de"
        assert kept.read_bytes() == table

    def test_works_where_nothing_can_be_kept(self, cache: Path) -> None:
        cache.touch()  # a file where the folder should be
        loaded = language_model.load()
        assert not loaded.is_mapped
        assert loaded.classify(TEXTS["fr"])[0] == "fr"

    def test_leaves_nothing_behind_when_the_disk_is_full(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        assert not language_model.load().is_mapped
        assert list(cache.iterdir()) == []

    def test_several_processes_may_begin_at_once(self, tmp_path: Path) -> None:
        code = "from forager.parsing import language_model as m; print(m.load().is_mapped, 'numpy' in m.sys.modules)"
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}

        def start(_: int) -> str:
            return subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            ).stdout

        with ThreadPoolExecutor() as pool:
            assert set(pool.map(start, range(3))) == {"True False\n"}
        assert len(list((tmp_path / "forager").iterdir())) == 1
