"""Which language a page is in: what it declares, checked against a short sample of its main text.

Declared and detected agree → the declared tag, which knows the region too. They disagree → the detected one, if sure.
The detector costs 100 µs per page, so a host whose declarations proved true many times in a row is only spot-checked.
"""

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LONGEST_TAG = 35
SAMPLE_BYTES = 150
"""The detector pays per byte. Of 19 languages tried, all were found from 60 letters, or 20 of three bytes each."""
PROSE_CHARS = 8000
"""The main text has shown its prose by then."""
FEWEST_LETTERS = 40
FEWEST_LETTERS_CJK = 12
SURE = 0.9
LIKELY = 0.5

TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
NO_LANGUAGE = frozenset({"und", "mul", "zxx", "mis"})
# Variants the detector tells apart but pages and search do not, and codes that were renamed.
SAME = {
    "arz": "ar",
    "ary": "ar",
    "grc": "el",
    "hbo": "he",
    "iw": "he",
    "in": "id",
    "ji": "yi",
    "uzs": "uz",
    "wuu": "zh",
    "yue": "zh",
    "cmn": "zh",
    "fil": "tl",
    "mo": "ro",
    "prs": "fa",
}
# Too close to be told apart by a sentence: here the page knows better.
CLOSE = ({"no", "nb", "nn", "da"}, {"hr", "sr", "bs", "sh", "cnr", "sl"}, {"id", "ms"}, {"gl", "pt"}, {"cs", "sk"})


class LanguageMemory:
    """How often in a row the declarations of a host proved true. One per worker; forgets all when full."""

    TRUSTED_AFTER = 8
    CHECKED_EACH = 16
    MOST_KEYS = 20_000

    def __init__(self) -> None:
        self._agreed: dict[tuple[str, str], int] = {}

    def trusts(self, host: str, declared: str) -> bool:
        """Counts the question, so that every sixteenth page is looked at in spite of all trust."""
        seen = self._agreed.get((host, declared), 0)
        if seen < self.TRUSTED_AFTER:
            return False
        self._agreed[host, declared] = seen + 1
        return (seen - self.TRUSTED_AFTER) % self.CHECKED_EACH != self.CHECKED_EACH - 1

    def learn(self, host: str, declared: str, *, agrees: bool) -> None:
        if len(self._agreed) >= self.MOST_KEYS:
            self._agreed.clear()
        key = host, declared
        self._agreed[key] = self._agreed.get(key, 0) + 1 if agrees else 0


def decide(declared: str | None, text: str, host: str = "", memory: LanguageMemory | None = None) -> str | None:
    """`text` is the main text, one run per line."""
    if declared and memory and memory.trusts(host, declared):
        return declared
    detected, sureness = detect(choose_sample(text))
    if not declared:
        return detected if sureness >= LIKELY else None
    if not detected:
        return declared
    agrees = _agree(declared, detected)
    if memory:
        memory.learn(host, declared, agrees=agrees)
    return declared if agrees or sureness < SURE else detected


def _agree(declared: str, detected: str) -> bool:
    primary = declared.partition("-")[0]
    primary = SAME.get(primary, primary)
    return primary == detected or any(primary in group and detected in group for group in CLOSE)


def declare(*candidates: str | None) -> str | None:
    """The first well-formed tag, in the spelling BCP-47 recommends; `en_US` is understood."""
    for candidate in candidates:
        if candidate and (tag := normalize_tag(candidate)):
            return tag
    return None


@lru_cache(maxsize=1024)
def normalize_tag(text: str) -> str | None:
    text = text.strip().replace("_", "-")
    if len(text) > LONGEST_TAG or not TAG.fullmatch(text):
        return None
    primary, *others = text.lower().split("-")
    return None if primary in NO_LANGUAGE else "-".join([primary, *map(_spell_subtag, others)])


def _spell_subtag(subtag: str) -> str:
    if len(subtag) == 4 and subtag.isalpha():
        return subtag.title()
    return subtag.upper() if len(subtag) == 2 else subtag


def choose_sample(text: str) -> str:
    """From the longest run of text, which is prose and not navigation; from all of it where no run is long."""
    longest = max(text[:PROSE_CHARS].split("\n"), key=len, default="")
    if len(longest) < FEWEST_LETTERS:
        longest = " ".join(text[:2000].split())
    return longest.strip().encode()[:SAMPLE_BYTES].decode("utf-8", "ignore")


def detect(sample: str) -> tuple[str | None, float]:
    """A language code and how sure it is, 0 to 1; nothing for a sample too short to tell."""
    letters = sum(map(str.isalpha, sample))
    if letters < FEWEST_LETTERS and (letters < FEWEST_LETTERS_CJK or not CJK.search(sample)):
        return None, 0.0
    code, sureness = load_detector().classify(sample)
    code = SAME.get(code, code)
    return (None, 0.0) if code in NO_LANGUAGE else (code, sureness)


@cache
def load_detector() -> "LanguageIdentifier":
    """Takes about a second; `warm_up` does it before the first page comes."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
