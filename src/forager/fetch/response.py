"""Parses the bytes of one HTTP/1.1 response into status, headers and body. Decides what of it is read, and when it is
too large.

Never touches the network: the connection feeds it, and checks whether it may be reused.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from forager.errors import BadResponseError, ConnectionLostError, TooLargeError

MAX_HEADER_BYTES = 64 * 1024
MAX_HEADERS = 256
MAX_INTERIM = 16
MAX_IDLE_BYTES = 64 * 1024
"""Maximum number of consecutive bytes that are of no use. Around a wanted body these are chunk extensions and
trailers, and more is an attack. For an unwanted body, reading this much to its end is cheaper than opening the next
connection."""
BODILESS = frozenset({204, 304})
KNOWN_CODINGS = frozenset({"chunked", "identity"})


class Sniff(Protocol):
    """Decides by its first bytes whether a body is read whose content type says too little."""

    most_bytes: int

    def is_possible(self, content_type: str) -> bool:
        """Returns whether a body of this type may be wanted."""

    def is_wanted(self, head: bytes, content_encoding: str) -> bool | None:
        """Returns whether the body is wanted; None if that takes more bytes."""


class ResponseReader:
    """Reads one response. `is_done` means that nothing more is needed, `is_exact` that it ended where its message
    ended."""

    __slots__ = (
        "_has_head",
        "_head_bytes",
        "_idle_bytes",
        "_interim_count",
        "_is_drained",
        "_is_kept",
        "_length",
        "_limit",
        "_may_cut",
        "_parser",
        "_raw_headers",
        "_read_body",
        "_read_error",
        "_runs_to_eof",
        "_sniff",
        "_where",
        "body",
        "has_begun",
        "headers",
        "is_cut",
        "is_done",
        "is_exact",
        "set_cookies",
        "status_code",
    )

    def __init__(
        self,
        where: str,
        read_body: Callable[[str], bool],
        limit: int,
        *,
        may_cut: bool,
        sniff: Sniff | None = None,
        read_error: Callable[[int], bool] | None = None,
    ) -> None:
        """`read_body` decides by the content type, and where it declines, `sniff` by the first bytes. `read_error` says
        of which error statuses the beginning of the body is kept."""
        self._where = where
        self._sniff = sniff
        self._read_error = read_error
        self._is_kept = False
        """Whether the beginning of an unwanted body is kept: it is neither waited for nor too large."""
        self._length = 0
        self._read_body = read_body
        self._limit = limit
        self._may_cut = may_cut
        self._head_bytes = 0
        self._interim_count = 0
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._idle_bytes = 0
        self._has_head = False
        self._is_drained = False
        self._runs_to_eof = False
        self.status_code = 0
        self.headers: dict[str, str] = {}
        self.set_cookies: list[str] = []
        """Kept separate: their dates contain commas, so joined values could not be split again."""
        self.body = bytearray()
        self.has_begun = False
        self.is_cut = False
        self.is_done = False
        self.is_exact = False
        self._parser: HttpResponseParser | None = _make_parser(self)

    def feed(self, data: bytes) -> bool:
        """Returns whether the response is done. Raises an error as soon as one is detected."""
        self.has_begun = True
        if self._has_head:
            self._feed_body(data)
        else:
            self._feed_head(data)
        return self.is_done

    def end(self, reason: str) -> None:
        """Handles the end of the connection. Correct for a body without a length, too early for anything else,
        unless unwanted."""
        if self._is_drained or (self._runs_to_eof and not reason):
            self._finish()
            return
        when = "in the middle of the body" if self._has_head else "in the middle of the headers"
        raise ConnectionLostError(
            f"{self._where} hung up {when if self.has_begun else 'without an answer'}{reason and ': '}{reason}"
        )

    def finish_early(self) -> bool:
        """Returns whether the response is usable without the rest: an unwanted body is not waited for."""
        if self._is_drained:
            self._finish()
        return self.is_done

    def take_body(self) -> bytes:
        """Returns the body, once: the received bytes are not held twice."""
        body = bytes(self.body)
        self.body = bytearray()
        return body

    @property
    def raw_headers(self) -> list[tuple[bytes, bytes]]:
        """Returns the headers as they were sent, repeated ones separate."""
        return self._raw_headers

    def release(self) -> None:
        """Breaks the reference cycle with the parser, which would otherwise wait for the garbage collector."""
        self._parser = None

    def _feed_head(self, data: bytes) -> None:
        room = MAX_HEADER_BYTES - self._head_bytes
        self._head_bytes += len(data)
        self._parse(data[:room])
        if len(data) <= room:
            return
        if not self._has_head:
            raise BadResponseError(f"{self._where} sent more than {MAX_HEADER_BYTES:,} bytes of headers")
        self._feed_body(data[room:])

    def _feed_body(self, data: bytes) -> None:
        size_before = len(self.body)
        if self._parse(data):
            return
        self._idle_bytes = 0 if len(self.body) > size_before else self._idle_bytes + len(data)
        if self._idle_bytes <= MAX_IDLE_BYTES:
            return
        if not self._is_drained:
            raise BadResponseError(f"{self._where} sent more than {MAX_IDLE_BYTES:,} bytes around its body")
        self._finish()

    def _parse(self, data: bytes) -> bool:
        assert self._parser
        try:
            self._parser.feed_data(data)
        except HttpParserCallbackError as error:
            raise (error.__context__ or error) from None
        except (HttpParserError, HttpParserUpgrade) as error:
            if not self.is_done:
                raise BadResponseError(f"{self._where} does not answer in HTTP: {_printable(str(error))}") from error
            self._mark_extra_data()
        return self.is_done

    def on_message_begin(self) -> None:
        """Handles bytes after the end: a response to no request of ours."""
        if self.is_done:
            self._mark_extra_data()

    def _mark_extra_data(self) -> None:
        """Marks that more arrived than the message declared: its length may be wrong, so a body that was read may be
        incomplete."""
        self.is_exact = False
        self.is_cut = self.is_cut or bool(self.body)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._has_head:
            return
        if len(self._raw_headers) >= MAX_HEADERS:
            raise BadResponseError(f"{self._where} sent more than {MAX_HEADERS} headers")
        self._raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        assert self._parser
        status_code = self._parser.get_status_code()
        if self._has_head or 100 <= status_code < 200:
            return
        if status_code < 100:
            raise BadResponseError(f"{self._where} does not answer in HTTP: there is no status {status_code}")
        self._has_head = True
        self.status_code = status_code
        self._read_headers()
        transfer_coding = self.headers.get("transfer-encoding")
        if transfer_coding is not None:
            self._check_coding(transfer_coding)
        # Some servers send a last chunk after a 204 nevertheless.
        is_odd = status_code in BODILESS and transfer_coding is not None
        self.is_exact = not is_odd and self._parser.should_keep_alive()
        length = self.headers.get("content-length")
        self._runs_to_eof = length is None and "chunked" not in (transfer_coding or "").lower()
        self._apply_body_policy(status_code, self._read_length(length))

    def on_body(self, chunk: bytes) -> None:
        if self._is_kept and not self.is_done:
            self.body += chunk[: MAX_IDLE_BYTES - len(self.body)]
        if self.is_done or self._is_drained:
            return
        if not self._has_head:
            raise BadResponseError(f"{self._where} sent a body with an interim answer")
        self.body += chunk
        if self._sniff is not None and not self._is_wanted(self._sniff):
            return
        if len(self.body) > self._limit:
            self._stop_at_limit()

    def on_message_complete(self) -> None:
        if self.is_done:
            return
        if self._has_head:
            self._drop_undecided()
            self.is_done = True
        else:
            self._interim_count += 1
            if self._interim_count > MAX_INTERIM:
                raise BadResponseError(f"{self._where} sent more than {MAX_INTERIM} interim answers")
            self._raw_headers.clear()

    def _read_headers(self) -> None:
        headers = self.headers
        for raw_name, raw_value in self._raw_headers:
            name, value = _read_name(raw_name), _read_value(raw_value)
            if "\0" in value:
                raise BadResponseError(f"{self._where} does not answer in HTTP: a header holds a NUL")
            if name == "set-cookie":
                self.set_cookies.append(value)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value

    def _check_coding(self, transfer_coding: str) -> None:
        odd = [word for part in transfer_coding.split(",") if (word := part.strip().lower()) not in KNOWN_CODINGS]
        if odd:
            raise BadResponseError(f"{self._where} sent its body in the transfer coding {_printable(odd[0])!r}")

    def _read_length(self, length: str | None) -> int:
        if length is None:
            return 0
        if not (length.isascii() and length.isdigit()):
            raise BadResponseError(f"{self._where} says its body has {_printable(length)!r} bytes")
        return int(length)

    def _apply_body_policy(self, status_code: int, length: int) -> None:
        content_type, self._length = self.headers.get("content-type", ""), length
        if 200 <= status_code < 300:
            if self._read_body(content_type):
                self._sniff = None
                if status_code not in BODILESS:
                    self._check_length()
                return
            if self._sniff is not None and self._sniff.is_possible(content_type):
                return
        self._sniff = None
        self._is_kept = status_code >= 400 and self._read_error is not None and self._read_error(status_code)
        self._drain(is_bodiless=status_code in BODILESS)

    def _check_length(self) -> None:
        if self._length > self._limit and not self._may_cut:
            raise self._too_large()

    def _drain(self, *, is_bodiless: bool = False) -> None:
        """Reads the rest of an unwanted body without keeping it, or finishes where that would take longer than another
        connection."""
        self._is_drained = True
        if not is_bodiless and not self._is_kept and (self._runs_to_eof or self._length > MAX_IDLE_BYTES):
            self._finish()

    def _drop_undecided(self) -> None:
        """Drops a body that ended before its first bytes said what it is."""
        if self._sniff is not None and self._has_head:
            self.body.clear()

    def _is_wanted(self, sniff: "Sniff") -> bool:
        """Decides by the first bytes of a body; while too few have arrived, it is kept."""
        verdict = sniff.is_wanted(bytes(self.body[: sniff.most_bytes]), self.headers.get("content-encoding", ""))
        if verdict is None and len(self.body) < sniff.most_bytes:
            return True
        self._sniff = None
        if verdict:
            self._check_length()
            return True
        self.body.clear()
        self._drain()
        return False

    def _stop_at_limit(self) -> None:
        if not self._may_cut:
            raise self._too_large()
        del self.body[self._limit :]
        self.is_cut = True
        self._finish()

    def _finish(self) -> None:
        """Finishes before the message's own end, so the connection cannot be reused."""
        self._drop_undecided()
        self.is_done = True
        self.is_exact = False

    def _too_large(self) -> TooLargeError:
        return TooLargeError(f"the body of {self._where} is larger than the limit of {self._limit:,} bytes")


def _make_parser(reader: ResponseReader) -> HttpResponseParser:
    """Creates a parser as lenient as browsers: it accepts folded headers, lines without CR, and blanks after a
    chunk's size."""
    parser = HttpResponseParser(reader)
    parser.set_dangerous_leniencies(
        lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
    )
    return parser


@lru_cache(maxsize=1024)
def _read_name(name: bytes) -> str:
    return name.decode("latin-1").lower()


def _read_value(value: bytes) -> str:
    try:
        return value.strip().decode("utf-8")
    except UnicodeDecodeError:
        return value.strip().decode("latin-1")


def _printable(text: str) -> str:
    """Returns printable text, so that servers cannot write control characters to our logs."""
    return "".join(c for c in text[:200] if c.isprintable())
