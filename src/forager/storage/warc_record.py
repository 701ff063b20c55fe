"""Records of WARC 1.1, each a separate gzip member, as standard tools read them. Pure.

A body is stored as it was read: decompressed, not chunked. Headers that said otherwise are kept under another name
(`X-Crawler-…`), so that the record is a valid HTTP message. The payload digest is SHA-256 of that body.
"""

import hashlib
import uuid
from base64 import b32encode
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import NamedTuple

from isal import igzip_lib

from forager.errors import StoreError
from forager.fetch.models import Fetched
from forager.storage.cdxj import index_line
from forager.storage.models import StoredBody
from forager.storage.policy import ContentPolicy

LEVEL = 2
"""ISA-L: 154 µs for a page of 44 KB; zlib's default 6 takes 1,160 and gains nothing."""
NOT_AS_SENT = frozenset({b"content-encoding", b"transfer-encoding", b"content-length"})
BAD_IN_A_LINE = bytes.maketrans(b"\r\n\0", b"   ")
IN_ONE_LINE = {ord(character): " " for character in "\r\n\0"}
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
REFERS_TO = "Forager-Refers-To"
"""Our own field: the location of a revisit's body, so that it is found without an index."""
MOST_BYTES = 256 * 1024 * 1024


class Original(NamedTuple):
    """A record whose body another record refers to."""

    ref: str
    digest: str
    url: str
    date: str


class Record(NamedTuple):
    headers: dict[str, str]
    """Header names as they are written."""
    block: bytes

    @property
    def kind(self) -> str:
        return self.headers.get("WARC-Type", "")


def digest_of(body: bytes) -> str:
    return "sha256:" + b32encode(hashlib.sha256(body).digest()).decode()


def date_of(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def pack(fetched: Fetched, at: datetime, original: Original | None = None, *, digest: str | None = None) -> StoredBody:
    """Returns the records of one visit. With an original the body is not written again: it is the same, or was not
    sent. `digest` is that of the body, if the caller knows it already."""
    request_id, date = _new_id(), date_of(at)
    is_confirmed = fetched.status_code == HTTPStatus.NOT_MODIFIED
    digest = original.digest if original else digest or digest_of(fetched.body)
    fields = {"WARC-Date": date, "WARC-Target-URI": fetched.url, "WARC-Concurrent-To": request_id}
    head = _http_head(fetched, None if is_confirmed else len(fetched.body))
    if original is not None:
        blob = _revisit(fields, head, digest, original, NOT_MODIFIED if is_confirmed else IDENTICAL)
    else:
        if fetched.is_truncated or fetched.status_code >= 300:  # the body of a redirect is never read
            fields["WARC-Truncated"] = "unspecified"
        blob = _member("response", fields | {"WARC-Payload-Digest": digest}, head + fetched.body)
    return StoredBody(
        ContentPolicy.ARCHIVE,
        digest,
        len(fetched.body),
        blob,
        lead=_request(fetched, date, request_id),
        index=index_line(fetched.url, at, fetched.status_code, fetched.content_type, digest, is_revisit=bool(original)),
        origin=(fetched.url, date) if original is None and fetched.body else None,
        is_body=original is not None or bool(fetched.body),
    )


def resource(fetched: Fetched, at: datetime) -> bytes:
    """Returns a record of a body stored with only the headers that parsing needs: the response's other headers are no
    longer known."""
    digest = digest_of(fetched.body)
    fields = {
        "WARC-Date": date_of(at),
        "WARC-Target-URI": fetched.url,
        "Content-Type": fetched.headers.get("content-type", "application/octet-stream").translate(IN_ONE_LINE),
        "WARC-Payload-Digest": digest,
        "WARC-Block-Digest": digest,
    }
    return _member("resource", fields, fetched.body)


def info(name: str, at: datetime, *, software: str, user_agent: str) -> bytes:
    """Returns the first record of a file."""
    lines = {
        "software": software,
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": user_agent,
        "robots": "obey",
    }
    block = "".join(f"{key}: {value}\r\n" for key, value in lines.items()).encode()
    fields = {"WARC-Date": date_of(at), "WARC-Filename": name, "Content-Type": "application/warc-fields"}
    return _member("warcinfo", fields, block)


def read(member: bytes) -> Record:
    """Parses one record from its gzip member. Raises StoreError for anything else."""
    stream = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
    try:
        content = stream.decompress(member, MOST_BYTES)
    except Exception as error:
        raise StoreError("A record of the archive cannot be decompressed.", "damaged") from error
    head, gap, rest = content.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8", "replace").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines if ": " in line)
    length = headers.get("Content-Length", "")
    if not (stream.eof and gap and version.startswith("WARC/1.") and length.isdigit() and len(rest) == int(length) + 4):
        raise StoreError("A record of the archive is damaged.", "damaged")
    return Record(headers, rest[:-4])


def to_fetched(record: Record, body: bytes | None = None) -> Fetched:
    """Returns the response that a response record holds, or a revisit with the body it refers to. The digest is
    verified."""
    head, _, stored = record.block.partition(b"\r\n\r\n")
    body = stored if body is None else body
    if digest_of(body) != record.headers.get("WARC-Payload-Digest", digest_of(body)):
        raise StoreError("A body of the archive is not what its digest says.", "damaged")
    status_line, *lines = head.split(b"\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        raw_name, _, raw = line.partition(b":")
        name, value = raw_name.decode("latin-1").lower(), raw.strip().decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Fetched(
        record.headers.get("WARC-Target-URI", ""),
        int(status_line.split(b" ")[1]),
        headers,
        body,
        len(body),
        0,
        is_truncated="WARC-Truncated" in record.headers,
    )


def _request(fetched: Fetched, date: str, request_id: str) -> bytes:
    if fetched.raw is None:
        return b""
    fields = {"WARC-Date": date, "WARC-Target-URI": fetched.url}
    return _member("request", fields, fetched.raw.request, record_id=request_id)


def _revisit(fields: dict[str, str], head: bytes, digest: str, original: Original, profile: str) -> bytes:
    refers = {
        "WARC-Payload-Digest": digest,
        "WARC-Profile": profile,
        "WARC-Refers-To-Target-URI": original.url,
        "WARC-Refers-To-Date": original.date,
        REFERS_TO: original.ref,
    }
    return _member("revisit", fields | refers, head)


def _http_head(fetched: Fetched, length: int | None) -> bytes:
    lines = [_status_line(fetched.status_code)]
    for name, value in _headers(fetched):
        prefix = b"X-Crawler-" if name.lower() in NOT_AS_SENT else b""
        lines.append(prefix + name.translate(BAD_IN_A_LINE) + b": " + value.translate(BAD_IN_A_LINE))
    if length is not None:
        lines.append(b"Content-Length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _headers(fetched: Fetched) -> Iterator[tuple[bytes, bytes]]:
    if fetched.raw is not None:
        yield from fetched.raw.headers
    else:
        for name, value in fetched.headers.items():
            yield name.encode("latin-1", "replace"), value.encode()


def _status_line(status_code: int) -> bytes:
    try:
        phrase = HTTPStatus(status_code).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status_code} {phrase}".rstrip().encode()


def _member(kind: str, fields: dict[str, str], block: bytes, *, record_id: str = "") -> bytes:
    type_of_http = f"application/http; msgtype={'request' if kind == 'request' else 'response'}"
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": record_id or _new_id(),
        "Content-Type": type_of_http,
        **fields,
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    record = b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"
    return igzip_lib.compress(record, LEVEL, igzip_lib.COMP_GZIP)


def _new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"
