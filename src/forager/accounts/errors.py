"""Why somebody is not let in. Each is one sentence that tells a guesser nothing."""

from forager.errors import ForagerError


class WrongPasswordError(ForagerError):
    """The API's 401. The same words whether there is such an account or not."""

    def __init__(self) -> None:
        super().__init__("Name or password is wrong.")


class MustWaitError(ForagerError):
    """Too many wrong passwords, sessions or tokens: the API's 429."""

    def __init__(self, wait_s: float, what: str = "passwords") -> None:
        self.wait_s = max(1, round(wait_s + 0.5))
        super().__init__(f"Too many wrong {what}; try again in {self.wait_s} s.")


class TooManyLoginsError(ForagerError):
    """So many people sign in at once that the next one had better come again. The API's 503."""
