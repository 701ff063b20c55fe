"""A login form is found by its fields and filled as a browser fills it."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.fetch.models import Fetched
from forager.parsing.login_form import MULTIPART, describe_forms, fill_form, find_form, read_forms

URL = "https://shop.example/account/login"


def a_page(markup: str) -> Fetched:
    return Fetched(URL, 200, {"content-type": "text/html"}, markup.encode(), wire_bytes=0, response_time_ms=0)


def sent(markup: str, **values: str) -> list[tuple[str, str]]:
    form = find_form(read_forms(a_page(markup)), values)
    assert form is not None
    submission = fill_form(form, values)
    assert submission is not None
    text = submission.body.decode() if submission.is_post else submission.url.partition("?")[2]
    return parse_qsl(text, keep_blank_values=True)


def test_fields_are_sent_as_the_page_has_them() -> None:
    markup = """<form action=/find><input name=user></form>
    <form method=POST action="../session?x=1#top">
      <input type=hidden name=csrf value="a&amp;b">
      <input name=user value="old"><input type=password name=pass>
      <input type=checkbox name=stay checked><input type=checkbox name=news value=1>
      <input type=radio name=kind value=a><input type=radio name=kind value=b checked>
      <select name=site><option value=1>one<option selected>two</select>
      <textarea name=note>words</textarea>
      <input name=off disabled value=x><input type=file name=file>
      <button type=button name=no value=1>no</button><button name=go value=in>Go</button>
      <input type=submit name=more value=2>
    </form>"""
    assert sent(markup, user="al", **{"pass": "s&t"}) == [
        ("csrf", "a&b"), ("user", "al"), ("pass", "s&t"), ("stay", "on"), ("kind", "b"), ("site", "two"),
        ("note", "words"), ("go", "in"),
    ]  # fmt: skip
    form = find_form(read_forms(a_page(markup)), {"user": "", "pass": ""})
    assert form is not None
    assert form.action == "https://shop.example/session?x=1"
    assert form.has_password


def test_a_form_without_a_method_is_a_get() -> None:
    markup = "<form action='/in?old=1'><input name=user><input type=password name=pw></form>"
    form = read_forms(a_page(markup))[0]
    submission = fill_form(form, {"user": "a b", "pw": "ü"})
    assert submission is not None
    assert (submission.is_post, submission.url) == (False, "https://shop.example/in?user=a+b&pw=%C3%BC")


def test_a_multipart_form() -> None:
    markup = f"<form method=post enctype={MULTIPART}><input name=user><input name=pw type=password></form>"
    submission = fill_form(read_forms(a_page(markup))[0], {"user": 'a"b', "pw": "ü"})
    assert submission is not None
    boundary = submission.content_type.partition("boundary=")[2]
    assert submission.url == URL
    assert submission.body.decode().count(f"--{boundary}") == 3
    assert 'name="pw"\r\n\r\nü\r\n' in submission.body.decode()


@pytest.mark.parametrize(
    "markup",
    [
        "<form id=f></form><input form=f name=user><input form=f type=password name=pw>",
        "<table><form><tr><td><input name=user><td><input type=password name=pw></table>",
        "<base href='https://shop.example/x/'><form><div><p><input name=user><input name=pw type=password></form>",
    ],
)
def test_fields_need_not_be_inside_the_form(markup: str) -> None:
    assert find_form(read_forms(a_page(markup)), {"user": "", "pw": ""}) is not None


def test_another_form_is_described_and_not_taken() -> None:
    forms = read_forms(a_page("<form><input name=email><input type=password name=secret></form>"))
    assert find_form(forms, {"user": "x"}) is None
    assert describe_forms(forms) == "email, secret"
    assert describe_forms([]) == "no form"


def test_nothing_shows_values() -> None:
    form = read_forms(a_page("<form method=post><input name=t value=tok3n><input name=pw></form>"))[0]
    assert "tok3n" not in repr(form)
    assert "s3cret" not in repr(fill_form(form, {"pw": "s3cret"}))


@given(st.text(alphabet="<>/=\"' forminputselectoptionbutton\n\0\u00e4", max_size=300))
def test_any_markup_ends_well(markup: str) -> None:
    for form in read_forms(a_page(f"<form>{markup}")):
        fill_form(form, {"a": "b"})
