"""A mistake about the bucket is one sentence at once: what, where, what to do. No key is ever repeated."""

import os
import sys

import pytest
from tests.acceptance.stage import Forager
from tests.integration.objects.server import ACCESS_KEY, BUCKET, SECRET_KEY, ObjectServer

from forager.config.loader import load
from forager.errors import ConfigurationError, StoreError
from forager.explain import check_bodies
from forager.storage.bucket import KEYS, connect, parse_bucket, probe_bucket
from forager.storage.objects import BucketLocation

CONFIGURATION = 4


@pytest.fixture
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("url", "environ", "said"),
    [
        (f"s3://{BUCKET}", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "refuses our credentials for s3://bodies (Signature"),
        (f"s3://{BUCKET}", {"AWS_ACCESS_KEY_ID": "nobody"}, "refuses our credentials for s3://bodies (InvalidAccess"),
        ("s3://no-such-bucket/x", {}, "There is no bucket 'no-such-bucket' at http://127."),
        (f"s3://{BUCKET}", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "Nobody answers at http://127.0.0.1:9 for"),
        (f"s3://{BUCKET}", {"AWS_ENDPOINT_URL": "127.0.0.1:9"}, "The S3 endpoint '127.0.0.1:9' is no URL"),
    ],
)
def test_each_mistake_is_told(
    objects: ObjectServer, url: str, environ: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as told:
        probe_bucket(parse_bucket(url))
    sentence = str(told.value)
    assert said in sentence
    assert "\n" not in sentence
    assert SECRET_KEY not in sentence
    assert ACCESS_KEY not in sentence.replace("AWS_ACCESS_KEY_ID", "")


def test_a_right_bucket_is_no_mistake(objects: ObjectServer) -> None:
    probe_bucket(parse_bucket(f"s3://{BUCKET}/any/folder"))


@pytest.mark.parametrize("url", ["s3://", "s3://A_b", "s3://x", "s3://bucket//x", "s3://bucket/../x", "s3://b ucket"])
def test_what_names_no_bucket_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="names no bucket"):
        parse_bucket(url)


def test_another_scheme_is_refused_by_the_settings() -> None:
    with pytest.raises(ConfigurationError, match=r"must start with s3://"):
        load({"storage.bucket": "/srv/bodies"}, {})


@pytest.mark.usefixtures("without_keys")
def test_nobody_is_asked_for_keys_that_were_not_given() -> None:
    """The library would ask the address where clouds hand them out."""
    assert not any(os.environ.get(name) for name in KEYS)
    with pytest.raises(ConfigurationError, match="There are no credentials for s3://bodies: set AWS_ACCESS_KEY_ID"):
        connect(parse_bucket(f"s3://{BUCKET}"))


def test_without_the_library_it_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(ConfigurationError, match=r"'\.\[s3\]'` in a clone of Forager, or `pip install 'obstore'`"):
        connect(parse_bucket(f"s3://{BUCKET}"))


@pytest.mark.parametrize(
    "command",
    [("crawl", "http://127.77.0.1/"), ("check",), ("storage",), ("worker",)],
    ids=lambda command: command[0],
)
def test_commands_say_it_before_they_begin(objects: ObjectServer, forager: Forager, command: tuple[str, ...]) -> None:
    environ = objects.environ | {"FORAGER_STORAGE_BUCKET": f"s3://{BUCKET}", "AWS_SECRET_ACCESS_KEY": "a wrong one"}
    ended = forager.run(*command, **environ)
    assert ended.returncode == CONFIGURATION, ended.stderr
    assert "refuses our credentials for s3://bodies (SignatureDoesNotMatch): correct AWS_ACCESS_KEY_ID" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "a wrong one" not in ended.stderr


def test_who_gets_no_answer_takes_no_body_for_missing(objects: ObjectServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    place = BucketLocation(parse_bucket(f"s3://{BUCKET}"))
    with pytest.raises(StoreError, match="Nobody answers"):
        check_bodies._look_at(
            [f"{number:064x}" for number in range(500)], lambda name: check_bodies._of_body(place, name, 0)
        )
