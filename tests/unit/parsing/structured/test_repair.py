"""JSON that is not quite JSON, and JSON made to hurt."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing.structured.jsonld import decode_scripts, read_jsonld
from forager.parsing.structured.repair import read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_good_json_is_read_as_it_is(content: dict[str, object]) -> None:
    assert read_json(json.dumps(content)) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('{"a": "a "quoted" word", "b": 2}', {"a": 'a "quoted" word', "b": 2}),
        ('{"a": 1', {"a": 1}),
        ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
        ('{"a": 1}}', {"a": 1}),
        ('{"a": 1};', {"a": 1}),
        ('<!-- {"a": 1} -->', {"a": 1}),
        ('//<![CDATA[\n{"a": 1}\n//]]>', {"a": 1}),
        ('/* <![CDATA[ */{"a": 1}/* ]]> */', {"a": 1}),
        ("{&quot;a&quot;: 1}", {"a": 1}),
        ('{"a": , "b": 2}', {"a": None, "b": 2}),
        ('{"a": undefined}', {"a": None}),
        ('{"a": "\\x bad \\d"}', {"a": "\\x bad \\d"}),
        ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": /* why */ 1}', {"a": 1}),
        ('{"a": "x", // why "this"\n"b": 2}', {"a": "x", "b": 2}),
        ('{"a": "x" /* "why" */, "b": "http://c"}', {"a": "x", "b": "http://c"}),
        ('{"a": 1, <!-- "b": 2, --> "c": 3,}', {"a": 1, "c": 3}),
        ('{"a": NaN, "b": 1e999}', {"a": None, "b": float("inf")}),
        ('{"a": "\\ud83d \\ud83d\\ude00"}', {"a": "\ufffd \U0001f600"}),
        ('\ufeff{"a": 1}', {"a": 1}),
    ],
)
def test_broken_json_is_repaired(text: str, content: object) -> None:
    assert read_json(text) == content


@pytest.mark.parametrize("text", ["", "   ", "hello", "<html>", '{"a" "b" "c"', "function () {}"])
def test_what_is_no_json_is_none_or_harmless(text: str) -> None:
    assert read_json(text) is None or isinstance(read_json(text), dict | list | str)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        '"' * 300_000,
        '{"Product": "' + '\\"' * 150_000,
        '{"Product": "' + 'a" b' * 75_000,
        ("{" + '"a": 1,' * 40_000 + "},") * 1,
        '{"@type": "Product", "name": "' + "x" * 1_000_000,
        '{"price": 1e999999999, "@type": "Product"}',
        '{"price": ' + "9" * 200_000 + ', "@type": "Product"}',
        "[" + '{"@type":"Product","name":"x"},' * 20_000 + "]",
    ],
    ids=range(10),
)
def test_hostile_json_ends_soon(text: str) -> None:
    began = time.process_time()
    items = read_jsonld(decode_scripts([text, '{"@type": "Product", "name": "real"}']))
    assert items[-1].text("name") == "real" or len(items) >= 1000
    assert time.process_time() - began < 5


@given(st.text(max_size=300))
def test_no_script_breaks_the_reader(text: str) -> None:
    read_jsonld(decode_scripts([text, "Product" + text, '{"@type":"Product",' + text]))
