"""What the system says when a connection cannot be made → our errors, once and in one place."""

import errno
import socket
import ssl

from forager.errors import ConnectError, DnsError, ExhaustedError, TlsError, VisitError, VisitTimeoutError

OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""What the machine lacks is no fault of the site."""


def translate(error: Exception, where: str) -> VisitError:
    """`where` is the host and port, for the person who reads the sentence."""
    match error:
        case socket.gaierror() if error.errno in {socket.EAI_SYSTEM, socket.EAI_MEMORY}:
            return ExhaustedError(f"this machine could not look up the name in {where}: {reason_of(error)}")
        case OSError() if error.errno in OURS and not isinstance(error, socket.gaierror):
            return ExhaustedError(f"this machine could not dial {where}: {reason_of(error)}")
        case socket.gaierror():
            return DnsError(f"the name in {where} could not be resolved: {reason_of(error)}")
        case ssl.SSLCertVerificationError():
            return TlsError(f"{where} has no valid certificate: {reason_of(error)}")
        case ssl.SSLError():
            return TlsError(f"no secure connection to {where}: {reason_of(error)}")
        case TimeoutError():
            return VisitTimeoutError(f"{where} did not answer the call")
        case OSError() if error.errno == errno.ETIMEDOUT:
            return VisitTimeoutError(f"{where} did not answer the call")
        case _:
            is_refused = isinstance(error, OSError) and error.errno in {errno.ECONNREFUSED, errno.ECONNRESET}
            return ConnectError(f"{where} could not be reached: {reason_of(error)}", is_refused=is_refused)


def reason_of(error: Exception) -> str:
    """One printable line: servers should not write in our logs."""
    text = getattr(error, "verify_message", None) or getattr(error, "strerror", None) or str(error)
    line = str(text).strip().partition("\n")[0].strip().rstrip(":")
    return "".join(c for c in line[:200] if c.isprintable()) or type(error).__name__
