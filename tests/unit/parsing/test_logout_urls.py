"""Links that end a session are known by their words; pages about them are not."""

import pytest

from forager.parsing.login import is_logout_url


@pytest.mark.parametrize(
    "path",
    [
        "/logout", "/user/sign_out", "/Account/LogOff.aspx", "/wp-login.php?action=logout&_wpnonce=1", "/?logout",
        "/?logout=1", "/index.php?title=Special:UserLogout", "/wiki/Special:UserLogout", "/j_spring_security_logout",
        "/de/abmelden", "/index.php?route=account/logout", "/ucp.php?mode=logout&sid=1", "/logout;jsessionid=A1",
        "/auth/do-logout", "/deconnexion/", "/api/v1/signout",
    ],
)  # fmt: skip
def test_ends_a_session(path: str) -> None:
    assert is_logout_url(f"https://site.example{path}")


@pytest.mark.parametrize(
    "path",
    [
        "/", "/login", "/how-to-logout", "/help/logout", "/docs/auth/logout", "/search?q=logout", "/blog/sign-out-tips",
        "/products/logout-shirt", "/?next=/logout", "/m/1", "/shout", "/blogout",
    ],
)  # fmt: skip
def test_does_not(path: str) -> None:
    assert not is_logout_url(f"https://site.example{path}")
