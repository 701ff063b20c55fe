"""Passwords: which are taken, and how they are kept. argon2id, in a few threads of its own: whoever signs in waits for
them, nobody else does.

Rules as OWASP ASVS has them: long enough, no demands on kinds of characters, none of the commonest or like them.
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
    """The same password from every keyboard: NFC, as browsers and systems differ there."""
    return unicodedata.normalize("NFC", password)


def reject_weak(password: str, name: str) -> None:
    """One sentence about what is wrong with it, as a UsageError."""
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
    """By zxcvbn, which knows 30,000 common passwords, words and names, rows of keys, sequences, repetitions, dates and
    the usual letters for others. A common word with digits and marks around it is still that word."""
    core = password.strip(DECORATION)
    is_decorated_word = (
        len(password) - len(core) <= MOST_DECORATION and _estimate_guesses(core, name) < GUESSES_OF_A_WORD
    )
    return is_decorated_word or _estimate_guesses(password, name) < FEWEST_GUESSES


def _estimate_guesses(password: str, name: str) -> float:
    """Before a guesser finds it. Only of its beginning, and not of one with so many marks that may stand for letters:
    that would take seconds, and nobody's favourite word is written so."""
    from zxcvbn import zxcvbn  # 0.15 s, and only who chooses a password needs it

    beginning = password[:LONGEST_LOOKED_AT]
    if not beginning:
        return 0.0
    if len(set(beginning) & STAND_INS) > MOST_STAND_INS:
        return math.inf
    return float(zxcvbn(beginning, user_inputs=[name, *SEEDS])["guesses"])


def _bare(text: str) -> str:
    return "".join(text.casefold().split())


def _is_based_on(password: str, word: str) -> bool:
    """The word again and again, or with a few digits and marks around it."""
    left = password.replace(word, "") if word else password
    return len(left) < len(password) and (not left or (len(left) <= 6 and not any(map(str.isalpha, left))))


@functools.cache
def _dummy_hash(memory_kib: int) -> str:
    return PasswordHasher(PASSES, memory_kib, LANES).hash("nobody has this password")


class Hasher:
    """One per process. Half of the cores hash at once, two at most, and at most 32 passwords wait."""

    def __init__(self, memory_kib: int = MEMORY_KIB) -> None:
        self._argon2 = PasswordHasher(PASSES, memory_kib, LANES)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="password")
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._argon2.hash(normalize_password(password)))

    async def reject_weak(self, password: str, name: str) -> None:
        """In a thread: it takes some milliseconds."""
        await self._run(lambda: reject_weak(password, name))

    async def verify(self, password: str, stored: str | None) -> bool:
        """Takes as long for nobody (None) as for somebody: the time of an answer does not tell who has an account."""
        return await self._run(lambda: self._verify(password, stored))

    def needs_rehash(self, stored: str) -> bool:
        return self._argon2.check_needs_rehash(stored)

    def _verify(self, password: str, stored: str | None) -> bool:
        decoy = _dummy_hash(self._argon2.memory_cost)  # made by whoever comes first, so that nobody's is not slower
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
