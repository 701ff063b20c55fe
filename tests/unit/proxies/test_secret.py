"""Passwords at rest: only the key opens them, keys can be replaced, and nothing says one aloud."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.cli.settings import describe
from forager.errors import ConfigurationError
from forager.proxies.secret import Vault
from forager.settings import load

KEY, OTHER = "k" * 32, "o" * 40


@given(st.text(max_size=255))
def test_what_is_sealed_can_be_opened_and_is_not_in_the_clear(password: str) -> None:
    sealed = Vault([KEY]).seal(password)
    assert Vault([KEY]).open(sealed, "proxy 1") == password
    assert len(password) < 4 or password not in sealed


def test_the_same_password_never_looks_the_same() -> None:
    assert Vault([KEY]).seal("secret") != Vault([KEY]).seal("secret")


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(ConfigurationError, match="proxy 7 cannot be read with the secret_key that is set"):
        Vault([OTHER]).open(Vault([KEY]).seal("secret"), "proxy 7")


def test_without_a_key_nothing_is_sealed_or_opened() -> None:
    with pytest.raises(ConfigurationError, match="no secret_key is set: set FORAGER_SECRET_KEY"):
        Vault([]).seal("secret")
    with pytest.raises(ConfigurationError, match="proxy 7 cannot be read because no secret_key is set"):
        Vault([]).open(Vault([KEY]).seal("secret"), "proxy 7")


def test_a_key_is_replaced_in_three_steps() -> None:
    sealed = Vault([KEY]).seal("secret")
    both = Vault([OTHER, KEY])
    assert both.open(sealed, "proxy 1") == "secret"
    resealed = both.reseal(sealed, "proxy 1")
    assert Vault([OTHER]).open(resealed, "proxy 1") == "secret"
    with pytest.raises(ConfigurationError):
        Vault([KEY]).open(resealed, "proxy 1")


def test_a_damaged_password_is_refused() -> None:
    sealed = Vault([KEY]).seal("secret")
    with pytest.raises(ConfigurationError):
        Vault([KEY]).open(sealed[:-4] + "AAAA", "proxy 1")


# The setting ----------------------------------------------------------------------------------------------------------


def test_keys_are_a_list_and_are_shown_to_nobody() -> None:
    settings = load({}, {"FORAGER_SECRET_KEY": f"{OTHER}, {KEY}"})
    assert settings.secret_key == (OTHER, KEY)
    shown = {row["name"]: row["value"] for row in describe(settings, set())}
    assert shown["secret_key"] == "***"
    assert KEY not in f"{settings!r} {settings} {shown}"


def test_a_short_key_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError, match="at least 32 characters") as caught:
        load({}, {"FORAGER_SECRET_KEY": "hunter2"})
    assert "hunter2" not in str(caught.value)
