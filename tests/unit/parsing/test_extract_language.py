from itertools import pairwise

import pytest
from tests.unit.parsing.pages import TEXTS, fetched, reading
from tests.unit.parsing.sentences import SENTENCES

from forager.parsing import language as language_module
from forager.parsing.keywords import search_config
from forager.parsing.language import (
    CLOSE,
    LanguageMemory,
    detect,
    detect_language,
    get_declared,
    normalize_tag,
    select_sample,
)
from forager.parsing.language_words import FREQUENT
from forager.parsing.page import read

MENU = "<nav>" + "".join(f"<li><a href=/{i}>Home page</a></li>" for i in range(30)) + "</nav>"


@pytest.mark.parametrize("language", TEXTS)
def test_a_language_is_found_without_a_declaration(language: str) -> None:
    found = reading(f"<body>{MENU}<p>{TEXTS[language]}</p>").language
    assert found == ("zh-Hans" if language == "zh" else language)


ZH_TW = "書店開在產業道路的轉彎處，晚上十點以後，整座山只剩下這一盞還亮著的燈，後來茶農收工之後也進來坐一會兒。"
SR_LATN = "Stari svetioničar je svakog jutra silazio do luke da vidi da li su se čamci vratili kući posle nevremena."
SR_CYRL = "Стари светионичар је сваког јутра силазио до луке да види да ли су се чамци вратили кући после невремена."


@pytest.mark.parametrize(
    ("declared", "text", "language"),
    [
        ("zh", ZH_TW, "zh-Hant"),
        ("zh", TEXTS["zh"], "zh-Hans"),
        ("zh-CN", TEXTS["zh"], "zh-CN"),
        ("zh-Hant-TW", ZH_TW, "zh-Hant-TW"),
        ("en", ZH_TW, "zh-Hant"),
        ("sr", SR_LATN, "sr-Latn"),
        ("sr", SR_CYRL, "sr"),
        ("sr-Latn-RS", SR_LATN, "sr-Latn-RS"),
        ("pt_BR", TEXTS["pt"], "pt-BR"),
        ("en", TEXTS["ar"], "ar"),
        ("en-US", TEXTS["de"], "de"),
        ("en", TEXTS["ru"], "ru"),
    ],
)
def test_scripts_are_named_and_wrong_declarations_overruled(declared: str, text: str, language: str) -> None:
    assert reading(f'<html lang="{declared}"><p>{text}</p>').language == language


@pytest.mark.parametrize("language", TEXTS)
def test_a_true_declaration_keeps_its_region(language: str) -> None:
    assert reading(f'<html lang="{language}-xx"><p>{TEXTS[language]}</p>').language == f"{language}-XX"


@pytest.mark.parametrize(("declared", "language"), [("en", "de"), ("en-US", "ja"), ("de", "fr"), ("en", "ru")])
def test_a_false_declaration_is_overruled(declared: str, language: str) -> None:
    assert reading(f'<html lang="{declared}"><p>{TEXTS[language]} {TEXTS[language]}</p>').language == language


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (
            "nb",
            "Den gamle fyrvokteren gikk hver morgen ned til havnen for å se om båtene hadde kommet hjem.",
        ),
        ("zh-Hant-TW", "老燈塔看守人每天早晨都走到港口，看看昨夜暴風雨之後船隻是否平安歸來，然後慢慢走回家吃早飯。"),
        ("en", "Home About Contact"),
        ("de", "SKU 1234-567 89.00 EUR"),
        ("fr", ""),
    ],
)
def test_a_declaration_stands_where_the_text_cannot_say(declared: str, text: str) -> None:
    assert reading(f'<html lang="{declared}"><p>{text}</p>').language == declared


def test_too_little_text_has_no_language() -> None:
    assert reading("<p>OK</p>").language is None
    assert reading("<p>" + "123 456 " * 50).language is None


def test_where_a_language_may_be_declared() -> None:
    assert reading("<p>x", content_language="de-AT").language == "de-AT"
    assert reading("<p>x", content_language="de, en").language is None
    assert reading('<meta property="og:locale" content="pt_BR"><p>x').language == "pt-BR"
    assert reading('<meta http-equiv="content-language" content="it"><p>x').language == "it"
    assert reading('<html xml:lang="sv"><p>x').language == "sv"
    assert (
        reading('<html lang="nl"><meta property="og:locale" content="en_US"><p>x', content_language="fr").language
        == "nl"
    )


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("EN", "en"),
        (" en_us ", "en-US"),
        ("zh-hant-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        ("english please", None),
        ("und", None),
        ("x", None),
        ("", None),
        ("en-" + "a" * 40, None),
        ("de-" + "-".join(["abcdefgh"] * 5), None),
        ("'; drop table", None),
    ],
)
def test_tags_are_spelled_one_way(text: str, tag: str | None) -> None:
    assert normalize_tag(text) == tag


def test_the_first_good_declaration_counts() -> None:
    assert get_declared(None, "", "??", "de", "fr") == "de"
    assert get_declared() is None


def test_the_sample_is_prose_and_not_navigation() -> None:
    text = "Home\nAbout\nContact us\n" + TEXTS["de"] + "\nImprint"
    assert select_sample(text).startswith("Der alte")
    assert len(select_sample("ü" * 1000).encode()) <= 150
    assert select_sample("") == ""


def test_a_detector_that_is_sure_says_so() -> None:
    assert detect(TEXTS["en"])[1] > 0.9
    assert detect("a") == (None, 0.0)


def ask(memory: LanguageMemory, declared: str, text: str) -> str | None:
    page = fetched(f'<html lang="{declared}"><p>{text}</p>', url="https://a.example/x")
    return read(page, keyword_words=1, memory=memory).language


def test_memory_trusts_a_host_that_proved_true_and_still_checks_now_and_then() -> None:
    memory = LanguageMemory()
    answers = [ask(memory, "en", TEXTS["en"]) for _ in range(8)]
    answers += [ask(memory, "en", TEXTS["de"] * 2) for _ in range(16)]
    assert answers == ["en"] * 8 + ["en"] * 15 + ["de"]
    assert ask(memory, "en", TEXTS["de"] * 2) == "de"


def test_memory_checks_a_host_more_rarely_the_longer_it_is_right() -> None:
    memory, checks = LanguageMemory(), []
    for page in range(1000):
        if not memory.trusts("a.example", "en"):
            checks.append(page)
            memory.learn("a.example", "en", agrees=True)
    distances = [later - earlier for earlier, later in pairwise(checks)]
    assert distances[:11] == [*[1] * 7, *[16, *[15] * 3]]
    assert distances[11:15] == [*[31] * 4]
    assert set(distances[15:]) == {63}
    memory.learn("a.example", "en", agrees=False)
    assert not memory.trusts("a.example", "en")


def test_memory_never_trusts_a_host_that_lied_in_between() -> None:
    memory = LanguageMemory()
    for _ in range(7):
        ask(memory, "en", TEXTS["en"])
    ask(memory, "en", TEXTS["de"] * 2)
    assert ask(memory, "en", TEXTS["fr"] * 2) == "fr"


def test_memory_does_not_grow_without_end() -> None:
    memory = LanguageMemory()
    for i in range(LanguageMemory.MOST_KEYS + 10):
        memory.learn(f"host{i}", "en", agrees=True)
    assert len(memory._agreed) <= LanguageMemory.MOST_KEYS


@pytest.mark.parametrize(
    ("language", "config"),
    [
        ("en", "english"),
        ("en-GB", "english"),
        ("DE", "german"),
        ("pt-BR", "portuguese"),
        ("nb", "norwegian"),
        ("ja", "simple"),
        ("et", "simple"),
        (None, "simple"),
        ("", "simple"),
    ],
)
def test_search_configurations(language: str | None, config: str) -> None:
    assert search_config(language) == config


ALL_TEXTS = SENTENCES | TEXTS


def openings(text: str, letters: int) -> list[str]:
    """Some words from several places, with as many letters; characters where there are no spaces."""
    words = text.split() if text.count(" ") > 8 else list(text)
    gap = " " if text.count(" ") > 8 else ""
    found = []
    for start in range(0, len(words) // 2, 3):
        end = start
        while end < len(words) and sum(map(str.isalpha, "".join(words[start:end]))) < letters:
            end += 1
        found.append(gap.join(words[start:end]))
    return found


@pytest.mark.parametrize(("letters", "right"), [(15, 0.95), (30, 0.99), (60, 0.995)])
def test_a_few_letters_tell_the_language_of_a_page_that_does_not(letters: int, right: float) -> None:
    asked = [(language, part) for language, text in ALL_TEXTS.items() for part in openings(text, letters)]
    missed = [
        (language, part, found)
        for language, part in asked
        if not is_close(language, found := detect_language(None, part))
    ]
    assert len(ALL_TEXTS) >= 30
    assert len(missed) <= len(asked) * (1 - right), missed


def is_close(language: str, found: str | None) -> bool:
    primary = (found or "").partition("-")[0]
    return primary == language or any({primary, language} <= group for group in CLOSE)


@pytest.mark.parametrize(
    "noise",
    ["qwertz asdfg yxcv bnmlk", "SKU ABX-CDE HGF-KLM PLK", "ffffffffffffffffffff", "Nike Air Max Samsung Galaxy"],
)
def test_letters_that_are_no_words_have_no_language(noise: str) -> None:
    assert detect_language(None, noise) is None


@pytest.mark.parametrize("declared", ["de", "fr-CH", "pl"])
def test_a_label_does_not_overrule_a_declaration_but_another_script_does(declared: str) -> None:
    assert detect_language(declared, "Home About Contact us") == declared
    assert detect_language(declared, "Добро пожаловать на сайт") == "ru"
    assert detect_language(declared, "お問い合わせはこちら") == "ja"


@pytest.mark.parametrize("language", sorted(FREQUENT.keys() & ALL_TEXTS.keys()))
def test_common_words_confirm_the_language_they_are_of_and_no_other(language: str) -> None:
    text = ALL_TEXTS[language]
    others = {
        declared for declared in FREQUENT if declared != language and language_module._is_confirmed(declared, text)
    }
    assert others == set()


def test_most_prose_is_confirmed_without_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_module, "load_detector", lambda: pytest.fail("the model was asked"))
    for language in ("en", "de", "fr", "pt", "sv", "vi", "ar"):
        text = f"{ALL_TEXTS[language]} {ALL_TEXTS[language]}"
        assert detect_language(f"{language}-XX", text) == f"{language}-XX"
    for language in ("ja", "ko", "el", "zh"):
        assert (detect_language(None, ALL_TEXTS[language]) or "").startswith(language)


def test_no_word_is_common_in_two_languages() -> None:
    words = [word for own in FREQUENT.values() for word in own]
    assert len(words) == len(set(words))
    assert min(map(len, FREQUENT.values())) >= 15
