"""Login walls on pages as sites send them; more of the pages are false alarms than walls."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.parsing.pages import fetched

from forager.parsing import login
from forager.parsing.login import count_words, has_password_form, is_login_required, is_login_url, redirects_to_login
from forager.parsing.page import read
from forager.parsing.tree import parse

PAGES = Path(__file__).parent / "login_pages"


def is_wall(name: str, url: str, *, was_redirected: bool, status_code: int = 200) -> bool:
    """What the crawl would say of the page, had it come from `url`."""
    page = (PAGES / f"{name}.html").read_bytes()
    reading = read(fetched(page, url=url), keyword_words=1000)
    return is_login_required(
        url=url,
        was_redirected=was_redirected,
        status_code=status_code,
        has_password_form=has_password_form(parse(page.decode())),
        words=count_words(reading.text),
        links=len(reading.links),
        title=reading.title,
    )


SENT = [
    ("wordpress_login", "https://club.example/wp-login.php?redirect_to=https%3A%2F%2Fclub.example%2Fminutes%2F2024"),
    ("django_admin_login", "https://parish.example/records/login/?next=/records/1871/"),
    ("keycloak", "https://id.hospital.example/realms/staff/protocol/openid-connect/auth?client_id=x&redirect_uri=y"),
    ("newspaper_gate", "https://courier.example/gate?article=4711"),
    ("german_shop_login", "https://brenner.example/anmelden?ziel=/artikel/17"),
    ("japanese_login", "https://kai.example/member/?back=%2Fnews%2F3"),
    ("single_page_login", "https://accounts.lattice.example/?continue=https%3A%2F%2Flattice.example%2Fplans"),
    ("login_with_full_chrome", "https://tidewater.example/account/login?return_url=%2Fprices"),
    ("router_admin", "http://box.example/start.htm"),
]
IN_PLACE = [
    ("router_admin", "http://box.example/"),
    ("webmail", "https://mail.parish.example/"),
    ("phpbb_members_board", "https://steam.example/viewforum.php?f=9"),
    ("newspaper_gate", "https://courier.example/2024/05/harbour"),
    ("german_shop_login", "https://brenner.example/artikel/17"),
    ("japanese_login", "https://kai.example/news/3"),
    ("login_with_full_chrome", "https://tidewater.example/prices"),
]


@pytest.mark.parametrize(("name", "url"), SENT)
def test_who_is_sent_to_a_login_form_meets_a_wall(name: str, url: str) -> None:
    assert is_wall(name, url, was_redirected=True)


@pytest.mark.parametrize(("name", "url"), IN_PLACE)
def test_a_login_form_in_place_of_the_page_is_a_wall(name: str, url: str) -> None:
    assert is_wall(name, url, was_redirected=False)


LINKED = [
    ("wordpress_login", "https://club.example/wp-login.php"),
    ("django_admin_login", "https://parish.example/records/login/"),
    ("keycloak", "https://id.hospital.example/realms/staff/protocol/openid-connect/auth?client_id=x"),
    ("phpbb_members_board", "https://steam.example/ucp.php?mode=login"),
    ("german_shop_login", "https://brenner.example/anmelden"),
    ("single_page_login", "https://accounts.lattice.example/"),
    ("login_with_full_chrome", "https://tidewater.example/account/login"),
]


@pytest.mark.parametrize(("name", "url"), LINKED)
def test_a_login_page_that_was_linked_is_a_page(name: str, url: str) -> None:
    assert not is_wall(name, url, was_redirected=False)


OPEN = [
    ("article_with_header_login", "https://courier.example/2024/05/harbour"),
    ("short_news_with_header_login", "https://courier.example/ferry"),
    ("chinese_article_with_header_login", "https://haigang.example/a/3"),
    ("article_log_in_to_comment", "https://courier.example/breakwater"),
    ("registration", "https://tidewater.example/register"),
    ("registration", "https://tidewater.example/welcome"),
    ("registration_one_field", "https://lattice.example/join"),
    ("registration_one_field", "https://lattice.example/start"),
    ("password_reset", "https://lattice.example/users/password/edit?token=1"),
    ("password_reset", "https://lattice.example/t/1"),
    ("change_password", "https://parish.example/records/password_change/"),
    ("password_manager_marketing", "https://vaultkeep.example/blog/how-to-log-in"),
    ("shop_with_hidden_modal", "https://tidewater.example/rope"),
    ("saas_home", "https://lattice.example/"),
    ("protected_post", "https://maren.example/wedding"),
    ("woocommerce_my_account", "https://bean.example/my-account/"),
    ("category_with_login_box", "https://tidewater.example/anchors"),
    ("docs_about_sign_in", "https://lattice.example/docs/oidc"),
]


@pytest.mark.parametrize("was_redirected", [False, True])
@pytest.mark.parametrize(("name", "url"), OPEN)
def test_no_false_alarm_on_open_pages(name: str, url: str, was_redirected: bool) -> None:
    """Also after a redirect: most sites send http to https first."""
    assert not is_wall(name, url, was_redirected=was_redirected)


def test_every_page_is_used() -> None:
    used = {name for name, _ in SENT + IN_PLACE + LINKED + OPEN}
    assert used == {path.stem for path in PAGES.glob("*.html")}


@pytest.mark.parametrize("wanted", ["/wishlist/add/5", "/my-account/orders", "/story/9/comment", "/cart/checkout"])
def test_a_login_for_what_is_private_anyway_says_nothing_of_the_site(wanted: str) -> None:
    assert not is_wall("login_with_full_chrome", f"https://a.example/login?next={wanted}", was_redirected=True)
    assert not redirects_to_login(f"https://a.example{wanted}", f"https://a.example/login?next={wanted}")


@pytest.mark.parametrize("status_code", [401, 407])
def test_an_answer_that_asks_for_credentials_is_a_wall_whatever_it_shows(status_code: int) -> None:
    assert is_wall("saas_home", "https://a.example/", was_redirected=False, status_code=status_code)


def test_a_title_alone_is_no_wall() -> None:
    facts = {"status_code": 200, "words": 20, "links": 3, "title": "Please log in to continue"}
    at_content, at_login = "https://a.example/story", "https://a.example/login"
    assert not is_login_required(url=at_content, was_redirected=True, has_password_form=False, **facts)  # type: ignore[arg-type]
    assert not is_login_required(url=at_login, was_redirected=False, has_password_form=False, **facts)  # type: ignore[arg-type]
    assert is_login_required(url=at_login, was_redirected=True, has_password_form=False, **facts)  # type: ignore[arg-type]
    assert is_login_required(url=at_content, was_redirected=False, has_password_form=True, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "was_redirected", "words", "links", "is_wall"),
    [
        ("https://a.example/story", False, 20, 5, True),
        ("https://a.example/story", False, 20, 60, False),
        ("https://a.example/story", False, 90, 5, False),
        ("https://a.example/story", True, 20, 60, False),
        ("https://a.example/story", True, 90, 5, False),
        ("https://a.example/login", True, 90, 60, True),
        ("https://a.example/login", True, 20, 400, False),
        ("https://a.example/login", True, 400, 5, False),
    ],
)
def test_a_page_with_words_or_links_is_worth_reading(
    url: str, was_redirected: bool, words: int, links: int, is_wall: bool
) -> None:
    """A list of links has few words, and no wall has hundreds of either."""
    found = is_login_required(
        url=url,
        was_redirected=was_redirected,
        status_code=200,
        has_password_form=True,
        words=words,
        links=links,
        title="Port Ellis",
    )
    assert found is is_wall


@pytest.mark.parametrize(
    "title",
    [
        "Login", "Log in | Site", "Site - Sign in", "Sign in to GitHub · GitHub", "Member Login", "Login / Register",
        "Please log in to continue", "You must be logged in to view this page", "Subscribe to continue reading",
        "Members only", "Login required", "Anmelden – Shop", "Connexion | Le Port", "Iniciar sesión", "Accedi",
        "Inloggen", "Zaloguj się", "Entrar", "Вход", "登录", "ログイン", "로그인",
    ],
)  # fmt: skip
def test_titles_that_ask_to_log_in(title: str) -> None:
    assert judge_title(title)


@pytest.mark.parametrize(
    "title",
    [
        "How to log in securely", "The login page: 12 design ideas", "Loginsky family album", "Entrar em forma",
        "Log cabins to rent", "Sign in the window", "Connexion internet: comparatif", "Subscribe to our newsletter",
        "Create your account", "Reset password", "Registrieren", "Inscription gratuite", "注册账号", None, "",
    ],
)  # fmt: skip
def test_titles_that_do_not(title: str | None) -> None:
    assert not judge_title(title)


def judge_title(title: str | None) -> bool:
    """A form among more words and links than a bare form has: the title decides."""
    return is_login_required(
        url="https://a.example/x",
        was_redirected=False,
        status_code=200,
        has_password_form=True,
        words=120,
        links=50,
        title=title,
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/login",
        "https://a.example/login/",
        "https://a.example/Login.aspx?ReturnUrl=%2f",
        "https://a.example/en/log-in",
        "https://a.example/user/login",
        "https://a.example/users/sign_in",
        "https://a.example/signin",
        "https://a.example/auth/sign-in?next=/",
        "https://a.example/logon.jsp",
        "https://a.example/wp-login.php",
        "https://a.example/session/new",
        "https://a.example/sessions/new",
        "https://a.example/login/index.php",
        "https://a.example/customer/account/login/referer/aHR0cHM/",
        "https://a.example/signin/v2/identifier",
        "https://a.example/ucp.php?mode=login",
        "https://a.example/index.php?route=account/login",
        "https://a.example/index.php?title=Special:UserLogin&returnto=Main",
        "https://a.example/wiki/Special:UserLogin",
        "https://a.example/wiki/page?do=login",
        "https://a.example/auth/realms/staff/protocol/openid-connect/auth?client_id=x",
        "https://a.example/oauth/authorize?client_id=x",
        "https://a.example/oauth2/v2.0/authorize",
        "https://a.example/connect/authorize",
        "https://a.example/saml/sp/start",
        "https://a.example/sso?return=/",
        "https://a.example/idp/profile/SAML2/Redirect/SSO",
        "https://a.example/cas/login?service=x",
        "https://a.example/adfs/ls/?wa=wsignin1.0",
        "https://a.example/anmelden",
        "https://a.example/fr/connexion",
        "https://a.example/iniciar-sesion",
        "https://a.example/accedi",
        "https://a.example/inloggen",
        "https://a.example/zaloguj",
        "https://a.example/entrar",
        "https://a.example/%D0%B2%D1%85%D0%BE%D0%B4",
        "https://login.a.example/",
        "https://login.bank.co.uk/start",
        "https://accounts.a.example/ServiceLogin?continue=x",
        "https://sso.a.example:8443/x",
        "https://auth.a.example/u/9",
    ],
)
def test_login_urls(url: str) -> None:
    assert is_login_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/",
        "https://a.example/blog/how-to-login-securely",
        "https://a.example/login-page-design-ideas",
        "https://a.example/docs/signin-api/",
        "https://a.example/docs/login",
        "https://a.example/help/sign-in",
        "https://a.example/wiki/Login",
        "https://a.example/tag/login",
        "https://a.example/package/sso",
        "https://a.example/products/sso",
        "https://a.example/js/login.js",
        "https://a.example/img/login.png",
        "https://a.example/search?q=login",
        "https://a.example/story?utm_source=login",
        "https://a.example/author/signing",
        "https://a.example/blogin",
        "https://a.example/register",
        "https://a.example/users/password/new",
        "https://a.example/login/forgot-password",
        "https://a.example/wp-login.php?action=lostpassword",
        "https://a.example/logout",
        "https://accounts.a.example/signup",
        "https://login.example/",
        "https://sso.co.uk/",
        "https://logins.a.example/",
        "https://loginsight.a.example/",
        "https://a.example/sessions/2024/keynote",
        "https://a.example/authors/authorize-this",
        "http://127.0.0.1/",
        "http://login/",
    ],
)
def test_other_urls(url: str) -> None:
    assert not is_login_url(url)


@pytest.mark.parametrize(
    ("from_url", "to_url", "is_wall"),
    [
        ("https://a.example/story", "https://a.example/login?next=/story", True),
        ("https://a.example/", "https://sso.a.example/start?back=https://a.example/", True),
        ("https://a.example/report.pdf", "https://login.microsoftonline.example/common/oauth2/authorize?x=1", True),
        ("https://a.example/story", "https://www.a.example/story", False),
        ("https://a.example/signin", "https://a.example/login", False),
        ("https://a.example/login", "https://a.example/", False),
        ("https://a.example/logout", "https://a.example/login", False),
        ("https://a.example/wp-admin/", "https://a.example/wp-login.php?redirect_to=x", False),
        ("https://a.example/index.php?action=edit", "https://a.example/login", False),
        ("https://a.example/old-login-guide", "https://a.example/docs/login", False),
        ("https://a.example/story", "https://a.example/register?next=/story", False),
        ("https://a.example/story", "https://sso.a.example/check?prompt=none&back=/story", False),
        ("https://a.example/story", "https://cas.a.example/cas/login?service=x&gateway=true", False),
    ],
)
def test_redirects_to_login(from_url: str, to_url: str, is_wall: bool) -> None:
    assert redirects_to_login(from_url, to_url) is is_wall


@pytest.mark.parametrize(
    "page",
    [
        '<form><input type="password"></form>',
        "<FORM><INPUT TYPE = 'PassWord' ></FORM>",
        "<table><form><tr><td><input type=password></table>",
        "<form><input type=password></form><form><input type=password><input type=password></form>",
        "<dialog open><form><input type=password></form></dialog>",
        '<form><input type=password autocomplete="current-password"></form>',
    ],
)
def test_password_forms(page: str) -> None:
    assert has_password_form(parse(page))


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<p>password</p>",
        "<input type=password>",
        "<form><input type=text name=password></form>",
        "<form><input type=password hidden></form>",
        "<div hidden><form><input type=password></form></div>",
        '<form style="display:none"><input type=password></form>',
        '<div style="color:red; VISIBILITY : hidden"><form><input type=password></form></div>',
        '<div aria-hidden="true"><form><input type=password></form></div>',
        '<div class="modal fade"><form><input type=password></form></div>',
        "<dialog><form><input type=password></form></dialog>",
        "<template><form><input type=password></form></template>",
        "<body><noscript><form><input type=password></form></noscript>",
        "<script>'<form><input type=password></form>'</script>",
        "<textarea><form><input type=password></form></textarea>",
        "<!-- <form><input type=password></form> -->",
        "<form><input type=password><input type=password></form>",
        "<form><input type=password autocomplete=new-password></form>",
    ],
)
def test_no_password_form(page: str) -> None:
    assert not has_password_form(parse(page))


def test_a_page_made_to_stall_is_looked_at_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[object] = []
    monkeypatch.setattr(login, "_is_hidden", lambda _tree, number: looks.append(number))
    has_password_form(parse("<form>" + "<div>" * 4000 + "<input type=password>" * 4000))
    assert 0 < len(looks) <= login.MOST_FIELDS * (login.DEEPEST + 1)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("two words", 2), ("清晨的渔港已经醒来", 5), ("古い灯台 keeper", 4)]
)
def test_words_are_counted_in_any_language(text: str, words: int) -> None:
    assert count_words(text) == words


@given(st.text(max_size=80), st.text(max_size=80), st.booleans(), st.booleans(), st.integers(0, 300))
def test_any_text_is_judged(url: str, title: str, was_redirected: bool, has_form: bool, words: int) -> None:
    for address in (url, f"https://a.example/{url}", f"https://{url}/login"):
        assert is_login_url(address) in {False, True}
        assert not redirects_to_login(address, address)
        is_wall = is_login_required(
            url=address,
            was_redirected=was_redirected,
            status_code=200,
            has_password_form=has_form,
            words=words,
            links=5,
            title=title,
        )
        assert not is_wall or (words < login.MANY_WORDS and (has_form or (was_redirected and is_login_url(address))))
