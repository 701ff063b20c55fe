"""Connects to a bucket of an S3-compatible object store, and translates its errors.

Credentials come from the environment, as for other S3 tools, and are never requested from a machine that was not
configured: the library would otherwise query the metadata address of cloud providers. Retries use exponential backoff
with jitter.
"""

import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from forager.config.extras import install_hint
from forager.errors import ConfigurationError, StoreError

if TYPE_CHECKING:
    from obstore.store import RetryConfig, S3Config, S3Store

URL = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([A-Za-z0-9][A-Za-z0-9._/-]{0,199}))?")
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGION = "us-east-1"
KEYS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
)
"""Any of these provides credentials, or a source of them."""
REQUEST_S, UPLOAD_S, CONNECT_S = 20, 300, 5
"""Timeouts for a body, for one part of a large file, and for connecting."""
RETRIES = 4
RETRY: "RetryConfig" = {
    "max_retries": RETRIES,
    "retry_timeout": timedelta(seconds=REQUEST_S),
    "backoff": {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=2), "base": 2},
}
REFUSED_KEYS = ("SignatureDoesNotMatch", "InvalidAccessKeyId", "InvalidToken", "ExpiredToken", "TokenRefreshRequired")
NEVER_ANSWERED = ("error sending request", "operation timed out", "connection", "error decoding response body")
CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,60})</Code>")
STATUS = re.compile(r"status code: ([0-9]{3})")


class Bucket(NamedTuple):
    name: str
    prefix: str
    endpoint: str | None
    """None: Amazon's endpoint for the region."""
    region: str | None

    def __str__(self) -> str:
        return f"s3://{self.name}/{self.prefix}".rstrip("/")

    @property
    def door(self) -> str:
        """Describes the server for messages."""
        return self.endpoint or f"Amazon S3 in {self.region or REGION}"


def parse_bucket(
    url: str, *, endpoint: str | None = None, region: str | None = None, environ: Mapping[str, str] = os.environ
) -> Bucket:
    """Reads missing values from the environment. Raises ConfigurationError."""
    found = URL.fullmatch(url.rstrip("/"))
    prefix = (found[2] or "") if found else ""
    if found is None or any(part in {"", ".", ".."} for part in prefix.split("/") if prefix):
        raise ConfigurationError(f"{url!r} names no bucket: write it like s3://bucket or s3://bucket/folder.")
    endpoint = endpoint or next((environ[name] for name in ENDPOINTS if environ.get(name)), None)
    if endpoint and not endpoint.startswith(("https://", "http://")):
        raise ConfigurationError(
            f"The S3 endpoint {endpoint!r} is no URL: write it like https://s3.example.com (storage.s3_endpoint,"
            " or AWS_ENDPOINT_URL)."
        )
    region = region or next((environ[name] for name in REGIONS if environ.get(name)), None)
    return Bucket(found[1], prefix, endpoint, region)


def connect(bucket: Bucket, *, timeout_s: int = REQUEST_S, environ: Mapping[str, str] = os.environ) -> "S3Store":
    """Returns a client for the bucket; sends no request yet. Raises ConfigurationError."""
    try:
        from obstore.store import S3Store
    except ImportError:
        raise ConfigurationError(
            f"{bucket} needs a library that is not installed: {install_hint('s3', 'obstore')}."
        ) from None
    if not any(environ.get(name) for name in KEYS):
        raise ConfigurationError(
            f"There are no credentials for {bucket}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the"
            " environment."
        )
    where: S3Config = {"region": bucket.region or REGION}
    if bucket.endpoint:  # the library does not accept None for "Amazon's own"
        where["endpoint"] = bucket.endpoint
    return S3Store(
        bucket.name,
        prefix=bucket.prefix or None,
        config=where,
        client_options={
            "allow_http": bool(bucket.endpoint and bucket.endpoint.startswith("http://")),
            "timeout": timedelta(seconds=timeout_s),
            "connect_timeout": timedelta(seconds=CONNECT_S),
            "user_agent": "Forager",
        },
        retry_config=RETRY,
    )


def translate_error(error: Exception, bucket: Bucket, what: str = "") -> StoreError:
    """Returns one sentence: what failed, where, what to do. Of the response only its code is repeated."""
    text = str(error).partition("\nDebug source")[0]
    code = found[1] if (found := CODE.search(text)) else ""
    status = int(found[1]) if (found := STATUS.search(text)) else 0
    place = f"{what} in {bucket}" if what else str(bucket)
    if code == "NoSuchBucket":
        return StoreError(
            f"There is no bucket {bucket.name!r} at {bucket.door}: create it, or correct the setting.", "no_bucket"
        )
    if code in REFUSED_KEYS or status == 401:
        return StoreError(
            f"{bucket.door} refuses our credentials for {bucket} ({code or status}): correct AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY.",
            "store_refused",
        )
    if status == 403:
        return StoreError(
            f"{bucket.door} does not let us at {place} ({code or status}): give the key leave to list, read, write and"
            " delete there.",
            "store_refused",
        )
    if isinstance(error, FileNotFoundError):
        return StoreError(f"{place} is not there.", "missing")
    if (status in {301, 307, 400} and "Region" in text) or code == "PermanentRedirect":
        return StoreError(f"{bucket} is in another region: correct storage.s3_region, or AWS_REGION.", "store_refused")
    if status >= 500 or status == 429:
        return StoreError(f"{bucket.door} has trouble of its own with {place} ({code or status}).", "store_away")
    if not status and any(sign in text for sign in NEVER_ANSWERED):
        return StoreError(
            f"Nobody answers at {bucket.door} for {place}: see that it runs and can be reached from here.",
            "store_away",
        )
    return StoreError(f"{place}: {code or status or text.strip().splitlines()[0][:200]}.", "store_error")


def probe_bucket(bucket: Bucket) -> None:
    """Sends one request that fails for every mistake in the settings. Raises ConfigurationError."""
    from obstore.exceptions import BaseError

    try:
        next(iter(connect(bucket).list(chunk_size=1)), None)
    except (BaseError, OSError) as error:
        raise ConfigurationError(str(translate_error(error, bucket))) from None
