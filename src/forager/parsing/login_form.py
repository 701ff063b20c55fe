"""Finds the login form of a page and builds what a browser would send for it. Pure.

The form is the one that has the named fields. Its other fields are sent as the page has them: hidden ones with their
tokens, checked boxes, selected options and the first button.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from forager.fetch.models import Fetched
from forager.parsing.charset import to_utf8
from forager.parsing.tree_types import Tree
from forager.urls.resolve import resolve_links

URLENCODED, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
MOST_FORMS, MOST_FIELDS, LONGEST_VALUE = 50, 500, 64 * 1024
DEEPEST = 200
NOT_SENT = frozenset({"button", "reset", "file", "image"})
SUBMITS = frozenset({"submit", ""})


@dataclass(frozen=True, slots=True)
class LoginForm:
    """A form of a page. Values of its fields may be tokens: `repr` shows names only."""

    action: str | None
    """Where it is sent, a normalised URL; None: to no page of the web."""
    is_post: bool
    encoding: str
    fields: Sequence[tuple[str, str]] = field(repr=False, default=())
    """What is sent if nobody changes anything, in document order."""
    names: frozenset[str] = frozenset()
    """All fields, also those that would not be sent."""
    has_password: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """A filled form, ready to be sent. `repr` shows no values."""

    url: str
    is_post: bool
    content_type: str = ""
    body: bytes = field(repr=False, default=b"")


def read_forms(fetched: Fetched) -> list[LoginForm]:
    """Returns the forms of a page in document order; a page without markup has none."""
    from forager.parsing.tree import parse  # a worker without logins does not load the parser

    page, _ = to_utf8(fetched.body, fetched.content_type)
    tree = parse(page)
    base = _base_of(tree, fetched.url)
    forms = tree.tags("form")[:MOST_FORMS]
    owners = {tree.get(form, "id"): form for form in reversed(forms) if tree.get(form, "id")}
    controls: dict[int, list[int]] = {form: [] for form in forms}
    for control in tree.tags("input", "select", "textarea", "button")[: MOST_FIELDS * MOST_FORMS]:
        owner = _owner_of(tree, control, owners, forms)
        if owner in controls and len(controls[owner]) < MOST_FIELDS:
            controls[owner].append(control)
    return [_read_form(tree, form, controls[form], base) for form in forms]


def find_form(forms: Sequence[LoginForm], names: Mapping[str, str] | frozenset[str]) -> LoginForm | None:
    """Returns the form that has all named fields; of several, one with a password field, or else the first."""
    fitting = [form for form in forms if form.names.issuperset(names)]
    return next((form for form in fitting if form.has_password), fitting[0] if fitting else None)


def describe_forms(forms: Sequence[LoginForm]) -> str:
    """Returns what fields the forms of a page have, for the operator who named others."""
    shown = [", ".join(sorted(form.names)[:12]) or "none" for form in forms[:4]]
    return "; ".join(shown) if shown else "no form"


def fill_form(form: LoginForm, values: Mapping[str, str]) -> Submission | None:
    """Returns what is sent; None if the form leads to no page of the web."""
    if form.action is None:
        return None
    sent = [(name, values.get(name, value)) for name, value in form.fields]
    known = {name for name, _ in sent}
    sent += [(name, value) for name, value in values.items() if name not in known]
    if not form.is_post:
        place = form.action.partition("#")[0].partition("?")[0]
        return Submission(f"{place}?{urlencode(sent)}", is_post=False)
    if form.encoding == MULTIPART:
        boundary = f"forager-{secrets.token_hex(12)}"
        return Submission(form.action, True, f"{MULTIPART}; boundary={boundary}", _multipart(sent, boundary))
    return Submission(form.action, True, URLENCODED, urlencode(sent).encode("ascii"))


def _base_of(tree: Tree, url: str) -> str:
    hrefs = [href for href in tree.column(tree.tags("base"), "href") if href]
    return (resolve_links(url, [hrefs[0]])[0] or url) if hrefs else url


def _owner_of(tree: Tree, control: int, owners: Mapping[str | None, int], forms: Sequence[int]) -> int | None:
    """Returns the form of a control: the one it names, the one around it, or, where the parser placed the form beside
    its fields, as in the tables of old pages, the only one."""
    named = tree.get(control, "form")
    if named:
        return owners.get(named)
    number = control
    for _ in range(DEEPEST):
        number = tree.parent(number)
        if number < 0:
            break
        if tree.tag(number) == "form":
            return number
    return forms[0] if len(forms) == 1 else None


def _read_form(tree: Tree, form: int, controls: Sequence[int], base: str) -> LoginForm:
    kept: list[tuple[str, str]] = []
    names: set[str] = set()
    has_password = has_button = False
    for control in controls:
        attributes = tree.attributes(control)
        name, tag = attributes.get("name", ""), tree.tag(control)
        kind = attributes.get("type", "text" if tag == "input" else "").strip().lower()
        has_password |= kind == "password"
        if not name or "disabled" in attributes:
            continue
        names.add(name)
        value = _value_of(tree, control, tag, kind, attributes)
        is_button = (tag == "input" and kind == "submit") or (tag == "button" and kind in SUBMITS)
        if is_button:
            value, has_button = None if has_button else attributes.get("value", ""), True
        if value is not None:
            kept.append((name, value[:LONGEST_VALUE]))
    action = (tree.get(form, "action") or "").strip()
    encoding = (tree.get(form, "enctype") or "").strip().lower()
    return LoginForm(
        resolve_links(base, [action])[0] if action else base,
        (tree.get(form, "method") or "").strip().lower() == "post",
        MULTIPART if encoding == MULTIPART else URLENCODED,
        kept,
        frozenset(names),
        has_password,
    )


def _value_of(tree: Tree, control: int, tag: str, kind: str, attributes: Mapping[str, str]) -> str | None:
    """Returns what a browser sends for an untouched field; None: nothing."""
    if tag == "select":
        return _selected(tree, control)
    if tag == "textarea":
        return tree.raw(control).removeprefix("\n")
    if tag == "button" or kind in NOT_SENT or kind == "submit":
        return None
    if kind in {"checkbox", "radio"}:
        return attributes.get("value", "on") if "checked" in attributes else None
    return attributes.get("value", "")


def _selected(tree: Tree, control: int) -> str | None:
    options = [option for option in tree.tags("option") if control < option < tree.end(control)]
    if not options:
        return None
    chosen = next((option for option in options if "selected" in tree.attributes(option)), options[0])
    value = tree.get(chosen, "value")
    return tree.text(chosen) if value is None else value


def _multipart(pairs: Sequence[tuple[str, str]], boundary: str) -> bytes:
    parts = []
    for name, value in pairs:
        shown = name.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")
        parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{shown}"\r\n\r\n{value}\r\n')
    return ("".join(parts) + f"--{boundary}--\r\n").encode()
