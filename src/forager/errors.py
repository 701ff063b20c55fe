"""Every error of Forager, one tree. Foreign errors are translated once, at the seam where they enter.

    ForagerError
    ├── UserError                     what a person typed or configured; becomes one sentence and an exit code
    │   ├── UsageError                2
    │   ├── NotFoundError             3
    │   ├── ConfigurationError        4
    │   └── DatabaseUnreachableError  5
    ├── BadUrlError                   a string that is no URL Forager can visit
    └── VisitError                    a visit that did not bring a page; `code` is what the task row stores
        ├── RefusedError              we did not ask
        │   ├── RobotsDeniedError         robots.txt forbids it
        │   ├── RobotsUnreachableError    robots.txt could not be had, so nothing may be asked for now
        │   ├── AddressRefusedError       the address guard forbids it
        │   └── LeaseLostError            the domain is no longer ours
        ├── NetworkError              we asked and nobody usable answered
        │   ├── DnsError · ConnectError · ConnectionLostError · TlsError · VisitTimeoutError
        ├── AnswerError               somebody answered, but not with a page
        │   ├── TooLargeError · BadResponseError · DecodeError · TooManyRedirectsError · StatusError
        └── BrokenError               a bug of ours; never counts against the domain

`may_retry` says whether another try could help, `blame` who is at fault: only the site's own faults count against it.
"""

from enum import StrEnum
from typing import ClassVar


class Blame(StrEnum):
    SITE = "site"
    NETWORK = "network"
    PARSER = "parser"
    US = "us"
    NOBODY = "nobody"


class ForagerError(Exception):
    """The root; its text is always one clear sentence for a person."""


class UserError(ForagerError):
    exit_code: ClassVar[int] = 1


class UsageError(UserError):
    exit_code = 2


class NotFoundError(UserError):
    exit_code = 3


class ConfigurationError(UserError):
    exit_code = 4


class DatabaseUnreachableError(UserError):
    exit_code = 5


class BadUrlError(ForagerError):
    """A string that is no URL Forager can visit. Commands turn it into their own sentence."""


class VisitError(ForagerError):
    code: ClassVar[str] = "visit_error"
    may_retry: ClassVar[bool] = False
    blame: ClassVar[Blame] = Blame.SITE


class RefusedError(VisitError):
    code = "refused"
    blame = Blame.NOBODY


class RobotsDeniedError(RefusedError):
    code = "robots_denied"


class RobotsUnreachableError(RefusedError):
    code = "robots_unreachable"
    may_retry = True
    blame = Blame.SITE


class AddressRefusedError(RefusedError):
    code = "address_refused"


class LeaseLostError(RefusedError):
    code = "lease_lost"
    blame = Blame.US


class NetworkError(VisitError):
    code = "network_error"
    may_retry = True
    blame = Blame.NETWORK


class DnsError(NetworkError):
    code = "dns_error"


class ConnectError(NetworkError):
    code = "connect_error"


class ConnectionLostError(NetworkError):
    code = "connection_lost"


class TlsError(NetworkError):
    code = "tls_error"
    may_retry = False
    blame = Blame.SITE


class VisitTimeoutError(NetworkError):
    code = "timeout"


class AnswerError(VisitError):
    code = "bad_answer"


class TooLargeError(AnswerError):
    code = "too_large"


class BadResponseError(AnswerError):
    code = "bad_response"


class DecodeError(AnswerError):
    code = "decode_error"


class TooManyRedirectsError(AnswerError):
    code = "too_many_redirects"


class StatusError(AnswerError):
    """The server answered with a 4xx or 5xx. `retry_after_s` is its Retry-After, if it sent one."""

    def __init__(self, status_code: int, retry_after_s: float | None = None) -> None:
        super().__init__(f"the server answered {status_code}")
        self.status_code = status_code
        self.retry_after_s = retry_after_s

    code = "http_status"

    @property
    def asks_us_to_wait(self) -> bool:
        """C-17: these 4xx, and any 503 with a Retry-After, slow the whole domain down instead of failing the page."""
        return self.status_code in {408, 425, 429} or (self.status_code == 503 and self.retry_after_s is not None)


class BrokenError(VisitError):
    code = "broken"
    blame = Blame.US
