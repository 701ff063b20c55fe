"""Every error of Forager, one tree. Foreign errors are translated once, at the seam where they enter.

    ForagerError
    ├── UserError                     what a person typed or configured; becomes one sentence and an exit code
    │   ├── UsageError                2
    │   ├── NotFoundError             3
    │   ├── ConfigurationError        4
    │   ├── DatabaseUnreachableError  5
    │   └── ConflictError             7
    ├── BadUrlError                   a string that is no URL Forager can visit
    ├── BadListError                  a list of seeds that cannot be read any further
    ├── NotStoredError                what was asked for needs bodies, and the content policy kept none
    ├── StoreError                    a body that cannot be stored, or not be had from the store
    ├── SearchServerError             a search server that does not answer, or not as it should; PostgreSQL does
    ├── RenderError                   a page that the browser could not draw; its plain form is taken
    └── VisitError                    a visit that did not bring a page; `code` is what the task row stores
        ├── SkippedError              no request was sent
        │   ├── RobotsDeniedError         robots.txt forbids it
        │   ├── RobotsUnreachableError    robots.txt could not be had, so nothing may be asked for now
        │   ├── AddressBlockedError       the address guard forbids it
        │   ├── NetworkDownError          our own network is down; nothing is judged until it is back
        │   ├── InsecureError             its certificate is no proof of who answers
        │   ├── CalledOffError            somebody paused or cancelled the task
        │   └── LeaseLostError            the domain is no longer ours
        ├── NetworkError              we asked and nobody usable answered
        │   ├── DnsError · ConnectError · ConnectionLostError · TlsError · VisitTimeoutError
        │   ├── ProxyError                our way out is broken: ours to mend, never the site's fault
        │   └── ExhaustedError            this machine has no file, memory or buffer left for another connection
        ├── ResponseError             a response came, but no page
        │   ├── TooLargeError · BadResponseError · DecodeError · TooManyRedirectsError · StatusError
        ├── ParserCrashError          the page crashed its parser process twice; it is left alone
        │   └── ParserLimitError          it needs more time or memory than a page may
        ├── UnavailableError          something of ours is missing; the task stays open and is visited again
        │   ├── ParserUnavailableError    no parser process starts
        │   └── StoreUnavailableError     what came could not be stored
        └── BrokenError               a bug of ours; never counts against the domain, never ends a page for good

`may_retry` says whether another try could help, `blame` who is at fault: only the site's own faults count against it.
"""

from enum import StrEnum
from typing import ClassVar


class ErrorSource(StrEnum):
    SITE = "site"
    NETWORK = "network"
    PARSER = "parser"
    US = "us"
    NOBODY = "nobody"


class ForagerError(Exception):
    """The root; its text is always one clear sentence for a person."""

    problem: str = "conflict"
    """One word for the kind of problem, by which a program tells it from others: the end of the API's problem type."""


class UserError(ForagerError):
    exit_code: ClassVar[int] = 1


class UsageError(UserError):
    """A value that cannot be taken; `field` is the name under which it was given, where there is one."""

    exit_code = 2
    problem = "invalid_value"

    def __init__(self, sentence: str, *, field: str | None = None) -> None:
        super().__init__(sentence)
        self.field = field


class NotFoundError(UserError):
    exit_code = 3
    problem = "not_found"


class ConfigurationError(UserError):
    exit_code = 4
    problem = "not_configured"


class DatabaseUnreachableError(UserError):
    exit_code = 5
    problem = "database_unavailable"


class ConflictError(UserError):
    """What was asked for cannot be done to it as it is now. The API's 409; `problem` tells one from another."""

    exit_code = 7

    def __init__(self, sentence: str, problem: str = "conflict") -> None:
        super().__init__(sentence)
        self.problem = problem


class NotStoredError(ForagerError):
    """Reading again needs a body, and the content policy kept none. The API's 409."""

    problem = "body_not_stored"


class BadUrlError(ForagerError):
    """A string that is no URL Forager can visit. Commands turn it into their own sentence."""

    problem = "invalid_value"


class BadListError(ForagerError):
    """A list of seeds that cannot be read any further. Its reader makes it the list's last, bad line."""


class StoreError(ForagerError):
    """A body that cannot be stored, or not be had from the store. `reason` is one word for one kind of trouble."""

    def __init__(self, sentence: str, reason: str = "store_error") -> None:
        super().__init__(sentence)
        self.reason = reason


class SearchServerError(ForagerError):
    """A search server that does not answer, or not as it should. `status` and `reason` are what it answered."""

    def __init__(self, sentence: str, status: int | None = None, reason: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason

    @property
    def is_away(self) -> bool:
        """Asking it something else would not help either."""
        return self.status is None or self.status in {401, 403, 429} or self.status >= 500


class RenderError(ForagerError):
    """A page that the browser could not draw. Never ends a visit: the plain page is as good as it was."""


class VisitError(ForagerError):
    code: ClassVar[str] = "visit_error"
    may_retry: ClassVar[bool] = False
    blame: ClassVar[ErrorSource] = ErrorSource.SITE

    def drop_traceback(self) -> None:
        """Forgets where it was raised, and what it was raised from. A traceback keeps every frame with all it held:
        240 answers that grew past the limit when decompressed kept 2.6 GB until their outcomes were written."""
        self.__traceback__ = self.__context__ = self.__cause__ = None


class SkippedError(VisitError):
    code = "refused"
    blame = ErrorSource.NOBODY


class RobotsDeniedError(SkippedError):
    code = "robots_denied"


class RobotsUnreachableError(SkippedError):
    code = "robots_unreachable"
    may_retry = True
    blame = ErrorSource.SITE


class AddressBlockedError(SkippedError):
    code = "address_refused"


class NetworkDownError(SkippedError):
    """Never on record: what was asked for stays open until our own network is back."""

    code = "network_down"
    blame = ErrorSource.US


class InsecureError(SkippedError):
    code = "tls_error"
    blame = ErrorSource.SITE


class CalledOffError(SkippedError):
    """Never on record: a task that was paused stays open, one that was cancelled is closed already."""

    code = "called_off"


class LeaseLostError(SkippedError):
    code = "lease_lost"
    blame = ErrorSource.US


class NetworkError(VisitError):
    code = "network_error"
    may_retry = True
    blame = ErrorSource.NETWORK


class DnsError(NetworkError):
    code = "dns_error"


class ConnectError(NetworkError):
    """Where the host answered that it wants no connection, `is_refused`: the network works."""

    code = "connect_error"

    def __init__(self, sentence: str = "", *, is_refused: bool = False) -> None:
        super().__init__(sentence)
        self.is_refused = is_refused


class ConnectionLostError(NetworkError):
    code = "connection_lost"


class TlsError(NetworkError):
    code = "tls_error"
    may_retry = False
    blame = ErrorSource.SITE


class VisitTimeoutError(NetworkError):
    code = "timeout"


class ProxyError(NetworkError):
    code = "proxy_error"
    blame = ErrorSource.US


class ExhaustedError(NetworkError):
    code = "exhausted"
    blame = ErrorSource.US


class ResponseError(VisitError):
    code = "bad_answer"


class TooLargeError(ResponseError):
    code = "too_large"


class BadResponseError(ResponseError):
    code = "bad_response"


class DecodeError(ResponseError):
    code = "decode_error"


class TooManyRedirectsError(ResponseError):
    """With a new cookie it is a wall that a browser passes: asked once more, the same URL may answer."""

    code = "too_many_redirects"

    def __init__(self, sentence: str, *, has_new_cookie: bool = False) -> None:
        super().__init__(sentence)
        self.has_new_cookie = has_new_cookie


class StatusError(ResponseError):
    """The server answered with a 4xx or 5xx. `retry_after_s` is its Retry-After, if it sent one."""

    def __init__(self, status_code: int, retry_after_s: float | None = None) -> None:
        super().__init__(f"the server answered {status_code}")
        self.status_code = status_code
        self.retry_after_s = retry_after_s

    code = "http_status"

    @property
    def should_back_off(self) -> bool:
        """These 4xx, and any 503 with a Retry-After, slow the whole domain down instead of failing the page."""
        return self.status_code in {408, 425, 429} or (self.status_code == 503 and self.retry_after_s is not None)


class ParserCrashError(VisitError):
    code = "parser_crash"
    blame = ErrorSource.PARSER


class ParserLimitError(ParserCrashError):
    code = "parser_limit"


class UnavailableError(VisitError):
    """Never on record: the visit is given back, and its task stays open until what is missing is there again."""

    code = "unavailable"
    may_retry = True
    blame = ErrorSource.US


class ParserUnavailableError(UnavailableError):
    code = "no_parser"


class StoreUnavailableError(UnavailableError):
    code = "store_unavailable"


class BrokenError(VisitError):
    code = "broken"
    may_retry = True
    blame = ErrorSource.US
