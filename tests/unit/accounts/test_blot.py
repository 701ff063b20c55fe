"""What goes into the audit log for ever holds no secret, and nothing the database refuses."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forager.accounts.audit import BLOT, redact
from forager.accounts.credentials import csrf_token, is_csrf_token, new_token
from forager.accounts.identity import Identity, Role, Scope, anon_identity, operator

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(exclude_categories=()))
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "name", ["password", "new_password", "Proxy-Password", "secret_key", "API_KEY", "token", "csrf_token", "Cookie"]
)
def test_secrets_are_blotted_out_by_name(name: str) -> None:
    assert redact({"a": [{name: "hunter2"}], name: {"deep": "hunter2"}}) == {"a": [{name: BLOT}], name: BLOT}


@pytest.mark.parametrize("url", ["http://user:hunter2@proxy.example:3128", "socks5://hunter2@proxy.example"])
def test_accounts_in_addresses_are_blotted_out(url: str) -> None:
    assert "hunter2" not in redact({"added": [url]})["added"][0]
    assert "proxy.example" in redact(url)


def test_an_at_in_a_path_is_no_account() -> None:
    assert redact("https://a.example/@alice?mail=b@c") == "https://a.example/@alice?mail=b@c"


NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""As JSON writes it; behind another backslash it is a text about one."""


@given(anything)
@example(b"\\u0000")
def test_whatever_it_is_it_becomes_json_that_postgresql_takes(value: Any) -> None:
    told = json.dumps(redact({"value": value}), default=str, allow_nan=False)
    assert not NUL.search(told)
    told.encode()
    json.loads(told)


def test_it_is_bounded() -> None:
    assert len(json.dumps(redact({str(n): "x" * 10_000 for n in range(1000)}))) < 250_000
    assert len(redact(list(range(10_000)))) == 100


def test_signatures_say_which_door_and_who() -> None:
    assert Identity("alice", Role.ADMIN, "token").signature == "api:alice"
    assert (anon_identity().signature, operator("cli:root").signature, operator("cli").signature) == (
        "api:anonymous",
        "cli:root",
        "cli:unknown",
    )


@pytest.mark.parametrize(
    ("role", "scope", "may_change", "may_manage"),
    [
        (Role.ADMIN, Scope.ADMIN, True, True),
        (Role.ADMIN, Scope.WRITE, True, False),
        (Role.ADMIN, Scope.READ, False, False),
        (Role.USER, Scope.ADMIN, False, False),
        (Role.ANONYMOUS, Scope.ADMIN, False, False),
    ],
)
def test_a_credential_never_does_more_than_role_and_scope(
    role: Role, scope: Scope, may_change: bool, may_manage: bool
) -> None:
    who = Identity("alice", role, "token", 1, scope)
    assert (who.can_change, who.can_manage) == (may_change, may_manage)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=100))
def test_a_csrf_token_fits_its_own_session_only(given_text: str) -> None:
    one, other = new_token(), new_token()
    assert is_csrf_token(csrf_token(one), one)
    assert not is_csrf_token(csrf_token(one), other)
    assert not is_csrf_token(given_text, one)
