"""Translates system errors of connection attempts into our errors. All such errors are translated here."""

import errno
import socket
import ssl

from forager.errors import ConnectError, DnsError, ExhaustedError, TlsError, VisitError, VisitTimeoutError

OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors caused by a lack of resources on this machine are not the site's fault."""


def translate(error: Exception, where: str) -> VisitError:
    """Returns our error; `where` is the host and port for the message."""
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
    """Returns one printable line, so that servers cannot write control characters to our logs."""
    text = getattr(error, "verify_message", None) or getattr(error, "strerror", None) or str(error)
    line = str(text).strip().partition("\n")[0].strip().rstrip(":")
    return "".join(c for c in line[:200] if c.isprintable()) or type(error).__name__
