"""Which extractors run on the pages of a domain: those of the data folder that its crawl settings name."""

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from forager.parsing.extractors.definition import Extractor
from forager.parsing.extractors.load import ExtractorFolder, parse_extractor

AUTO, NONE = "auto", "none"


def select_extractors(names: Sequence[str], folder: str, texts: Sequence[str] = ()) -> Sequence[Extractor]:
    """Returns the extractors with these names, all with `auto`; with `texts`, which define some, those alone."""
    if texts:
        return [_parsed(text) for text in texts]
    if not folder or NONE in names:
        return ()
    loaded = _open_folder(folder).get().extractors
    return loaded if AUTO in names else [each for each in loaded if each.name in names]


@cache
def _open_folder(folder: str) -> ExtractorFolder:
    return ExtractorFolder(Path(folder))


@lru_cache(32)
def _parsed(text: str) -> Extractor:
    return parse_extractor(text, "extractor")
