"""Login errors. Each message is one sentence that reveals nothing to an attacker."""

from forager.errors import ForagerError


class WrongPasswordError(ForagerError):
    """A 401 in the API. The message is the same whether the account exists or not."""

    def __init__(self) -> None:
        super().__init__("Name or password is wrong.")


class MustWaitError(ForagerError):
    """Too many wrong passwords, sessions or tokens: a 429 in the API."""

    def __init__(self, wait_s: float, what: str = "passwords") -> None:
        self.wait_s = max(1, round(wait_s + 0.5))
        super().__init__(f"Too many wrong {what}; try again in {self.wait_s} s.")


class TooManyLoginsError(ForagerError):
    """Too many concurrent logins; the client has to retry later. A 503 in the API."""
