"""Crawl settings: layers as people write them, and which layer wins."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.config.cipher import PasswordCipher
from forager.config.crawl_layers import SEALED, defaults_of, dump_layer, load_layer
from forager.config.crawl_settings import (
    ALIASES,
    DEFAULT_SETTINGS,
    FIELDS,
    HIDDEN,
    SECRETS,
    CrawlSettings,
    changed_names,
    choices_of,
    describe_changes,
    read_layer,
    resolve,
    restore_hidden,
    show_settings,
    show_value,
)
from forager.config.settings import Settings
from forager.errors import UsageError

CIPHER = PasswordCipher(["an instance's own key of 32 letters"])


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({"delay": "2s"}, {"delay": 2.0}),
        ({"delay": 2}, {"delay": 2.0}),
        ({"every": "6h"}, {"revisit_every": 21_600.0}),
        ({"revisit-every": "1d12h"}, {"revisit_every": 129_600.0}),
        ({"revisit_every": "never"}, {"revisit_every": None}),
        ({"max_pages": "none"}, {"max_pages": None}),
        ({"max-pages": "500", "max_pages_per": "week"}, {"max_pages": 500, "max_pages_per": "week"}),
        ({"scope": "page"}, {"scope": "page"}),
        ({"include": "*/a*,*/b*"}, {"include": ["*/a*", "*/b*"]}),
        ({"exclude": ["*/search*"]}, {"exclude": ["*/search*"]}),
        ({"window": "22:00 – 6:30"}, {"window": "22:00-06:30"}),
        ({"timezone": "Europe/Berlin"}, {"timezone": "Europe/Berlin"}),
        ({"headers": ["X-Key: a:b"]}, {"headers": {"X-Key": "a:b"}}),
        ({"headers": {"X-Key": "1"}}, {"headers": {"X-Key": "1"}}),
        ({"proxy_country": "de"}, {"proxy_country": "DE"}),
        ({"adaptive": "yes"}, {"adaptive": True}),
        ({"keep": "archive"}, {"content": "archive"}),
        ({"prefixes": ["HTTPS://Shop.example/Docs"]}, {"prefixes": ["https://shop.example/Docs"]}),
        ({"prefixes": "https://shop.example"}, {"prefixes": ["https://shop.example/"]}),
        ({"login_fields": ["user=ann"]}, {"login_fields": {"user": "ann"}}),
        ({"render_wait_for": "main:not(.busy) > p"}, {"render_wait_for": "main:not(.busy) > p"}),
        ({"username": "none", "token": "x"}, {"username": None, "token": "x"}),
        ({}, {}),
    ],
)
def test_a_layer_is_read_as_people_write_it(written: dict[str, Any], stored: dict[str, Any]) -> None:
    assert read_layer(written) == stored
    assert read_layer(stored) == stored, "what is stored can be read again"


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"dleay": 1}, "no crawl setting 'dleay'. Did you mean 'delay'"),
        ({"delay": "soon"}, "is not a duration"),
        ({"delay": -1}, "greater than or equal to 0"),
        ({"delay": "2d"}, "less than or equal to 86400"),
        ({"scope": "everything"}, "'page', 'prefix', 'host', 'domain' or 'any'"),
        ({"max_pages": 0}, "greater than or equal to 1"),
        ({"max_pages_per": "month"}, "'run', 'day' or 'week'"),
        ({"window": "25:00-06:00"}, "is no window"),
        ({"window": "06:00-06:00"}, "would never close or never open"),
        ({"timezone": "Mars/Olympus"}, "is no time zone"),
        ({"headers": {"Host": "x"}}, "written by the HTTP client"),
        ({"headers": {"X": "a\r\nY: b"}}, "control character"),
        ({"headers": {"bad name": "x"}}, "no name of a header"),
        ({"cookies": {"a": "b; c"}}, "no cookie that can be sent"),
        ({"proxy_country": "Germany"}, "is no country"),
        ({"worker_label": "E U"}, "worker_label"),
        ({"every": "1d", "revisit_every": "2d"}, "the same setting"),
        ({"include": [""]}, "between 1 and 2,000"),
        ({"allow_networks": ["10.0.0.0/99"]}, "is not a network"),
        ({"login_url": "ftp://x/"}, "must start with"),
        ({"prefixes": ["notaurl"]}, "prefixes: 'notaurl' is no URL of a folder; write it like https://"),
        ({"prefixes": "https://a.example/x,/docs/"}, "'/docs/' is no URL of a folder"),
        ({"render_wait_for": "###["}, 'render_wait_for: invalid CSS selector "###["'),
        ({"render_click": [".more", "a >"]}, 'render_click: invalid CSS selector "a >"'),
        ({"username": "ann", "token": "geheim"}, "username and token exclude each other"),
        ({"login_fields": "x"}, 'login_fields: write a table of names and values, such as { user = "alice" }'),
        ({"headers": 5}, "headers: write a table of names and values"),
    ],
)
def test_what_is_wrong_is_said_and_named(written: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)) as caught:
        read_layer(written)
    assert caught.value.field


def test_a_value_of_the_domain_wins_over_the_profile_and_that_over_the_default() -> None:
    found = resolve(DEFAULT_SETTINGS, {"delay": 2.0, "max_pages": 5}, {"delay": 3.0}, profile_name="shops")
    assert (found.settings.delay, found.settings.max_pages, found.settings.concurrency) == (3.0, 5, 5)
    origins = {row["name"]: row["origin"] for row in show_settings(found)}
    assert (origins["delay"], origins["max_pages"], origins["concurrency"]) == ("domain", "profile shops", "default")
    assert set(origins) == set(FIELDS)


def test_a_domain_may_take_back_what_its_profile_limits() -> None:
    found = resolve(DEFAULT_SETTINGS, {"max_pages": 5}, {"max_pages": None}, profile_name="shops")
    assert (found.settings.max_pages, found.origins["max_pages"]) == (None, "domain")


def test_the_instance_has_the_last_word_where_nothing_was_chosen() -> None:
    settings = Settings.of(politeness_delay=7.0, crawl_max_depth=3, images_policy="download", refresh_enabled=False)
    defaults = defaults_of(settings)
    assert (defaults.delay, defaults.max_depth, defaults.images, defaults.refresh_every) == (7.0, 3, "download", None)


@given(st.sampled_from(sorted(FIELDS)))
def test_every_default_can_be_shown_written_and_read_again(name: str) -> None:
    value = getattr(DEFAULT_SETTINGS, name)
    shown = show_value(name, value)
    if name not in SECRETS and shown is not None:
        assert getattr(CrawlSettings.model_validate(read_layer({name: shown})), name) == value
    assert FIELDS[name].description
    assert describe_changes({name: value}).startswith(name)


def test_other_words_name_settings_that_exist() -> None:
    assert set(ALIASES.values()) <= set(FIELDS)
    assert not set(ALIASES) & set(FIELDS)
    assert choices_of("scope") == ("page", "prefix", "host", "domain", "any")


def test_secrets_are_encrypted_at_rest_and_never_shown() -> None:
    layer = read_layer({"password": "hunter2", "headers": {"X-Key": "geheim"}, "username": "ann", "delay": 1})
    stored = dump_layer(layer, CIPHER)
    assert "hunter2" not in stored
    assert "geheim" not in stored
    assert stored.count(SEALED) == 2
    assert load_layer(stored, CIPHER, "a.example") == layer
    shown = [show_value(name, value) for name, value in layer.items()]
    assert "hunter2" not in str(shown)
    assert "geheim" not in str(shown)
    assert "hunter2" not in repr(CrawlSettings.model_validate(layer))
    assert "hunter2" not in describe_changes(layer)


def test_what_differs_between_two_layers() -> None:
    assert list(changed_names({"delay": 1.0, "scope": "host"}, {"delay": 2.0, "scope": "host"})) == ["delay"]
    assert list(changed_names({"max_pages": None}, {})) == ["max_pages"]
    assert list(changed_names({}, {})) == []


def test_hidden_values_are_restored_from_what_is_stored() -> None:
    stored = {"headers": {"X-Key": "first", "X-Gone": "second"}, "token": "third"}
    given = {"headers": {"X-Key": HIDDEN, "X-New": "fourth"}, "token": HIDDEN, "user_agent": HIDDEN, "delay": "2s"}
    assert restore_hidden(given, stored) == {
        "headers": {"X-Key": "first", "X-New": "fourth"},
        "token": "third",
        "user_agent": HIDDEN,
        "delay": "2s",
    }
    for lost in ({"password": HIDDEN}, {"headers": {"X-Lost": HIDDEN}}, {"token": {"a": HIDDEN}}):
        with pytest.raises(UsageError, match="none is stored"):
            restore_hidden(lost, stored)
