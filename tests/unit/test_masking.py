"""Secrets in URLs: masked where they are shown, and nothing else is."""

import pytest

from forager.masking import mask_accounts, mask_urls


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:hunter2@s3.example/x", "https://***@s3.example/x"),
        ("https://AKIA:hunter2@s3.example:9000", "https://***@s3.example:9000"),
        (
            "a proxy http://u:p@10.0.0.1:3128 failed, and socks5://x:y@h",
            "a proxy http://***@10.0.0.1:3128 failed, and socks5://***@h",
        ),
        ("https://social.example/@alice", "https://social.example/@alice"),
        ("write to alice@a.example", "write to alice@a.example"),
        ("https://a.example/?mail=b@c.example", "https://a.example/?mail=b@c.example"),
    ],
)
def test_accounts_of_urls(text: str, shown: str) -> None:
    assert mask_accounts(text) == mask_urls(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://s3.example/?X-Amz-Signature=abc&x=1", "https://s3.example/?X-Amz-Signature=***&x=1"),
        ("https://h.example/hook?token=abc#x", "https://h.example/hook?token=***#x"),
        ("https://h.example/?api_key=abc&keyword=shoes", "https://h.example/?api_key=***&keyword=shoes"),
        ("postgresql:///x?password=hunter2&sslmode=require", "postgresql:///x?password=***&sslmode=require"),
    ],
)
def test_parameters_of_addresses_an_operator_gave(text: str, shown: str) -> None:
    assert mask_urls(text) == shown
    assert mask_accounts(text) == text
