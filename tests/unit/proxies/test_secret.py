"""Passwords at rest: only the key opens them, keys can be replaced, and nothing says one aloud."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.config.cipher import PasswordCipher
from forager.config.commands import describe
from forager.config.loader import load
from forager.errors import ConfigurationError

KEY, OTHER = "8f2c1de07b94a6350d7ecb15f93a42e8", "c41b0e7a9d5286f3e70b18d4a6f25c9301234567"


@given(st.text(max_size=255))
def test_what_is_sealed_can_be_opened_and_is_not_in_the_clear(password: str) -> None:
    sealed = PasswordCipher([KEY]).encrypt(password)
    assert PasswordCipher([KEY]).open(sealed, "proxy 1") == password
    assert len(password) < 4 or password not in sealed


def test_the_same_password_never_looks_the_same() -> None:
    assert PasswordCipher([KEY]).encrypt("secret") != PasswordCipher([KEY]).encrypt("secret")


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(ConfigurationError, match="proxy 7 cannot be read with the secret_key that is set"):
        PasswordCipher([OTHER]).open(PasswordCipher([KEY]).encrypt("secret"), "proxy 7")


def test_without_a_key_nothing_is_sealed_or_opened() -> None:
    with pytest.raises(ConfigurationError, match="no secret_key is set: set FORAGER_SECRET_KEY"):
        PasswordCipher([]).encrypt("secret")
    with pytest.raises(ConfigurationError, match="proxy 7 cannot be read because no secret_key is set"):
        PasswordCipher([]).open(PasswordCipher([KEY]).encrypt("secret"), "proxy 7")


def test_a_key_is_replaced_in_three_steps() -> None:
    sealed = PasswordCipher([KEY]).encrypt("secret")
    both = PasswordCipher([OTHER, KEY])
    assert both.open(sealed, "proxy 1") == "secret"
    resealed = both.rotate_secret(sealed, "proxy 1")
    assert PasswordCipher([OTHER]).open(resealed, "proxy 1") == "secret"
    with pytest.raises(ConfigurationError):
        PasswordCipher([KEY]).open(resealed, "proxy 1")


def test_a_damaged_password_is_refused() -> None:
    sealed = PasswordCipher([KEY]).encrypt("secret")
    with pytest.raises(ConfigurationError):
        PasswordCipher([KEY]).open(sealed[:-4] + "AAAA", "proxy 1")


# The setting ----------------------------------------------------------------------------------------------------------


def test_keys_are_a_list_and_are_shown_to_nobody() -> None:
    settings = load({}, {"FORAGER_SECRET_KEY": f"{OTHER}, {KEY}"})
    assert settings.secret_key == (OTHER, KEY)
    shown = {row["name"]: row["value"] for row in describe(settings, set())}
    assert shown["secret_key"] == "***"
    assert KEY not in f"{settings!r} {settings} {shown}"


@pytest.mark.parametrize(
    "key",
    [
        *(
            "a" * 32,
            "ab" * 16,
            "0123456789abcdef" * 2,
            "changemechangemechangemechangeme!",
            "abcdefghijklmnopqrstuvwxyz0123456",
        ),
        *(
            "your-secret-key-goes-here-please-1",
            "supersecretkey-8f2c1de07b94a6350d7e",
            "deadbeefcafebabe8f2c1de07b94a635",
        ),
    ],
)
def test_a_key_that_can_be_guessed_is_refused(key: str) -> None:
    with pytest.raises(ConfigurationError, match="this one can be guessed") as caught:
        load({}, {"FORAGER_SECRET_KEY": key})
    assert key not in str(caught.value)


def test_a_weak_key_can_be_replaced() -> None:
    """It opens what it sealed until that is sealed anew; only the first key seals."""
    strong, weak = "c41b0e7a9d5286f3e70b18d4a6f25c93", "deadbeefcafebabe8f2c1de07b94a635"
    assert load({}, {"FORAGER_SECRET_KEY": f"{strong},{weak}"}).secret_key == (strong, weak)
    with pytest.raises(ConfigurationError, match="this one can be guessed"):
        load({}, {"FORAGER_SECRET_KEY": f"{weak},{strong}"})


@given(st.binary(min_size=16, max_size=64))
def test_what_is_random_is_taken(noise: bytes) -> None:
    """As `openssl rand -hex` and `-base64` print it."""
    key = hashlib.sha256(noise).hexdigest()
    assert load({}, {"FORAGER_SECRET_KEY": key}).secret_key == (key,)


def test_a_short_key_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError, match="at least 32 characters") as caught:
        load({}, {"FORAGER_SECRET_KEY": "hunter2"})
    assert "hunter2" not in str(caught.value)
