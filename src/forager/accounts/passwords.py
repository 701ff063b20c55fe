"""Password rules and password hashing. argon2id runs in a small thread pool of its own: only requests that sign in wait
for it.

The rules follow OWASP ASVS: a minimum length, no required character classes, no common passwords or variants of them.
"""

import asyncio
import functools
import math
import os
import string
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from forager.accounts.common_passwords import COMMON, SEEDS
from forager.accounts.errors import TooManyLoginsError
from forager.errors import UsageError

T = TypeVar("T")
SHORTEST, LONGEST = 12, 128
THREADS = max(1, min(2, (os.cpu_count() or 1) // 2))
MOST_WAITING = 32
FEWEST_GUESSES, GUESSES_OF_A_WORD = 1e10, 1e5
LONGEST_LOOKED_AT = 32
DECORATION = string.digits + string.punctuation + " "
MOST_DECORATION = 8
STAND_INS = frozenset("@({[<&#!$+%|")
MOST_STAND_INS = 4
MEMORY_KIB, PASSES, LANES = 19 * 1024, 2, 1


def normalize_password(password: str) -> str:
    """Normalizes to NFC, as browsers and systems differ there: a password is the same from every keyboard."""
    return unicodedata.normalize("NFC", password)


def reject_weak(password: str, name: str) -> None:
    """Raises a UsageError with one sentence that says what is wrong with the password."""
    password = normalize_password(password)
    if len(password) < SHORTEST:
        raise UsageError(f"A password has at least {SHORTEST} characters; a few words are good, and easy to keep.")
    if len(password) > LONGEST:
        raise UsageError(f"A password has at most {LONGEST} characters.")
    bare = _bare(password)
    if name and _is_based_on(bare, _bare(name)):
        raise UsageError("The password is made of the account's name; choose another.")
    if bare in COMMON or any(_is_based_on(bare, seed) for seed in SEEDS) or len(set(bare)) < 4:
        raise UsageError("This is one of the commonest passwords, which are tried first; choose another.")
    if _is_weak(password, name):
        raise UsageError(
            "This password is like the commonest ones, which are tried first: a word with a year, a row of keys, the "
            "same again. A few words that do not belong together are better."
        )


def _is_weak(password: str, name: str) -> bool:
    """Returns whether zxcvbn rates the password as weak. It knows 30,000 common passwords, words and names, keyboard
    rows, sequences, repetitions, dates and the usual letter substitutions. A common word with digits and punctuation
    around it still counts as that word."""
    core = password.strip(DECORATION)
    is_decorated_word = (
        len(password) - len(core) <= MOST_DECORATION and _estimate_guesses(core, name) < GUESSES_OF_A_WORD
    )
    return is_decorated_word or _estimate_guesses(password, name) < FEWEST_GUESSES


def _estimate_guesses(password: str, name: str) -> float:
    """Estimates the number of guesses that find the password. Only its beginning is rated, and not one with many
    characters that may substitute letters: that would take seconds, and no common word is written that way."""
    from zxcvbn import zxcvbn  # imports in 0.15 s, and only choosing a password needs it

    beginning = password[:LONGEST_LOOKED_AT]
    if not beginning:
        return 0.0
    if len(set(beginning) & STAND_INS) > MOST_STAND_INS:
        return math.inf
    return float(zxcvbn(beginning, user_inputs=[name, *SEEDS])["guesses"])


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


def _is_based_on(password: str, word: str) -> bool:
    """Returns whether the password is the word repeated, or with a few digits and punctuation around it."""
    left = password.replace(word, "") if word else password
    return len(left) < len(password) and (not left or (len(left) <= 6 and not any(map(str.isalpha, left))))


@functools.cache
def _dummy_hash(memory_kib: int) -> str:
    return PasswordHasher(PASSES, memory_kib, LANES).hash("nobody has this password")


class Hasher:
    """Hashes passwords; one instance per process. Half of the cores hash at the same time, two at most, and at most 32
    passwords wait."""

    def __init__(self, memory_kib: int = MEMORY_KIB) -> None:
        self._argon2 = PasswordHasher(PASSES, memory_kib, LANES)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="password")
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._argon2.hash(normalize_password(password)))

    async def reject_weak(self, password: str, name: str) -> None:
        """Checks the password in a thread: it takes some milliseconds."""
        await self._run(lambda: reject_weak(password, name))

    async def verify(self, password: str, stored: str | None) -> bool:
        """Verifies a password. Takes as long without an account (`stored` is None) as with one, so that the response
        time does not reveal which accounts exist."""
        return await self._run(lambda: self._verify(password, stored))

    def needs_rehash(self, stored: str) -> bool:
        return self._argon2.check_needs_rehash(stored)

    def _verify(self, password: str, stored: str | None) -> bool:
        decoy = _dummy_hash(self._argon2.memory_cost)  # built on any first call: unknown accounts are not slower
        try:
            is_right = self._argon2.verify(stored or decoy, normalize_password(password)[: LONGEST + 1])
        except (VerifyMismatchError, VerificationError, InvalidHashError):
            return False
        return is_right and stored is not None

    async def _run(self, work: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING + THREADS:
            raise TooManyLoginsError("Too many people sign in at this moment; try again in a few seconds.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1
