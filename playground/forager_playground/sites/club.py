"""A public site with a private corner: some 403, a login page that is linked, an account that asks for a login.

All of that is ordinary, and no wall. The last page leads to a refusal, so that a crawl ends with one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forager_playground.answer import Answer, missing, redirect, refuse
from forager_playground.language import english
from forager_playground.page import Frame, Page, PageBuilder
from forager_playground.site import ALLOW_ALL, SitePage, list_page, show
from forager_playground.sites import login
from forager_playground.sites.numbered import find_number, path_of

FRAME = Frame("Harbour Rowing Club", "#1f5a6b", ((login.LOGIN, "Log in"), ("/account", "Account")), "Mind the step.")
CHILDREN = 4
MEMBERS_ONLY = ("/members/minutes", "/members/keys", "/members/cellar")
LAST = "/members/boats"
FOUND = 302


@dataclass(frozen=True, slots=True)
class Club:
    seed: int
    size: int = 12
    """Public pages."""
    name: str = "club"
    robots: str | None = ALLOW_ALL
    traps: tuple[str, ...] = ()

    def pages(self) -> Iterator[SitePage]:
        yield from (list_page(path_of(page), self.write(page)) for page in range(self.size))
        yield from (SitePage(path, 403) for path in (*MEMBERS_ONLY, LAST))
        yield SitePage("/account", FOUND, redirect_to=login.login_path("/account"))
        yield list_page(login.LOGIN, login.write_login(FRAME))
        yield list_page(login.login_path("/account"), login.write_login(FRAME, "/account"))
        yield list_page(login.FORGOT, login.write_password_reset(FRAME))
        yield list_page(login.REGISTER, login.write_register(FRAME))

    def answer(self, path: str, query: str) -> Answer:
        door = self._write_auth_page(path, query)
        if door is not None:
            return show(door)
        if query:
            return missing()
        if path in {*MEMBERS_ONLY, LAST}:
            return refuse(403, "Members only")
        if path == "/account":
            return redirect(login.login_path(path), FOUND)
        page = find_number(path, self.size)
        return missing() if page is None else show(self.write(page))

    def write(self, page: int) -> Page:
        sheet = PageBuilder(FRAME, f"Log of the year {1900 + page}" if page else "Rowing since 1900")
        sheet.add_text(*english().paragraphs(3, self.seed, "club", page))
        first = page * CHILDREN + 1
        years = range(first, min(first + CHILDREN, self.size))
        sheet.add_links((path_of(year), f"The year {1900 + year}") for year in years)
        if page == 0:
            sheet.add_links((path, path.rpartition("/")[2].capitalize()) for path in MEMBERS_ONLY)
        if page == self.size - 1:
            sheet.add_links([(LAST, "Boats")])
        return sheet.finish()

    def _write_auth_page(self, path: str, query: str) -> Page | None:
        match path:
            case login.LOGIN if not query or login.wanted_by(query) == "/account":
                return login.write_login(FRAME, login.wanted_by(query))
            case login.FORGOT if not query:
                return login.write_password_reset(FRAME)
            case login.REGISTER if not query:
                return login.write_register(FRAME)
        return None
