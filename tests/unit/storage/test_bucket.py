"""Whom a bucket's client asks: Amazon where nobody else is named, in the region that is."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from forager.storage.bucket import connect, parse_bucket

KEYS = {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"}  # not a real one: nothing is asked here


@pytest.mark.parametrize(
    ("given", "host"),
    [
        ({}, "s3.us-east-1.amazonaws.com"),
        ({"region": "eu-central-1"}, "s3.eu-central-1.amazonaws.com"),
        ({"endpoint": "https://s3.example.com", "region": "eu-central-1"}, "s3.example.com"),
    ],
)
def test_who_is_asked(given: dict[str, str], host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obstore = pytest.importorskip("obstore")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    bucket = parse_bucket("s3://crawl/backups", environ={}, **given)
    asked = obstore.sign(connect(bucket), "GET", "manifest.json", timedelta(minutes=1))
    parts = urlsplit(asked)
    assert (parts.hostname, parts.path) == (host, "/crawl/backups/manifest.json")
