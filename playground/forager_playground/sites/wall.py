"""Sites that show everybody their start page and nobody the rest, unless one logs in.

`wall` sends whoever asks for a page to its login form, `gate` shows the form in the page's place.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing, redirect
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites import login
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("The Reading Room", "#3a3a6a", ((login.LOGIN, "Log in"),), "Members read on.")
FOUND = 302


@dataclass(frozen=True, slots=True)
class LoginWall:
    seed: int
    size: int
    """Pages behind the wall."""
    name: str
    is_redirecting: bool
    """False: the form stands in place of the page."""
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        yield list_page("/", self._write_home())
        yield list_page(login.LOGIN, login.write_login(FRAME))
        yield list_page(login.FORGOT, login.write_password_reset(FRAME))
        yield list_page(login.REGISTER, login.write_register(FRAME))
        for path in map(path_of, range(1, self.size + 1)):
            form = login.write_login(FRAME, path)
            if self.is_redirecting:
                yield SitePage(path, FOUND, redirect_to=login.login_path(path))
            yield list_page(login.login_path(path) if self.is_redirecting else path, form)

    def answer(self, path: str, query: str) -> Answer:
        page = self._write_open(path, query)
        if page is not None:
            return show(page)
        if not find_number(path, self.size + 1) or query:
            return missing()
        if self.is_redirecting:
            return redirect(login.login_path(path), FOUND)
        return show(login.write_login(FRAME, path))

    def _write_open(self, path: str, query: str) -> Page | None:
        """What one sees without a login."""
        wanted = login.wanted_by(query)
        if path == login.LOGIN and self.is_redirecting and find_number(wanted, self.size + 1):
            return login.write_login(FRAME, wanted)
        if query:
            return None
        match path:
            case "/":
                return self._write_home()
            case login.LOGIN:
                return login.write_login(FRAME)
            case login.FORGOT:
                return login.write_password_reset(FRAME)
            case login.REGISTER:
                return login.write_register(FRAME)
        return None

    def _write_home(self) -> Page:
        sheet = PageBuilder(FRAME, "Essays for members")
        sheet.description = "A magazine that shows its table of contents to everybody."
        sheet.add_text(*english().paragraphs(3, self.seed, "wall"))
        sheet.add_links((path_of(essay), f"Essay {essay}") for essay in range(1, self.size + 1))
        return sheet.finish()


def make_wall(seed: int, size: int) -> LoginWall:
    return LoginWall(seed, size, "wall", is_redirecting=True)


def make_gate(seed: int, size: int) -> LoginWall:
    return LoginWall(seed, size, "gate", is_redirecting=False)
