import pytest

from forager.archive import ContentPolicy, keep
from forager.errors import ConfigurationError
from forager.records import Fetched

PAGE = Fetched("https://a.example/x", 200, {}, b"body", 4, 1)


def test_signals_drop_the_body() -> None:
    keep(ContentPolicy("signals"), PAGE)


@pytest.mark.parametrize("policy", [policy for policy in ContentPolicy if policy is not ContentPolicy.SIGNALS])
def test_other_policies_say_that_they_do_not_exist_yet(policy: ContentPolicy) -> None:
    with pytest.raises(ConfigurationError, match=f"'{policy.value}' is not available yet"):
        keep(policy, PAGE)
