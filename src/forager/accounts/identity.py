"""The identity of a caller, passed from authentication to the audit log. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """Anonymous sees that it runs, a user reads everything, an admin changes things."""

    ANONYMOUS = "anonymous"
    USER = "user"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a token, or a session, may be used for. Never more than its owner's role."""

    READ = "read"
    WRITE = "write"
    """Includes changes, except to accounts and tokens."""
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    role: Role
    via: str
    """One of session, token, cli, none."""
    user_id: int | None = None
    scope: Scope = Scope.READ
    ip: str | None = None
    credential_id: int | None = None
    """Id of the session or token."""
    door: str = "api"

    @property
    def signature(self) -> str:
        """The `by` of every operator action, as the history shows it: `api:alice`."""
        return f"{self.door}:{self.name}"

    @property
    def can_change(self) -> bool:
        return self.role is Role.ADMIN and self.scope is not Scope.READ

    @property
    def can_manage(self) -> bool:
        """Whether the caller may manage accounts and the tokens of all users."""
        return self.role is Role.ADMIN and self.scope is Scope.ADMIN


def anon_identity(ip: str | None = None) -> Identity:
    return Identity("anonymous", Role.ANONYMOUS, "none", ip=ip)


def operator(signature: str) -> Identity:
    """The user at the command line of this machine: `cli:root`."""
    door, _, name = signature.partition(":")
    return Identity(name or "unknown", Role.ADMIN, "cli", scope=Scope.ADMIN, door=door)
