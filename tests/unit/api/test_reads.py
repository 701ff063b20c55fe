"""The cookie that says what somebody has changed last."""

import pytest

from forager.api.caller import Caller
from forager.api.reads import UNKNOWN, read_position, write_position

HOME, ABROAD = Caller("127.0.0.1", is_secure=False), Caller("192.0.2.1", is_secure=True)


@pytest.mark.parametrize("caller", [HOME, ABROAD])
def test_what_is_written_is_read_again(caller: Caller) -> None:
    name, _, rest = write_position(123_456, caller, 69.5).partition("=")
    assert rest.startswith("123456; Path=/; Max-Age=70; HttpOnly; SameSite=Lax")
    assert ("; Secure" in rest) == name.startswith("__Host-") == caller.is_secure
    assert read_position({name: rest.partition(";")[0]}, caller) == 123_456


def test_who_has_none_changed_nothing_lately() -> None:
    assert read_position({}, HOME) == 0


@pytest.mark.parametrize("told", ["", "-1", "1/2", "nonsense", "٣", "9" * 20, "1.5"])
def test_what_is_no_position_is_behind_everything(told: str) -> None:
    assert read_position({"forager_position": told}, HOME) == UNKNOWN
