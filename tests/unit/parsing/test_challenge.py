# ruff: noqa: E501
"""Challenge pages are recognised by what only they have; a page with content never is one, whatever it embeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.fetch.models import Fetched
from forager.parsing.challenge import find_refusal_challenge
from forager.parsing.page import read

ARTICLE = "<p>" + "The harbour was quiet in the morning and the boats were leaving one after the other. " * 30 + "</p>"
NAVIGATION = "".join(f'<a href="/{number}">Section {number}</a> ' for number in range(40))


def challenge_of(html: str, url: str = "https://shop.example/thing", **headers: str) -> str | None:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    body = html.encode()
    fetched = Fetched(url, 200, {"content-type": "text/html; charset=utf-8", **names}, body, len(body), 1)
    return read(fetched, keyword_words=100).challenge


CLOUDFLARE = """<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta http-equiv="refresh" content="390">
</head><body class="no-js"><div class="main-wrapper"><div class="main-content"><noscript><div>Enable JavaScript and cookies to
continue</div></noscript></div></div><script>(function(){window._cf_chl_opt={cvId: '3',cZone: "shop.example",cType: 'managed'};
var a = document.createElement('script');a.src = '/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=8';}());</script>
</body></html>"""
DATADOME = """<html lang="en"><head><title>shop.example</title><style>#cmsg{animation: A 1.5s;}</style></head><body style="margin:0">
<p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">var dd={'rt':'c','cid':'AHrlq',
'hsh':'123','t':'fe','s':4, 'host':'geo.captcha-delivery.com'}</script><script src="https://ct.captcha-delivery.com/c.js"></script>
</body></html>"""
PERIMETERX = """<!DOCTYPE html><html lang="en"><head><title>Access to this page has been denied</title></head><body>
<div class="px-captcha-container"><h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1><div id="px-captcha"></div>
<p>Reference ID abc</p></div><script>window._pxAppId = 'PXabc';</script></body></html>"""
IMPERVA = """<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body style="margin:0">
<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1-2-3&incident_id=12-34&edet=12" frameborder=0 width="100%">
Request unsuccessful. Incapsula incident ID: 12-34</iframe></body></html>"""
AKAMAI = """<html><head><title>Challenge Validation</title><script src="/_sec/cp_challenge/ak-challenge-3-3.htm"></script></head>
<body><div id="sec-if-cpt-container"></div></body></html>"""
AKAMAI_REFRESH = """<!DOCTYPE html><html><head><title>&nbsp;</title><meta http-equiv="refresh" content="5; URL='/x?bm-verify=AAQ'" />
</head><body><script>var i = 1;</script></body></html>"""
AWS = """<!DOCTYPE html><html lang="en"><head><title></title><script>window.awsWafCookieDomainList = [];window.gokuProps = {"key":"A"};
</script><script src="https://a.token.awswaf.com/a/challenge.js"></script></head><body><div id="challenge-container"></div>
<noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not a robot.</noscript></body></html>"""
F5 = """<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. Please consult with your
administrator.<br><br>Your support ID is: 123<br><br><a href='javascript:history.back();'>[Go Back]</a></body></html>"""
AMAZON = """<html><head><title>Amazon.com</title></head><body><h4>Enter the characters you see below</h4><p>Sorry, we just need to
make sure you're not a robot.</p><form method="get" action="/errors/validateCaptcha"><img src="https://x/captcha/a.jpg">
<input id="captchacharacters" name="field-keywords" type="text"></form></body></html>"""
ANUBIS = """<!doctype html><html lang="en"><head><title>Making sure you&#39;re not a bot!</title><script id="anubis_version"
type="application/json">"v1"</script><script id="anubis_challenge" type="application/json">{}</script></head><body><h1>Making sure
you're not a bot!</h1><p>Loading...</p></body></html>"""
RECAPTCHA = """<html><head><title>Security check</title><script src="https://www.google.com/recaptcha/api.js"></script></head><body>
<h1>One more step</h1><p>Please complete the captcha to continue to shop.example.</p><form method=post><div class="g-recaptcha"
data-sitekey="x"></div><input type=submit value=Continue></form></body></html>"""
HCAPTCHA = """<html><head><title>Are you a robot?</title></head><body><p>Verify that you are human.</p><div class="h-captcha"></div>
<script src="https://js.hcaptcha.com/1/api.js"></script></body></html>"""
TURNSTILE = """<html><head><title>Bitte warten</title></head><body><p>Bitte bestätigen Sie, dass Sie ein Mensch sind.</p>
<div class="cf-turnstile"></div><script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script></body></html>"""
HOME_MADE = """<html><head><title>Checking your browser</title></head><body><h1>Checking your browser before accessing the site.</h1>
<script>document.cookie = "ok=1"; location.reload()</script></body></html>"""
GOOGLE_CONSENT = """<!doctype html><html lang="en"><head><title>Before you continue to Google Search</title></head><body><h1>Before you
continue to Google</h1><p>We use cookies and data to deliver and maintain services, track outages, measure audience engagement.
If you choose to Accept all, we will also use cookies and data to personalize content and ads. Manage privacy settings and
consent choices any time.</p><form action="/save"><button>Reject all</button></form><form action="/save"><button>Accept all</button>
</form><a href="/privacy">Privacy</a> <a href="/terms">Terms</a></body></html>"""
YAHOO_CONSENT = """<html lang="de"><head><title>Ihre Datenschutzeinstellungen</title></head><body></body></html>"""
PUR_WALL = """<html lang="de"><head><title>Zustimmung erforderlich - Zeitung</title></head><body><h2>Weiter mit Werbung lesen</h2><p>Wir
und unsere 150 Partner verwenden Cookies und speichern personenbezogene Daten auf Ihrem Gerät, um Anzeigen zu personalisieren.
Mit Ihrer Einwilligung ... Sie können Ihre Einwilligung widerrufen und Einstellungen verwalten.</p>
<button>Alle akzeptieren</button><a href="/abo">Abo abschließen</a></body></html>"""


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (CLOUDFLARE, "challenge: cloudflare"),
        (DATADOME, "challenge: datadome"),
        (PERIMETERX, "challenge: perimeterx"),
        (IMPERVA, "challenge: imperva"),
        (AKAMAI, "challenge: akamai"),
        (AKAMAI_REFRESH, "challenge: akamai"),
        (AWS, "challenge: aws"),
        (F5, "challenge: f5"),
        (AMAZON, "challenge: amazon"),
        (ANUBIS, "challenge: anubis"),
        (RECAPTCHA, "captcha"),
        (HCAPTCHA, "captcha"),
        (TURNSTILE, "captcha"),
        (HOME_MADE, "challenge: unknown"),
        (GOOGLE_CONSENT, "consent_wall"),
        (PUR_WALL, "consent_wall"),
    ],
)
def test_challenges(html: str, reason: str) -> None:
    assert challenge_of(html) == reason


def test_a_header_of_a_service_is_enough() -> None:
    assert challenge_of("<p>x", cf_mitigated="challenge") == "challenge: cloudflare"


COMMENT_FORM = """<form action=/comments><textarea name=comment></textarea><input name=email><div class=g-recaptcha></div></form>
<script src="https://www.google.com/recaptcha/api.js"></script>"""
BANNER = """<div id=banner><p>We value your privacy. We and our partners use cookies and personal data to show ads. Manage your
privacy settings.</p><button>Accept all</button></div>"""


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            f"<title>Harbour</title>{ARTICLE}{COMMENT_FORM}", id="an article with a captcha in its comment form"
        ),
        pytest.param(f"<title>Write to us</title><h1>Write to us</h1>{COMMENT_FORM}", id="a short contact form"),
        pytest.param(
            "<title>Sign up</title><p>Verify that you are human.</p><form><input name=email><input name=user>"
            "<div class=h-captcha></div></form>",
            id="a short registration",
        ),
        pytest.param(
            "<title>Log in</title><form><input name=user><input type=password name=p><div class=g-recaptcha></div></form>",
            id="a login form with a captcha",
        ),
        pytest.param(
            f"<title>Are you a robot? How captchas work</title>{ARTICLE}<code>&lt;div id=px-captcha&gt; _cf_chl_opt</code>",
            id="an article about captchas",
        ),
        pytest.param(
            "<title>What is _cf_chl_opt?</title><p>I see <code>window._cf_chl_opt</code> in a page. What does it do?</p>"
            "<code>window._cf_chl_opt = {}</code>",
            id="a short question about a mark",
        ),
        pytest.param(
            f"<title>Just a moment | Novels</title><h1>Just a moment</h1>{ARTICLE}", id="a novel with such a title"
        ),
        pytest.param("<title>Just a moment</title><p>A poem in few words.</p>", id="a poem with such a title"),
        pytest.param(f"<title>Thing</title>{ARTICLE}{BANNER}", id="a banner over content"),
        pytest.param(f"<title>Thing</title><h1>Thing</h1><p>9.99 EUR</p>{BANNER}", id="a banner over a short page"),
        pytest.param(f"<title>Cookies</title>{NAVIGATION}{BANNER}", id="a page about cookies with navigation"),
        pytest.param(
            "<title>Thing</title><h1>Thing</h1><p>In stock.</p><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js>"
            "</script><script>window.__CF$cv$params={r:'8'}</script>",
            id="a short page behind Cloudflare",
        ),
        pytest.param(
            "<title>Thing</title><h1>Thing</h1><p>In stock.</p><script src='/_Incapsula_Resource?SWJIYLWA=719d34&ns=2'></script>",
            id="a short page behind Imperva",
        ),
        pytest.param(
            "<title>Thing</title><h1>Thing</h1><script src=https://js.datadome.co/tags.js></script><script>window.ddjskey='A'"
            "</script><script>window._pxAppId='PX1'</script><script src=https://client.px-cdn.net/PX1/main.min.js></script>",
            id="a short page behind DataDome and PerimeterX",
        ),
        pytest.param("<title>App</title><div id=root></div><script src=/app.js></script>", id="a shell for scripts"),
        pytest.param("<title>Access denied</title><p>This report is for members.</p>", id="a page that denies access"),
        pytest.param("", id="nothing"),
    ],
)
def test_content_is_no_challenge(html: str) -> None:
    assert challenge_of(f"<!doctype html><html lang=en>{html}") is None


def test_a_policy_about_cookies_is_content() -> None:
    policy = PUR_WALL.replace("Zustimmung erforderlich - Zeitung", "Cookies")
    assert challenge_of(policy, "https://a.example/cookie-policy") is None
    assert challenge_of(policy, "https://a.example/datenschutz") is None


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_read(text: str, title: str) -> None:
    assert challenge_of(f"<title>{title}</title><p>{text}") in {None, "captcha", "challenge: unknown", "consent_wall"}


@pytest.mark.parametrize(
    ("headers", "body", "reason"),
    [
        ({"cf-mitigated": "challenge"}, b"", "challenge: cloudflare"),
        ({}, CLOUDFLARE.encode(), "challenge: cloudflare"),
        ({"x-datadome": "protected"}, b"{}", "challenge: datadome"),
        ({}, RECAPTCHA.encode(), "captcha"),
        (
            {},
            b"<title>Attention Required! | Cloudflare</title><h1 data-translate='block_headline'>",
            "challenge: cloudflare",
        ),
        ({}, b"<h1>403 Forbidden</h1><hr>nginx", None),
        ({"server": "cloudflare"}, b"<title>shop | 522: Connection timed out</title><div id=cf-error-details>", None),
        ({}, b"", None),
    ],
)
def test_refusals(headers: dict[str, str], body: bytes, reason: str | None) -> None:
    assert find_refusal_challenge(headers, body) == reason
