"""Which passwords are taken, how they are kept, and that signing in cannot take the machine."""

import asyncio
import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.accounts.errors import TooManyLoginsError
from forager.accounts.passwords import LONGEST, MOST_WAITING, SHORTEST, THREADS, Hasher, normalize_password, reject_weak
from forager.errors import UsageError

GOOD = "seven quiet otters"
LIKE_COMMON_ONES = (
    *("123456123456", "123456789123", "qweasdzxc123", "1q2w3e4r5t6y7u8i9o0p", "motherfucker", "Welcome12345678"),
    *("Summer2026!!!", "qwerty123456!", "Password2026!", "iloveyouforever", "manchester123", "Winter2025!!"),
    *("abcd1234abcd1234", "zaq1xsw2cde3", "hello123hello123", "0987654321qwerty", "P@ssw0rd1234", "Liverpool2024"),
    *("Spring2024!@#", "january01/01/1990", "987654321987654321", "thisisapassword", "Company2024!!", "Berlin12345678"),
    *("qazwsxedcrfvtgb", "poiuytrewqlkjh", "unbelievable", "international", "!!!Monkey2023", "Jennifer1987?"),
)


@pytest.fixture
def hasher() -> Hasher:
    return Hasher(memory_kib=64)


@pytest.mark.parametrize(
    "password",
    [GOOD, "x7Gq-pL2w.9tZ", "ünïcödé wörds ok", "пароль из слов", "a b c d e f g h", "😀🙃😶🤖👾🎃😺🙈🙉🙊💥💫"],
)
def test_long_ones_of_any_characters_are_taken(password: str) -> None:
    reject_weak(password, "alice")


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "at least 12"),
        ("x" * 129, "at most 128"),
        ("alice.example", "account's name"),
        ("ALICE.EXAMPLE99", "account's name"),
        ("alice.examplealice.example", "account's name"),
        ("password1234", "commonest"),
        ("Password Password", "commonest"),
        ("123456789012", "commonest"),
        ("qwertyuiop123", "commonest"),
        ("QWERTY qwerty", "commonest"),
        ("aaaaaaaaaaaa", "commonest"),
        ("abababababab", "commonest"),
        ("forager12345", "commonest"),
        ("correct horse battery staple", "commonest"),
        *((each, "commonest") for each in LIKE_COMMON_ONES),
    ],
)
def test_bad_ones_are_refused_with_a_sentence(password: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        reject_weak(password, "alice.example")
    assert password not in str(refused.value)


@pytest.mark.parametrize("password", ["4@8({[<369&#!10$5+7%2" * 4, "Aa1!" * 32, "a" * 128, "s3cr3t" * 20])
def test_no_password_keeps_the_processor_busy(password: str) -> None:
    began = time.process_time()
    with contextlib.suppress(UsageError):
        reject_weak(password, "alice")
    assert time.process_time() - began < 1.0


@settings(max_examples=50)
@given(st.text(max_size=200), st.text(max_size=64))
def test_any_text_is_either_taken_or_refused(password: str, name: str) -> None:
    try:
        reject_weak(password, name)
    except UsageError:
        return
    assert SHORTEST <= len(normalize_password(password)) <= LONGEST


async def test_a_password_is_known_again_and_no_other_is(hasher: Hasher) -> None:
    stored = await hasher.hash(GOOD)
    assert stored.startswith("$argon2id$")
    assert GOOD not in stored
    assert stored != await hasher.hash(GOOD)
    assert await hasher.verify(GOOD, stored)
    for wrong in (GOOD.upper(), GOOD + " ", "", "x" * 100_000):
        assert not await hasher.verify(wrong, stored)


async def test_the_same_letters_from_another_keyboard_are_the_same(hasher: Hasher) -> None:
    assert await hasher.verify("cafe\u0301 au lait noir", await hasher.hash("caf\u00e9 au lait noir"))


async def test_nobody_has_no_password(hasher: Hasher) -> None:
    assert not await hasher.verify("nobody has this password", None)
    assert not await hasher.verify("anything", "no hash at all")


def test_the_parameters_are_those_owasp_asks_for() -> None:
    stored = Hasher()._argon2.hash(GOOD)
    assert "$m=19456,t=2,p=1$" in stored
    assert Hasher().needs_rehash(stored.replace("t=2", "t=1"))
    assert not Hasher().needs_rehash(stored)


async def test_asking_for_nobody_takes_as_long_as_for_somebody() -> None:
    hasher = Hasher()
    stored = await hasher.hash(GOOD)
    await hasher.verify(GOOD, None)

    async def work_of(of: str | None) -> float:
        """Processor time, because others may be using the machine."""
        began = time.process_time()
        await hasher.verify("wrong password here", of)
        return time.process_time() - began

    pairs = [(await work_of(stored), await work_of(None)) for _ in range(7)]
    somebody, nobody = (min(times) for times in zip(*pairs, strict=True))
    assert 0.5 < nobody / somebody < 2.0


async def test_the_loop_goes_on_while_passwords_are_hashed_and_too_many_are_sent_away() -> None:
    hasher = Hasher()
    crowd = [asyncio.create_task(hasher.hash(GOOD)) for _ in range(MOST_WAITING + THREADS + 5)]
    began = time.perf_counter()
    await asyncio.sleep(0)
    assert time.perf_counter() - began < 0.5
    done = await asyncio.gather(*crowd, return_exceptions=True)
    assert sum(isinstance(each, TooManyLoginsError) for each in done) == 5
    assert sum(isinstance(each, str) for each in done) == MOST_WAITING + THREADS
    assert await hasher.hash(GOOD)
