"""Builds the location of bodies and images from Settings: the data folder, a bucket, or the place of a
plug-in."""

from contextlib import AbstractContextManager

from forager.config.settings import Settings
from forager.plugins.config import use_plugins
from forager.storage.body_store import FOLDER, BodyStore, open_location, open_store
from forager.storage.body_store import open_readonly_store as open_to_read
from forager.storage.bucket import Bucket, parse_bucket, probe_bucket
from forager.storage.location import Location
from forager.storage.plugin_location import PluginLocation, plugin_location

S3 = "s3://"


def bucket_at(settings: Settings, url: str) -> Bucket:
    """Returns the bucket; all buckets of an instance are on one server. Raises ConfigurationError."""
    return parse_bucket(url, endpoint=settings.storage.s3_endpoint, region=settings.storage.s3_region)


def bucket_of(settings: Settings) -> Bucket | PluginLocation | None:
    """Returns where new bodies go if that is not the data folder: a bucket, or the place of a plug-in."""
    url = settings.storage.bucket
    if url is None or url.startswith(S3):
        return bucket_at(settings, url) if url is not None else None
    return plugin_location(use_plugins(settings), url)


def get_location(settings: Settings) -> Location:
    return open_location(settings.home, bucket_of(settings))


def open_body_store(settings: Settings) -> AbstractContextManager[BodyStore]:
    return open_store(
        settings.home,
        bucket=bucket_of(settings),
        user_agent=settings.agent_header,
        warc_bytes=settings.storage.warc_max_size,
        warc_age_s=settings.storage.warc_max_age,
    )


def open_readonly_store(settings: Settings) -> BodyStore:
    return open_to_read(settings.home, bucket_of(settings))


def where_bodies_go(settings: Settings) -> str:
    return settings.storage.bucket or str(settings.home / FOLDER)


def check_bucket(settings: Settings) -> None:
    """Checks the bucket before work that needs it begins, so that a mistake in the settings is reported at once, in one
    sentence. Raises ConfigurationError."""
    bucket = bucket_of(settings)
    if isinstance(bucket, PluginLocation):
        bucket.probe()
    elif bucket is not None:
        probe_bucket(bucket)
