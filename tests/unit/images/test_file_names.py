import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.images.file_names import file_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://a.example/img/blue%20kettle.JPG?w=1", "7-blue-kettle.jpg"),
        ("http://a.example/", "7.jpg"),
        ("http://a.example/..", "7.jpg"),
        ("http://a.example/%2e%2e%2fetc%2fpasswd", "7-passwd.jpg"),
        ("http://a.example/.htaccess", "7-htaccess.jpg"),
    ],
)
def test_the_name_of_a_file(url: str, name: str) -> None:
    assert file_name(7, url, "jpeg") == name


@given(st.text(max_size=200), st.sampled_from(["png", "jpeg", None]))
def test_a_name_is_safe_whatever_the_url_holds(path: str, file_format: str | None) -> None:
    url = "http://a.example/" + path.replace("[", "").replace("]", "")
    assert re.fullmatch(r"7[A-Za-z0-9._-]{0,90}", file_name(7, url, file_format))
