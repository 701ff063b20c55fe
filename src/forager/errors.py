"""All errors of Forager, as one tree. Errors of libraries are translated once, where they enter.

    ForagerError
    ├── UserError                     what a person typed or configured; becomes one sentence and an exit code
    │   ├── UsageError                2
    │   ├── NotFoundError             3
    │   │   └── BodyGoneError             a body that was stored and has been deleted
    │   ├── ConfigurationError        4
    │   ├── DatabaseUnreachableError  5
    │   └── ConflictError             7
    ├── BadUrlError                   a string that is not a URL Forager can visit
    ├── BadListError                  a list of seeds that cannot be read any further
    ├── NotStoredError                the action needs bodies, and the content policy kept none
    ├── StoreError                    a body that cannot be stored, or cannot be loaded from the store
    ├── PluginFailedError             a plug-in raised where nothing can stand in for its result
    ├── SearchServerError             a search server that fails or does not respond; PostgreSQL is used instead
    ├── RenderError                   a page that the browser could not render; the unrendered page is used
    └── VisitError                    a visit that did not return a page; `code` is what the task row stores
        ├── SkippedError              no request was sent
        │   ├── RobotsDeniedError         robots.txt forbids it
        │   ├── RobotsUnreachableError    robots.txt could not be fetched, so no request is allowed now
        │   ├── AddressBlockedError       the address guard forbids it
        │   ├── NetworkDownError          our own network is down; outcomes do not count until it is back
        │   ├── InsecureError             its certificate does not prove the identity of the server
        │   ├── SessionUrlError           it would log in or out, while the domain has a login
        │   ├── NoHttpsError              https does not work for a site whose scheme was a guess; http is tried
        │   ├── CalledOffError            an operator paused or cancelled the task
        │   └── LeaseLostError            the domain is no longer ours
        ├── NetworkError              a request was sent and no usable response came
        │   ├── DnsError · ConnectError · ConnectionLostError · TlsError · VisitTimeoutError
        │   ├── ProxyError                the proxy is broken: ours to fix, never the site's fault
        │   └── ExhaustedError            this machine has no file, memory or buffer left for another connection
        ├── ResponseError             a response came, but not a page
        │   ├── TooLargeError · BadResponseError · DecodeError · TooManyRedirectsError · StatusError
        │   └── ChallengeError            a check of the visitor in place of the page
        │       └── CaptchaError · ConsentWallError
        ├── ParserCrashError          the page crashed its parser process twice; it is not parsed again
        │   └── ParserLimitError          it needs more time or memory than the limits allow
        ├── UnavailableError          something of ours is missing; the task stays open and is visited again
        │   ├── ParserUnavailableError    no parser process starts
        │   └── StoreUnavailableError     the response could not be stored
        └── BrokenError               a bug of ours; never counts against the domain, never ends a page for good

`may_retry` says whether a retry could help, `blame` who is at fault: only the site's own faults count against it.
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
    """One word for the kind of problem, which programs can compare: the end of the API's problem type."""


class UserError(ForagerError):
    exit_code: ClassVar[int] = 1


class UsageError(UserError):
    """An invalid value; `field` is the name under which it was given, if there is one."""

    exit_code = 2
    problem = "invalid_value"

    def __init__(self, sentence: str, *, field: str | None = None) -> None:
        super().__init__(sentence)
        self.field = field


class NotFoundError(UserError):
    exit_code = 3
    problem = "not_found"


class BodyGoneError(NotFoundError):
    """A body that was stored and has been deleted, or lost. The API's 410."""

    problem = "body_gone"


class ConfigurationError(UserError):
    exit_code = 4
    problem = "not_configured"


class DatabaseUnreachableError(UserError):
    exit_code = 5
    problem = "database_unavailable"


class ConflictError(UserError):
    """The action is not possible in the current state. The API's 409; `problem` identifies the kind."""

    exit_code = 7

    def __init__(self, sentence: str, problem: str = "conflict") -> None:
        super().__init__(sentence)
        self.problem = problem


class NotStoredError(ForagerError):
    """Replaying needs a body, and the content policy kept none. The API's 409."""

    problem = "body_not_stored"


class BadUrlError(ForagerError):
    """A string that is not a URL Forager can visit. Commands replace it with a sentence of their own."""

    problem = "invalid_value"


class BadListError(ForagerError):
    """A list of seeds that cannot be read any further. The code that reads the list reports it as the last, bad
    line."""


class StoreError(ForagerError):
    """A body that cannot be stored, or cannot be loaded from the store. `reason` is one word for the kind of
    failure."""

    def __init__(self, sentence: str, reason: str = "store_error") -> None:
        super().__init__(sentence)
        self.reason = reason


class PluginFailedError(ForagerError):
    """A plug-in that raised where nothing can stand in for its result: the file that it writes."""


class SearchServerError(ForagerError):
    """A search server that does not respond, or responds with an error. `status` and `reason` are from its response."""

    def __init__(self, sentence: str, status: int | None = None, reason: str = "") -> None:
        super().__init__(sentence)
        self.status = status
        self.reason = reason

    @property
    def is_away(self) -> bool:
        """Whether another request to the server would fail too."""
        return self.status is None or self.status in {401, 403, 429} or self.status >= 500


class RenderError(ForagerError):
    """A page that the browser could not render. Never ends a visit: the unrendered page is used instead."""


class VisitError(ForagerError):
    code: ClassVar[str] = "visit_error"
    may_retry: ClassVar[bool] = False
    blame: ClassVar[ErrorSource] = ErrorSource.SITE

    def drop_traceback(self) -> None:
        """Drops the traceback and the cause. A traceback keeps every frame with all its locals: 240 responses that
        exceeded the limit when decompressed kept 2.6 GB until their outcomes were written."""
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
    """Never recorded: the task stays open until our own network is back."""

    code = "network_down"
    blame = ErrorSource.US


class InsecureError(SkippedError):
    code = "tls_error"
    blame = ErrorSource.SITE


class SessionUrlError(SkippedError):
    code = "session_url"


class NoHttpsError(SkippedError):
    code = "https_unavailable"


class CalledOffError(SkippedError):
    """Never recorded: a paused task stays open, and a cancelled one is already closed."""

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
    """`is_refused`: the host refused the connection, which shows that the network works."""

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
    """With a new cookie it is a wall that a browser passes: a second request for the same URL may succeed."""

    code = "too_many_redirects"

    def __init__(self, sentence: str, *, has_new_cookie: bool = False) -> None:
        super().__init__(sentence)
        self.has_new_cookie = has_new_cookie


class StatusError(ResponseError):
    """The server responded with a 4xx or 5xx. `retry_after_s` is its Retry-After, if it sent one."""

    def __init__(self, status_code: int, retry_after_s: float | None = None) -> None:
        super().__init__(f"the server answered {status_code}")
        self.status_code = status_code
        self.retry_after_s = retry_after_s

    code = "http_status"

    @property
    def should_back_off(self) -> bool:
        """These 4xx, and any 503 with a Retry-After, slow the whole domain down instead of failing the page."""
        return self.status_code in {408, 425, 429} or (self.status_code == 503 and self.retry_after_s is not None)


class ChallengeError(ResponseError):
    """The server responded with a check of the visitor in place of the page. `reason` is `challenge: VENDOR`."""

    code = "challenge"

    def __init__(self, reason: str, status_code: int = 200) -> None:
        super().__init__(f"the server answered {status_code} with a check in place of the page, {reason}")
        self.status_code = status_code
        self.reason = reason


class CaptchaError(ChallengeError):
    code = "captcha"


class ConsentWallError(ChallengeError):
    code = "consent_wall"


class ParserCrashError(VisitError):
    code = "parser_crash"
    blame = ErrorSource.PARSER


class ParserLimitError(ParserCrashError):
    code = "parser_limit"


class UnavailableError(VisitError):
    """Never recorded: the visit is returned, and its task stays open until the missing part is available again."""

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
