"""Who asks: the noun that travels from the door to the audit log. Pure."""

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
    """Changes too, but for accounts and tokens."""
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Identity:
    name: str
    role: Role
    via: str
    """session, token, cli, or none."""
    user_id: int | None = None
    scope: Scope = Scope.READ
    ip: str | None = None
    credential_id: int | None = None
    """Number of the session or token."""
    door: str = "api"

    @property
    def signature(self) -> str:
        """The `by` of everything an operator does, as histories show it: `api:alice`."""
        return f"{self.door}:{self.name}"

    @property
    def can_change(self) -> bool:
        return self.role is Role.ADMIN and self.scope is not Scope.READ

    @property
    def can_manage(self) -> bool:
        """Accounts and everybody's tokens."""
        return self.role is Role.ADMIN and self.scope is Scope.ADMIN


def anon_identity(ip: str | None = None) -> Identity:
    return Identity("anonymous", Role.ANONYMOUS, "none", ip=ip)


def operator(signature: str) -> Identity:
    """Whoever sits at the command line of the machine: `cli:root`."""
    door, _, name = signature.partition(":")
    return Identity(name or "unknown", Role.ADMIN, "cli", scope=Scope.ADMIN, door=door)
