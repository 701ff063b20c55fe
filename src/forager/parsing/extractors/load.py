"""Reads extractor files, and says in one sentence what is wrong with one: file, table, key.

Definitions are imported with the first file: pydantic and turbohtml cost every process of a worker 20 MB otherwise.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forager import clock
from forager.errors import UsageError
from forager.parsing.models import ParseOptions

if TYPE_CHECKING:
    from pydantic import ValidationError

    from forager.parsing.extractors.by_model import ModelExtractor
    from forager.parsing.extractors.definition import Extractor

FOLDER = "extractors"
"""Within the data folder."""
MOST_FILES = 1_000
MOST_BYTES = 262_144
LOOK_EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file that is not used, and why."""

    file: str
    problem: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The extractors of a folder, by name, and the files that could not be used."""

    extractors: "tuple[Extractor, ...]" = ()
    files: tuple[str, ...] = ()
    """The file of each extractor."""
    bad: tuple[BadFile, ...] = ()
    by_model: "tuple[ModelExtractor, ...]" = ()
    """Those that ask a model: they do not run while a page is read."""
    model_files: tuple[str, ...] = ()

    def all(self) -> "list[tuple[Extractor | ModelExtractor, str]]":
        """Returns the extractors of both kinds, each with its file."""
        return [
            *zip(self.extractors, self.files, strict=True),
            *zip(self.by_model, self.model_files, strict=True),
        ]


def parse_extractor(text: str, file: str) -> "Extractor":
    """Returns the extractor that a text defines; raises UsageError with a sentence that names file, table and key."""
    from forager.parsing.extractors.definition import Extractor

    found = parse_definition(text, file)
    if not isinstance(found, Extractor):
        raise UsageError(f"{file}: [model]: this one asks a model; `forager extract` tries it on one page.")
    return found


def parse_definition(text: str, file: str) -> "Extractor | ModelExtractor":
    """Returns the extractor that a text defines: with selectors, or with a model."""
    from pydantic import ValidationError

    from forager.parsing.extractors.by_model import ModelExtractor
    from forager.parsing.extractors.definition import Extractor

    try:
        tables = tomllib.loads(text)
        return (ModelExtractor if "model" in tables else Extractor).model_validate(tables)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file} is no TOML: {error}.") from None
    except ValidationError as error:
        raise UsageError(_sentence(file, error)) from None
    except RecursionError:
        raise UsageError(f"{file} is nested too deeply.") from None


def load_file(path: Path) -> "Extractor | ModelExtractor":
    """Returns the extractor of one file; raises UsageError if it cannot be read or is invalid."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UsageError(f"{path.name} is larger than {MOST_BYTES // 1024} KB.")
        return parse_definition(content.decode(), path.name)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name} is not written in UTF-8.") from None


def load_folder(folder: Path) -> Loaded:
    """Returns the extractors of a folder in the order of their files; a broken file costs only itself."""
    found: dict[str, tuple[Extractor | ModelExtractor, str]] = {}
    bad: list[BadFile] = []
    for path in _list_files(folder):
        try:
            extractor = load_file(path)
        except UsageError as error:
            bad.append(BadFile(path.name, str(error)))
            continue
        if extractor.name in found:
            other = found[extractor.name][1]
            bad.append(BadFile(path.name, f"{path.name}: the name {extractor.name!r} is taken by {other}."))
            continue
        found[extractor.name] = (extractor, path.name)
    return _sorted_by_kind(list(found.values()), bad)


def _sorted_by_kind(found: "list[tuple[Extractor | ModelExtractor, str]]", bad: list[BadFile]) -> Loaded:
    if not found:  # definitions are imported with the first file
        return Loaded(bad=tuple(bad))
    from forager.parsing.extractors.definition import Extractor

    return Loaded(
        tuple(each for each, _ in found if isinstance(each, Extractor)),
        tuple(file for each, file in found if isinstance(each, Extractor)),
        tuple(bad),
        tuple(each for each, _ in found if not isinstance(each, Extractor)),
        tuple(file for each, file in found if not isinstance(each, Extractor)),
    )


def may_run_extractors(options: ParseOptions, folder: str) -> bool:
    """Returns whether an extractor may run on a page that is parsed with these options."""
    return bool(options.extractor_texts or (options.extractors and folder and _list_files(Path(folder))))


def _list_files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.toml"))[:MOST_FILES]
    except OSError:
        return []


class ExtractorFolder:
    """The extractors of a folder, read once and again when a file of it changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._looked_at: float | None = None
        self._state: tuple[tuple[str, int, int], ...] | None = None
        self._loaded = Loaded()

    def get(self) -> Loaded:
        """Returns what the files say now; looks at their times every few seconds at most."""
        now = clock.monotonic()
        if self._looked_at is None or now - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = now
            state = self._read_state()
            if state != self._state:
                self._loaded = load_folder(self._folder)
                self._state = state
        return self._loaded

    def _read_state(self) -> tuple[tuple[str, int, int], ...]:
        found: list[tuple[str, int, int]] = []
        for path in _list_files(self._folder):
            try:
                stat = path.stat()
            except OSError:
                continue
            found.append((path.name, stat.st_mtime_ns, stat.st_size))
        return tuple(found)


def _sentence(file: str, error: "ValidationError") -> str:
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    message = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    place = [f"number {part + 1}" if isinstance(part, int) else str(part) for part in first["loc"]]
    if not place:
        return f"{file}: {message[:1].lower()}{message[1:]}."
    table, key = (place[:-1], place[-1]) if len(place) > 1 else ([], place[0])
    if place[0] == "fields" and len(place) == 2:
        table, key = place, ""
    where = f"[{'.'.join(table)}] {key}".strip() if table else key
    told = {"Field required": "it is missing", "Extra inputs are not permitted": "there is no such key"}
    message = told.get(message, f"{message[:1].lower()}{message[1:]}")
    return f"{file}: {where}: {message}."
