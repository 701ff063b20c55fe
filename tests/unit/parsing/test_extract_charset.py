import pytest
from tests.unit.parsing.pages import TEXTS, reading
from tests.unit.parsing.sentences import LEGACY_CHARSETS, SENTENCES
from webencodings.labels import LABELS  # type: ignore[import-untyped]

from forager.parsing.charset import find_codec, to_text, to_utf8

NEVER_DECLARED = "text/html"
LEGACY = [
    ("windows-1252", "de"),
    ("iso-8859-1", "fr"),
    ("iso-8859-2", "pl"),
    ("shift_jis", "ja"),
    ("euc-jp", "ja"),
    ("gb18030", "zh"),
    ("gb2312", "zh"),
    ("big5", "zh"),
    ("euc-kr", "ko"),
    ("koi8-r", "ru"),
    ("windows-1251", "ru"),
    ("windows-1253", "el"),
    ("utf-8", "tr"),
]


def page_in(charset: str, language: str, *, meta: str = "") -> bytes:
    text = TEXTS[language]
    if charset == "big5":
        text = "老燈塔看守人每天早晨都走到港口，看看昨夜暴風雨之後船隻是否平安歸來，然後慢慢走回家吃早飯。"
    return f"<html><head>{meta}<title>{text}</title></head><body><p>{text}</p></body></html>".encode(charset)


def title_of(body: bytes, content_type: str) -> str:
    return reading(body, content_type=content_type).title or ""


@pytest.mark.parametrize(("charset", "language"), LEGACY)
def test_declared_in_the_header(charset: str, language: str) -> None:
    body = page_in(charset, language)
    assert title_of(body, f'text/html; charset="{charset.upper()}"') == body.decode(charset)[19:].partition("<")[0]


@pytest.mark.parametrize(("charset", "language"), LEGACY)
@pytest.mark.parametrize(
    "meta", ['<meta charset="{}">', '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={}">']
)
def test_declared_in_the_page(charset: str, language: str, meta: str) -> None:
    body = page_in(charset, language, meta=meta.format(charset))
    assert title_of(body, NEVER_DECLARED) in body.decode(charset)
    assert title_of(body, NEVER_DECLARED)[:10] in body.decode(charset)


@pytest.mark.parametrize(
    ("charset", "language"),
    [(c, t) for c, t in LEGACY if c not in {"iso-8859-2", "iso-8859-1", "gb2312", "windows-1252"}],
)
def test_not_declared_at_all(charset: str, language: str) -> None:
    body = page_in(charset, language)
    assert title_of(body, NEVER_DECLARED) == body.decode(charset)[19:].partition("<")[0]


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_undeclared_western_text_is_windows_1252(language: str) -> None:
    assert title_of(page_in("windows-1252", language), NEVER_DECLARED) == TEXTS[language]


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-16-be-bom"])
@pytest.mark.parametrize("declared", ["text/html", "text/html; charset=iso-8859-1"])
def test_a_byte_order_mark_beats_everything(charset: str, declared: str) -> None:
    text = "<title>Žluťoučký kůň</title>"
    body = (
        "\ufeff".encode("utf-16-be") + text.encode("utf-16-be") if charset == "utf-16-be-bom" else text.encode(charset)
    )
    page = reading(body, content_type=declared)
    assert (page.title, page.flags) == ("Žluťoučký kůň", ())


def test_utf_16_without_a_mark() -> None:
    body = "<title>Grüße</title>".encode("utf-16-le")
    assert title_of(body, "text/html; charset=utf-16") == "Grüße"
    assert title_of(body, NEVER_DECLARED) == "Grüße"


def test_utf_8_that_calls_itself_latin_1_is_a_lie() -> None:
    page = reading("<title>Grüße</title>", content_type="text/html; charset=iso-8859-1")
    assert (page.title, page.flags) == ("Grüße", ("charset_lie",))


def test_cyrillic_that_calls_itself_utf_8_is_a_lie() -> None:
    page = reading(page_in("windows-1251", "ru"), content_type="text/html; charset=utf-8")
    assert page.title == TEXTS["ru"]
    assert page.flags == ("charset_lie",)


def test_utf_8_that_calls_itself_shift_jis_is_a_lie() -> None:
    page = reading(page_in("utf-8", "ru"), content_type="text/html; charset=shift_jis")
    assert (page.title, page.flags) == (TEXTS["ru"], ("charset_lie",))


def test_one_bad_byte_is_damage_and_no_lie() -> None:
    page = reading(b"<title>Gr\xc3\xbc\xc3\x9fe \xff</title>" + "ü".encode() * 500)
    assert (page.title, page.flags) == ("Grüße �", ())


def test_a_charset_in_a_comment_or_far_away_does_not_count() -> None:
    text = "<title>Grüße</title>"
    assert reading(f"<!-- <meta charset=koi8-r> -->{text}", content_type="text/html").title == "Grüße"
    far = reading(f"<!--{'x' * 2000}-->{text}<meta charset=koi8-r>", content_type="text/html")
    assert (far.title, far.flags) == ("Grüße", ())


@pytest.mark.parametrize("label", ["utf-7", "base64", "rot13", "no-such-thing", "", "zlib", "idna", "\0", "x" * 300])
def test_labels_that_name_no_charset_are_ignored(label: str) -> None:
    assert find_codec(label) is None
    assert to_utf8("Grüße".encode(), f"text/html; charset={label}")[0] == "Grüße".encode()


@pytest.mark.parametrize(
    ("label", "codec"), [("Latin1", "windows-1252"), ("US-ASCII", "windows-1252"), ("GBK", "gb18030")]
)
def test_labels_mean_what_browsers_mean(label: str, codec: str) -> None:
    assert find_codec(label) == codec


def test_nuls_are_removed_and_flagged() -> None:
    assert to_utf8(b"a\0b", "text/html") == (b"ab", ("nul",))


def test_every_label_of_the_web_is_known() -> None:
    assert len(LABELS) == 228
    assert [label for label in LABELS if find_codec(label) is None] == []
    assert find_codec("  X-CP1251\n") == "cp1251"


@pytest.mark.parametrize(
    ("label", "charset", "text"),
    [
        ("x-cp1250", "windows-1250", "Žluťoučký kůň"),
        ("iso88597", "iso-8859-7", "Γειά σου"),
        ("x-mac-ukrainian", "mac_cyrillic", "Привіт"),
        ("dos-874", "cp874", "สวัสดี"),
        ("ks_c_5601-1989", "cp949", "똠방각하"),
        ("cseucpkdfmtjapanese", "euc_jp", "こんにちは"),
        ("unicode20utf8", "utf-8", "Grüße"),
    ],
)
def test_a_page_is_read_by_any_label(label: str, charset: str, text: str) -> None:
    body = f"<meta charset={label}><title>{text}</title>".encode(charset)
    assert title_of(body, NEVER_DECLARED) == text


@pytest.mark.parametrize(
    "before", [f"<script>{'x' * 5000}</script>", f"<!--{'x' * 90_000}-->", f"<style>{' ' * 2000}</style><p>text</p>"]
)
@pytest.mark.parametrize(
    ("charset", "language"), [("windows-1251", "ru"), ("iso-8859-2", "pl"), ("gb18030", "zh"), ("euc-kr", "ko")]
)
def test_declared_far_down_the_page(charset: str, language: str, before: str) -> None:
    text = TEXTS[language]
    body = f"<html><head>{before}<meta charset={charset}><title>{text}</title>".encode(charset)
    assert title_of(body, NEVER_DECLARED) == text


def test_letters_made_of_ascii_are_declared_far_down_the_page() -> None:
    body = f"<!--{'x' * 2000}--><meta charset=iso-2022-jp><title>こんにちは</title>".encode("iso2022_jp")
    assert title_of(body, NEVER_DECLARED) == "こんにちは"


@pytest.mark.parametrize(
    "decoy",
    [
        "<script>document.write('<meta charset=koi8-r>')</script>",
        "<meta name=description content='say charset=koi8-r'>",
        "<meta charset=no-such-thing>",
        "<meta http-equiv=refresh content='0; url=?charset=koi8-r'>",
    ],
)
@pytest.mark.parametrize("gap", ["", " " * 2000])
def test_a_decoy_declares_nothing(decoy: str, gap: str) -> None:
    body = f"{gap}{decoy}<meta charset=windows-1251><title>{TEXTS['ru']}</title>".encode("windows-1251")
    assert title_of(body, NEVER_DECLARED) == TEXTS["ru"]


@pytest.mark.parametrize("declared", ["text/html", "text/html; charset=iso-8859-1"])
@pytest.mark.parametrize("stray", [b"\xff", b"\xe9", b"\xd0"])
def test_a_lone_bad_byte_does_not_decide_about_utf_8(stray: bytes, declared: str) -> None:
    body = f"<title>{TEXTS['ru']}</title><p>".encode() + stray
    assert title_of(body, declared) == TEXTS["ru"]


@pytest.mark.parametrize("text", ["All in ASCII but the caf\xe9", "It costs 5 \xa3", "the end \x93so\x94"])
def test_a_lone_high_byte_is_western(text: str) -> None:
    body = ("<p>" + "words of English " * 300 + text).encode("latin-1")
    page, _ = to_utf8(body, NEVER_DECLARED)
    assert page.decode().endswith(text.encode("latin-1").decode("windows-1252"))


def sentences_in(language: str, charset: str) -> str:
    """As somebody wrote it who had that charset: without letters that it does not have."""
    text = (TEXTS | SENTENCES)[language].translate(str.maketrans("șțȘȚ", "şţŞŢ"))
    return text.encode(charset, "ignore").decode(charset)


UNDECLARED = [
    (language, charset)
    for language, charsets in LEGACY_CHARSETS.items()
    for charset in charsets
    if language in TEXTS | SENTENCES and language != "fa"
]
LAID_OUT = "<html><head><title>Site</title><style>p{color:red}</style></head><body>%s<p>%s</p></body></html>"


@pytest.mark.parametrize(("language", "charset"), UNDECLARED)
def test_undeclared_text_of_two_sentences_is_read_in_any_charset(language: str, charset: str) -> None:
    text = sentences_in(language, charset)
    for links in ("", "<div class=nav><a href=/a/b>x</a></div>" * 500):
        page, flags = to_text((LAID_OUT % (links, text)).encode(charset), NEVER_DECLARED)
        assert (page, flags) == (LAID_OUT % (links, text), ())


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("language", "charset"),
    [("ja", "shift_jis"), ("ja", "euc-jp"), ("zh", "gb18030"), ("ko", "euc-kr"), ("ru", "koi8-r"), ("ru", "utf-8")],
)
def test_a_page_that_was_cut_within_a_letter_keeps_its_charset(language: str, charset: str, cut: int) -> None:
    body = f"<p>{TEXTS[language]}".encode(charset)[:-cut]
    page, _ = to_text(body, NEVER_DECLARED)
    assert page[:-5] == f"<p>{TEXTS[language]}"[: len(page) - 5]


@pytest.mark.parametrize("end", [b"\xc3", b"\xe2", b"\xe2\x82"])
def test_two_letters_of_utf_8_outweigh_one_that_was_cut(end: bytes) -> None:
    assert to_text("<title>Grüße</title> ".encode() + end, NEVER_DECLARED)[0] == "<title>Grüße</title> �"


def test_a_language_the_detector_does_not_know_is_read_as_browsers_do() -> None:
    text = sentences_in("fa", "windows-1256")
    body = f'<!doctype html><html dir="rtl" lang="fa-IR"><p>{text}'.encode("windows-1256")
    assert to_text(body, NEVER_DECLARED)[0].endswith(text)


def test_chinese_in_utf_8_that_calls_itself_gbk_is_a_lie() -> None:
    body = f"<meta charset=gb2312><p>{TEXTS['zh']}".encode()
    assert to_text(body, NEVER_DECLARED) == (body.decode(), ("charset_lie",))


def test_a_word_that_is_utf_8_by_chance_is_read_as_declared() -> None:
    """Two letters of GBK whose bytes are also two of UTF-8."""
    body = "<meta charset=gbk><p>侄墙".encode("gbk")
    assert body.decode("utf-8")
    assert to_text(body, NEVER_DECLARED)[0].endswith("侄墙")


@pytest.mark.parametrize("charset", ["iso-2022-jp", "iso-2022-kr"])
def test_undeclared_letters_made_of_ascii(charset: str) -> None:
    text = TEXTS["ja" if charset.endswith("jp") else "ko"]
    assert to_text(f"<p>{text}".encode(charset), NEVER_DECLARED)[0] == f"<p>{text}"


def test_lines_and_colours_of_a_terminal_are_no_charset() -> None:
    assert to_text(b"<pre>\x1b[31mred $1\x1b[0m", NEVER_DECLARED) == ("<pre>\x1b[31mred $1\x1b[0m", ())
