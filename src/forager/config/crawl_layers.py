"""The layers of crawl settings: the instance's defaults, and stored layers with their secrets encrypted."""

import json
from collections.abc import Mapping
from typing import Any

from forager.config.cipher import PasswordCipher
from forager.config.crawl_settings import SECRETS, CrawlSettings
from forager.config.settings import Settings
from forager.fetch.models import Rendering
from forager.images.models import ImagePolicy
from forager.storage.policy import ContentPolicy

SEALED = "sealed:"
"""Prefix of an encrypted value in storage."""


def defaults_of(settings: Settings) -> CrawlSettings:
    """Returns the defaults of an instance: the lowest layer."""
    return CrawlSettings(
        max_depth=settings.crawl.max_depth,
        sitemaps=settings.crawl.sitemaps,
        feeds=settings.crawl.feeds,
        max_pages_per_template=settings.crawl.max_pages_per_template or None,
        max_new_urls_per_second=settings.crawl.max_new_urls_per_second or None,
        delay=settings.politeness.delay,
        concurrency=settings.politeness.max_requests_per_domain,
        refresh_every=settings.refresh.interval if settings.refresh.enabled else None,
        rendering=Rendering(settings.browser.rendering),
        content=ContentPolicy(settings.storage.content_policy),
        images=ImagePolicy(settings.images.policy),
        search_words=settings.search.words_per_page,
    )


def dump_layer(values: Mapping[str, Any], cipher: PasswordCipher) -> str:
    """Returns a layer as it is stored, with its secrets encrypted."""
    return json.dumps({name: _seal(name, value, cipher) for name, value in values.items()}, sort_keys=True)


def load_layer(text: str, cipher: PasswordCipher, whose: str) -> dict[str, Any]:
    """Reads a stored layer and decrypts its secrets. `whose` is named in the error when a key is missing."""
    return open_layer(json.loads(text), cipher, whose)


def open_layer(values: Mapping[str, Any], cipher: PasswordCipher, whose: str) -> dict[str, Any]:
    """Decrypts the secrets of a stored layer."""
    return {name: _open(value, cipher, f"{name} of {whose}") for name, value in values.items()}


def _seal(name: str, value: Any, cipher: PasswordCipher) -> Any:
    if name not in SECRETS or not value or (isinstance(value, str) and value.startswith(SEALED)):
        return value
    return SEALED + cipher.encrypt(json.dumps(value))


def _open(value: Any, cipher: PasswordCipher, whose: str) -> Any:
    if isinstance(value, str) and value.startswith(SEALED):
        return json.loads(cipher.open(value.removeprefix(SEALED), whose))
    return value
