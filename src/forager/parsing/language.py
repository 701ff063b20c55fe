"""Determines the language of a page: the declared one, checked against a short sample of the main text.

If declared and detected language agree, the declared tag is used, because it includes the region. If they disagree, the
detected one is used if it is certain; less certainty is enough if the text is in another script than the declared
language. Chinese and Serbian have two scripts each, which the tag then names: `zh-Hans`, `sr-Latn`. The model costs 70
µs, so it runs last. A declaration that the commonest words of the text confirm needs no other check; some scripts
belong to one language; a host whose declarations were right many times in a row is only spot-checked.
"""

import re
from collections import Counter
from functools import cache, lru_cache

from forager.parsing import language_model
from forager.parsing.language_model import LanguageModel
from forager.parsing.language_words import COMMON, FREQUENT

LONGEST_TAG = 35
SAMPLE_BYTES = 150
"""The detector's cost is per byte. All of 19 languages tried were detected from 60 letters, or 20 of three bytes
each."""
SAMPLE_BYTES_WIDE = 240
"""For scripts with three bytes per letter, and vowel signs that are not letters."""
PROSE_CHARS = 8000
"""By this length, the main text has reached its prose."""
SHORT = 40
"""Letters. A shorter text is a label rather than a sentence: it determines the language only if there is no other
source, and does not override a declaration in the same script."""
FEWEST_LETTERS = 15
FEWEST_LETTERS_DENSE = 5
"""For scripts that write a syllable or a word with one sign, or vowels with signs that are not letters."""
SURE = 0.9
LIKELY = 0.5
LIKELY_IF_SHORT = 0.15
WORDS_CHARS = 320
FEWEST_FREQUENT = 4
FREQUENT_SHARE = 10
"""At least one word in this many, in prose: in English it is one in three."""

TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
KANA = re.compile(r"[\u3040-\u30ff]")
HAN = re.compile(r"[\u3400-\u9fff]")
DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
WIDE = re.compile(r"[\u0900-\u10ff\u1780-\u17ff]")
LANGUAGE_OF_BLOCK = {
    0x06: "el", 0x07: "el", 0x14: "pa", 0x15: "gu", 0x16: "or", 0x17: "ta", 0x18: "te", 0x19: "kn", 0x1A: "ml",
    0x1B: "si", 0x1C: "th", 0x1D: "lo", 0x20: "my", 0x2F: "km", **dict.fromkeys(range(0x158, 0x1B0), "ko"),
}  # fmt: skip
"""By blocks of 128 code points. Other scripts are shared by languages (Cyrillic, Arabic), or their blocks by
scripts."""
OTHER_SCRIPT = re.compile(r"[\u0370-\u1eff\u3040-\ud7af]")
IN_OTHER_SCRIPTS = frozenset(
    [
        "am", "ar", "be", "bg", "bn", "ckb", "dv", "dz", "el", "fa", "gu", "he", "hi", "hy", "iw", "ja", "ji", "ka",
        "kk", "km", "kn", "ko", "ky", "lo", "mk", "ml", "mn", "mr", "my", "ne", "or", "pa", "ps", "ru", "sa", "sd",
        "si", "sr", "ta", "te", "tg", "th", "ti", "tt", "ug", "uk", "ur", "yi", "yue", "zh",
    ]
)  # fmt: skip
"""Languages that are not written in Latin letters, or not only."""
CYRILLIC = re.compile(r"[\u0400-\u04ff]")
# The commonest characters that exist in only one of the two scripts, both strings in the same order.
SIMPLIFIED = frozenset("这来时会说们为个国对开过还后发话让长问间没见现经无动种实头学关点机东车门样气电从儿书马给语")
TRADITIONAL = frozenset("這來時會說們為個國對開過還後發話讓長問間沒見現經無動種實頭學關點機東車門樣氣電從兒書馬給語")
NO_LANGUAGE = frozenset({"und", "mul", "zxx", "mis"})
# Variants that the detector distinguishes but pages and search do not, and renamed codes.
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
TWO_SCRIPTS = frozenset({"zh", "sr"})
# Too similar to distinguish by a sentence: the declaration is used.
CLOSE = ({"no", "nb", "nn", "da"}, {"hr", "sr", "bs", "sh", "cnr", "sl"}, {"id", "ms"}, {"gl", "pt"}, {"cs", "sk"})


class LanguageMemory:
    """Counts consecutive correct declarations per host. One per worker; clears itself when full."""

    TRUSTED_AFTER = 8
    CHECKED_EACH = 16
    """Interval of checked pages at first; four times as long for a host that was right on hundreds: a check costs as
    much as the rest of the page, and a host that is wrong on one page in ten is usually detected before that."""
    MOST_KEYS = 20_000

    def __init__(self) -> None:
        self._agreed: dict[tuple[str, str], int] = {}

    def trusts(self, host: str, declared: str) -> bool:
        """Whether to skip the check. Counts the call, so that even for a trusted host a page is checked now and
        then."""
        seen = self._agreed.get((host, declared), 0)
        if seen < self.TRUSTED_AFTER:
            return False
        self._agreed[host, declared] = seen + 1
        trusted = seen - self.TRUSTED_AFTER + 1
        each = self.CHECKED_EACH * (1 if trusted <= 64 else 2 if trusted <= 192 else 4)
        return trusted % each != 0

    def learn(self, host: str, declared: str, *, agrees: bool) -> None:
        if len(self._agreed) >= self.MOST_KEYS:
            self._agreed.clear()
        key = host, declared
        self._agreed[key] = self._agreed.get(key, 0) + 1 if agrees else 0


def detect_language(
    declared: str | None, text: str, host: str = "", memory: LanguageMemory | None = None
) -> str | None:
    """Returns the language tag of a page. `text` is the main text, one run per line."""
    if declared and memory and memory.trusts(host, declared):
        return declared
    run = select_run(text)
    if declared and _is_confirmed(declared, run):
        if memory:
            memory.learn(host, declared, agrees=True)
        return declared
    sample = truncate_sample(run)
    detected, sureness, is_short = _detect(sample)
    if not declared:
        needed = LIKELY_IF_SHORT if is_short else LIKELY
        return name_script(detected, text) if detected and sureness >= needed else None
    if not detected:
        return declared
    agrees = _is_compatible(declared, detected)
    is_other = not agrees and is_in_other_script(declared, sample)
    if memory and (agrees or is_other or not is_short):
        memory.learn(host, declared, agrees=agrees)
    if agrees:
        return name_script(declared, text) if declared in TWO_SCRIPTS else declared
    if is_short and not is_other:
        return declared
    return name_script(detected, text) if sureness >= (LIKELY if is_other else SURE) else declared


def _is_confirmed(declared: str, run: str) -> bool:
    """Whether words that are common only in the declared language confirm it; takes 10 µs."""
    frequent = FREQUENT.get(declared.partition("-")[0])
    if frequent is None:
        return False
    words = run[:WORDS_CHARS].lower().split()
    hits = sum(map(frequent.__contains__, words))
    return hits >= FEWEST_FREQUENT and hits * FREQUENT_SHARE >= len(words)


def is_in_other_script(declared: str, sample: str) -> bool:
    """Whether a language with Latin letters is declared for a text that has hardly any."""
    return declared.partition("-")[0] not in IN_OTHER_SCRIPTS and len(OTHER_SCRIPT.findall(sample)) * 2 > len(sample)


def name_script(language: str, text: str) -> str:
    """Returns `zh` and `sr` with their script; other languages unchanged."""
    if language == "zh":
        letters = text[:PROSE_CHARS]
        simplified, traditional = (sum(map(letters.count, kind)) for kind in (SIMPLIFIED, TRADITIONAL))
        return language if simplified == traditional else "zh-Hans" if simplified > traditional else "zh-Hant"
    if language == "sr" and not CYRILLIC.search(select_sample(text)):
        return "sr-Latn"
    return language


def _is_compatible(declared: str, detected: str) -> bool:
    primary = declared.partition("-")[0]
    primary = SAME.get(primary, primary)
    return primary == detected or any(primary in group and detected in group for group in CLOSE)


def get_declared(*candidates: str | None) -> str | None:
    """Returns the first well-formed tag in the spelling BCP-47 recommends; accepts `en_US`."""
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
    return None if primary in NO_LANGUAGE else "-".join([primary, *map(_format_subtag, others)])


def _format_subtag(subtag: str) -> str:
    if len(subtag) == 4 and subtag.isalpha():
        return subtag.title()
    return subtag.upper() if len(subtag) == 2 else subtag


def select_run(text: str) -> str:
    """Returns the longest run of text, which is prose and not navigation; the whole text if no run is long."""
    longest = max(text[:PROSE_CHARS].split("\n"), key=len, default="")
    return longest.strip() if len(longest) >= SHORT else " ".join(text[:2000].split())


def truncate_sample(run: str) -> str:
    size = SAMPLE_BYTES if run.isascii() or not WIDE.search(run[:100]) else SAMPLE_BYTES_WIDE
    return run[:size].encode()[:size].decode("utf-8", "ignore")


def select_sample(text: str) -> str:
    return truncate_sample(select_run(text))


def detect(sample: str) -> tuple[str | None, float]:
    """Returns a language code and its probability, 0 to 1; None for a sample that is too short."""
    language, sureness, _ = _detect(sample)
    return language, sureness


def _detect(sample: str) -> tuple[str | None, float, bool]:
    """Like `detect`, and also returns whether the sample is short."""
    letters = sum(map(str.isalpha, sample))
    is_dense = not sample.isascii() and (DENSE.search(sample) or WIDE.search(sample)) is not None
    if letters < (FEWEST_LETTERS_DENSE if is_dense else FEWEST_LETTERS):
        return None, 0.0, True
    is_short = letters < (FEWEST_LETTERS if is_dense else SHORT)
    if language := None if sample.isascii() else _language_of_script(sample, letters):
        return language, 1.0, is_short
    # In a few words, every minor language resembles one of the languages of most pages.
    code, sureness = load_detector().classify(sample, COMMON if is_short else None)
    code = SAME.get(code, code)
    return (None, 0.0, is_short) if code in NO_LANGUAGE else (code, sureness, is_short)


def _language_of_script(sample: str, letters: int) -> str | None:
    """Returns the language of a script used by one language, or nearly so; None if most letters are in other
    scripts."""
    kana, han = len(KANA.findall(sample)), len(HAN.findall(sample))
    if (kana + han) * 2 > letters:
        return "ja" if kana * 10 > han else "zh"
    found = Counter(map(LANGUAGE_OF_BLOCK.get, (ord(letter) >> 7 for letter in sample if letter > "\u036f")))
    del found[None]
    language, count = next(iter(found.most_common(1)), (None, 0))
    return language if count * 2 > letters else None


@cache
def load_detector() -> LanguageModel:
    """Loads the model. `preload` calls it before the first page."""
    return language_model.load()
