"""Records by selectors: values as languages write them, sources in order, hostile files and hostile pages."""

import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.errors import UsageError
from forager.fetch.models import Fetched
from forager.parsing import page
from forager.parsing.extractors import jsonpath
from forager.parsing.extractors.load import ExtractorFolder, load_folder, parse_extractor
from forager.parsing.extractors.run import Extraction, extract
from forager.parsing.extractors.values import Context, convert
from forager.parsing.products.currency import get_locale

URL = "https://shop.example/lamps/1"
HEAD = 'name = "lamps"\n[record]\nkind = "lamp"\n'
PAGE = """<html lang=de><head><title>Lampen</title><meta property="og:image" content="/big.png">
<script type="application/ld+json">{"@type": "Product", "name": "Lampe A", "offers": {"price": "19.90",
"priceCurrency": "EUR"}, "sku": ["A-1", "A-2"]}</script>
<script type="application/json" id="state">{"product": {"stock": 7, "tags": ["neu", "rot"]}}</script></head>
<body><h1>Lampe <b>A</b></h1><time datetime="2024-03-12T10:00:00Z">gestern</time><span class=d>12. März 2024</span>
<ul class=cards><li><a href="/a">A</a> <i class=p>1.299,00 €</i><img data-src="a.png" src="data:x"></li>
<li><a href="/b">B</a> <i class=p>ab 9,99 €</i></li><li><a href="/a">A again</a></li><li></li></ul>
<p>Art.-Nr.: X-77, Gewicht 2,5 kg</p><script>var x = "hidden"</script></body></html>"""


def found(definition: str, html: str = PAGE, url: str = URL) -> Extraction:
    body = html.encode()
    fetched = Fetched(url, 200, {"content-type": "text/html; charset=utf-8"}, body, len(body), 0)
    reading = page.read(fetched, keyword_words=0)
    return extract(fetched, reading, [parse_extractor(definition, "lamps.toml")])


def value_of(field: str, html: str = PAGE) -> Any:
    [record] = found(f"{HEAD}[fields.x]\n{field}\n[fields.always]\ncss = 'body'", html).records
    return record.fields["x"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("css = 'h1'", "Lampe A"),
        ("css = 'li a::attr(href)'", "/a"),
        ("css = 'li a'\ntype = 'url'", "https://shop.example/a"),
        ("css = 'li a'\ntype = 'url'\nmany = true", ["https://shop.example/a", "https://shop.example/b"]),
        ("css = 'li'\nattribute = 'title'", None),
        ("xpath = '//h1/b/text()'", "A"),
        ("xpath = 'count(//li)'\ntype = 'number'", 4),
        ("jsonpath = '$.name'", "Lampe A"),
        ("jsonpath = '$.offers'\ntype = 'money'", {"amount": "19.90", "currency": "EUR"}),
        ("jsonpath = '$.sku'\ntype = 'list'", ["A-1", "A-2"]),
        ("jsonpath = '$.product.stock'\ntype = 'number'", 7),
        ("jsonpath = \"$[?(@['@type'] == 'Product')].name\"", "Lampe A"),
        ("meta = 'og:image'\ntype = 'image'", "https://shop.example/big.png"),
        ("css = 'li img'\ntype = 'image'", "https://shop.example/lamps/a.png"),
        ("regex = 'Art\\.-Nr\\.: (\\S+),'", "X-77"),
        ("regex = 'Gewicht ([\\d,]+)'\ntype = 'number'", 2.5),
        ("regex = '<i class=p>([^<]+)'\nwithin = 'html'\ntype = 'money'", {"amount": "1299.00", "currency": "EUR"}),
        ("css = '.p'\ntype = 'money'", {"amount": "1299.00", "currency": "EUR"}),
        ("css = '.d'\ntype = 'date'", "2024-03-12"),
        ("css = 'time'\ntype = 'date'", "2024-03-12T10:00:00Z"),
        ("css = '.none'\ntype = 'flag'", None),
        ("css = 'h1'\ntype = 'flag'", True),
        ("css = 'h1'\nstrip = '^Lampe '", "A"),
        ("css = 'h1'\nreplace = [['Lampe', 'Lamp'], [' A$', '!']]", "Lamp!"),
        ("css = '.none'\ndefault = 'nothing'", "nothing"),
        ("sources = [{css = '.none'}, {jsonpath = '$.nope'}, {meta = 'nope'}, {css = 'h1'}]", "Lampe A"),
        ("css = 'ul.cards'\ntype = 'list'", ["A 1.299,00 €", "B ab 9,99 €", "A again"]),
    ],
)
def test_a_field_is_found_and_has_its_type(field: str, value: Any) -> None:
    assert value_of(field) == value


def test_a_list_gives_a_record_for_each_element_and_one_for_each_key() -> None:
    result = found(
        'name = "cards"\n[record]\nkind = "card"\neach = "ul.cards > li"\n'
        "[fields.link]\ncss = 'a'\ntype = 'url'\nkey = true\n"
        "[fields.price]\ncss = '.p'\ntype = 'money'\nrequired = true"
    )
    told = [
        (each.key, each.fields["price"] and each.fields["price"]["amount"], each.problems) for each in result.records
    ]
    assert told == [("https://shop.example/a", "1299.00", ()), ("https://shop.example/b", "9.99", ())]
    assert result.records[0].evidence["price"] == "css .p: 1.299,00 €"
    [one] = found(
        'name = "x"\n[record]\nkind = "x"\neach = "$.product"\n[fields.stock]\njsonpath = "$.stock"\ntype = "number"'
    ).records
    assert one.fields == {"stock": 7}


def test_a_record_without_a_required_field_is_kept_and_marked() -> None:
    [record] = found(f"{HEAD}[fields.a]\ncss = 'h1'\n[fields.b]\ncss = '.z'\nrequired = true\n"
                     "[fields.c]\ncss = 'h1'\ntype = 'number'").records  # fmt: skip
    assert record.problems == ("missing:b", "invalid:c")
    assert record.fields == {"a": "Lampe A", "b": None, "c": None}
    assert not record.is_complete


@pytest.mark.parametrize(
    ("match", "is_for_it"),
    [
        ("domains = ['shop.example']", True),
        ("domains = 'www.SHOP.example'", True),
        ("domains = ['*.example']", True),
        ("domains = ['other.example']", False),
        ("url = '*/lamps/*'", True),
        ("url = ['*/chairs/*', '*/1']", True),
        ("url = '*/chairs/*'", False),
        ("page = 'article'", False),
        ("selector = 'ul.cards'", True),
        ("selector = 'table'", False),
    ],
)
def test_an_extractor_runs_where_it_matches(match: str, is_for_it: bool) -> None:
    result = found(f'name = "lamps"\n[match]\n{match}\n[record]\nkind = "lamp"\n[fields.a]\ncss = "h1"')
    assert bool(result.records) is is_for_it


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = ", "lamps.toml is no TOML"),
        (HEAD, "lamps.toml: fields: it is missing."),
        (HEAD + "[fields.a]\ncss = 'p['", "lamps.toml: [fields.a]: css 'p[': "),
        (HEAD + "[fields.a]\nxpath = '//p['", "lamps.toml: [fields.a]: xpath '//p[': "),
        (HEAD + "[fields.a]\nregex = '('", "lamps.toml: [fields.a]: regex '(': it is no regular expression"),
        (HEAD + "[fields.a]\nregex = '(x+)+y'", "a repetition inside a repetition"),
        (HEAD + "[fields.a]\nregex = '((?:a|a)*b*)*c'", "a repetition inside a repetition"),
        (HEAD + "[fields.a]\njsonpath = 'price'", "a path begins with $"),
        (HEAD + "[fields.a]\ncss = 'a'\nmeta = 'b'", "[fields.a]: it has several sources"),
        (HEAD + "[fields.a]\nrequired = true", "[fields.a]: it needs one of css, xpath, jsonpath, regex, meta"),
        (HEAD + "[fields.a]\ncss = 'a'\ntpye = 'text'", "[fields.a] tpye: there is no such key."),
        (HEAD + "[fields.a]\ncss = 'a'\ntype = 'price'", "[fields.a] type: input should be 'text'"),
        (HEAD + "[fields.'a b']\ncss = 'a'", "'a b' is no name of a field"),
        ('name = "Lamps!"\n[record]\nkind = "x"\n[fields.a]\ncss = "a"', "lamps.toml: name: "),
        ('name = "l"\n[record]\nkind = "x"\neach = "li["\n[fields.a]\ncss = "a"', "invalid CSS selector"),
    ],
)
def test_a_mistake_is_one_sentence_with_file_table_and_key(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_extractor(text, "lamps.toml")
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


NESTED = "<script type='application/json'>" + '{"a":[' * 900 + "]}" * 900 + "</script>"
GERMAN = Context(URL, get_locale("https://shop.de/", "de"))
ENGLISH = Context(URL, get_locale("https://shop.co.uk/", "en-GB"))
AMERICAN = Context(URL, get_locale("https://shop.com/", "en-US"))


@pytest.mark.parametrize(
    ("kind", "text", "context", "value"),
    [
        ("number", "1.299", GERMAN, 1299),
        ("number", "1,299", ENGLISH, 1299),
        ("number", "−3,5 °C", GERMAN, -3.5),
        ("number", "1.2k followers", ENGLISH, 1200),
        ("number", True, ENGLISH, None),
        ("money", "1.299,00 €", GERMAN, {"amount": "1299.00", "currency": "EUR"}),
        ("money", "£1,299.00", ENGLISH, {"amount": "1299.00", "currency": "GBP"}),
        ("money", 12, ENGLISH, {"amount": "12", "currency": None}),
        ("money", "free", ENGLISH, None),
        ("date", "03/04/2024", AMERICAN, "2024-03-04"),
        ("date", "03/04/2024", ENGLISH, "2024-04-03"),
        ("date", "31/04/2024", ENGLISH, None),
        ("date", "tomorrow", ENGLISH, None),
        ("url", "javascript:alert(1)", ENGLISH, None),
        ("url", {"@id": "/x"}, ENGLISH, "https://shop.example/x"),
        ("flag", "nein", GERMAN, False),
    ],
)
def test_values_are_read_as_the_pages_language_writes_them(kind: str, text: Any, context: Context, value: Any) -> None:
    assert convert(kind, text, context) == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)


@given(st.sampled_from(["text", "number", "money", "date", "url", "image", "list", "flag"]), JSON)
def test_no_value_of_a_page_is_an_error(kind: str, raw: Any) -> None:
    convert(kind, raw, GERMAN)


@given(st.integers(0, 10**9), st.sampled_from([GERMAN, ENGLISH]))
def test_an_amount_is_what_was_written(cents: int, context: Context) -> None:
    amount = Decimal(cents) / 100
    text = f"{amount:,.2f}"
    if context is GERMAN:
        text = text.translate({ord(","): ".", ord("."): ","})
    money = convert("money", f"{text} €", context)
    assert Decimal(money["amount"]) == amount


@given(st.text(st.sampled_from("$.[]*'\"ab@?()=1-: "), max_size=20), JSON)
def test_a_path_is_understood_or_rejected(path: str, document: Any) -> None:
    try:
        jsonpath.parse(path)
    except ValueError:
        return
    assert len(jsonpath.find(path, document)) <= jsonpath.MOST_FOUND


@pytest.mark.parametrize(
    ("field", "html"),
    [
        ("regex = 'a.*a.*a.*a.*a.*a.*a.*a.*Z'", "a" * 20_000),
        ("jsonpath = '$..a..a..a..a..b'", NESTED),
        ("css = 'div'", "<div>" * 30_000),
        ("xpath = '//div//div//div'\nmany = true", "<div>" * 500),
    ],
)
def test_a_hostile_page_costs_the_extractor_its_time_and_no_more(field: str, html: str) -> None:
    began = time.process_time()
    found(f"{HEAD}[fields.x]\n{field}", f"<html><body>{html}</body></html>")
    assert time.process_time() - began < 20


def test_a_slow_extractor_costs_only_its_own_records() -> None:
    slow = f"{HEAD}[fields.x]\nregex = 'a.*a.*a.*a.*a.*a.*a.*a.*Z'"
    quick = 'name = "quick"\n[record]\nkind = "q"\n[fields.a]\ncss = "p"'
    body = f"<p>{'a' * 20_000}</p>".encode()
    fetched = Fetched(URL, 200, {"content-type": "text/html"}, body, len(body), 0)
    both = [parse_extractor(text, "x.toml") for text in (slow, quick)]
    result = extract(fetched, page.read(fetched, keyword_words=0), both)
    assert [record.extractor for record in result.records] == ["quick"]
    assert result.problems[0].startswith("lamps: too_slow")
    assert result.tried == ("quick",), "records of one that did not come to its end are not gone"


def test_a_broken_file_costs_only_itself_and_a_changed_one_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(HEAD + "[fields.a]\ncss = 'h1'")
    (tmp_path / "b.toml").write_text("name = ")
    (tmp_path / "c.toml").write_text(HEAD + "[fields.a]\ncss = 'h2'")
    (tmp_path / "d.toml").write_bytes(b"\xff\xfe")
    loaded = load_folder(tmp_path)
    assert [each.name for each in loaded.extractors] == ["lamps"]
    assert [bad.file for bad in loaded.bad] == ["b.toml", "c.toml", "d.toml"]
    folder = ExtractorFolder(tmp_path)
    assert folder.get().files == ("a.toml",)
    (tmp_path / "b.toml").write_text('name = "chairs"\n[record]\nkind = "chair"\n[fields.a]\ncss = "h1"')
    folder._looked_at = None
    assert folder.get().files == ("a.toml", "b.toml")
    assert load_folder(tmp_path / "none").extractors == ()
