"""Prices as shops write them; and back again, whatever the number."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing.products.currency import PageLocale, get_locale, read_currency
from forager.parsing.products.money import parse_amount, read_money, read_visible_price

GERMAN, FRENCH, SWISS = (
    get_locale("https://a.de/", "de"),
    get_locale("https://a.fr/", "fr-FR"),
    get_locale("https://a.ch/", "de-CH"),
)
SWEDISH, DANISH, NORWEGIAN = (
    get_locale("https://a.se/", "sv"),
    get_locale("https://a.dk/", "da"),
    get_locale("https://a.no/", "nb"),
)
JAPANESE, CHINESE, MEXICAN = (
    get_locale("https://a.co.jp/", "ja"),
    get_locale("https://a.cn/", "zh-CN"),
    get_locale("https://a.mx/", "es-MX"),
)
CANADIAN, CHILEAN, NOWHERE = get_locale("https://a.com/", "en-CA"), get_locale("https://a.cl/", "es"), PageLocale()


@pytest.mark.parametrize(
    ("text", "place", "amount", "currency"),
    [
        ("1.234,56 €", GERMAN, "1234.56", "EUR"),
        ("$1,234.56", NOWHERE, "1234.56", "USD"),
        ("1 234,56 €", FRENCH, "1234.56", "EUR"),
        ("1\u202f234,56\u00a0€", FRENCH, "1234.56", "EUR"),
        ("1'234.50 CHF", SWISS, "1234.50", "CHF"),
        ("CHF 1’234.–", SWISS, "1234", "CHF"),
        ("¥1,234", JAPANESE, "1234", "JPY"),
        ("¥368.00", CHINESE, "368.00", "CNY"),
        ("₹1,23,456.00", NOWHERE, "123456.00", "INR"),
        ("R$ 1.299,90", NOWHERE, "1299.90", "BRL"),
        ("1 299 kr", SWEDISH, "1299", "SEK"),
        ("1.299,- kr", DANISH, "1299", "DKK"),
        ("kr 1 299,00", NORWEGIAN, "1299.00", "NOK"),
        ("from 9.99", NOWHERE, "9.99", None),
        ("ab 9,99 €", GERMAN, "9.99", "EUR"),
        ("9.99 - 19.99 USD", NOWHERE, "9.99", "USD"),
        ("€9,99 – €19,99", GERMAN, "9.99", "EUR"),
        ("1.299,-", GERMAN, "1299", None),
        ("١٬٢٣٤٫٥٠ ر.س", NOWHERE, "1234.50", "SAR"),
        ("१,२३४ ₹", NOWHERE, "1234", "INR"),
        ("１，２３４円", JAPANESE, "1234", "JPY"),
        ("12€99", FRENCH, "12.99", "EUR"),
        ("$119. 95", NOWHERE, "119.95", "USD"),
        ("-20% 15,00 €", GERMAN, "15.00", "EUR"),
        ("7,99 €/kg 3,50 €", GERMAN, "3.50", "EUR"),
        ("KWD 1.250", NOWHERE, "1.250", "KWD"),
        ("Rp150.000", NOWHERE, "150000", "IDR"),
        (".75 €", GERMAN, "0.75", "EUR"),
        ("118, 99 TL", get_locale("https://a.com.tr/", "tr"), "118.99", "TRY"),
        ("J$1,250.00", NOWHERE, "1250.00", "JMD"),
        ("建議 元 特價 72 折 2320 元", get_locale("https://a.com.tw/", "zh-TW"), "2320", "TWD"),
        ("49.990₫", NOWHERE, "49990", "VND"),
        ("2 499 ₽", NOWHERE, "2499", "RUB"),
        ("1.249,90 TL", NOWHERE, "1249.90", "TRY"),
        ("$ 12.990", CHILEAN, "12990", "CLP"),
        ("$1,899.00", MEXICAN, "1899.00", "MXN"),
        ("$449.00", CANADIAN, "449.00", "CAD"),
        ("AED 8000 (USD 2179)", NOWHERE, "8000", "AED"),
        ("NT$1,290", NOWHERE, "1290", "TWD"),
        ("Price: 25.00 GBP", NOWHERE, "25.00", "GBP"),
        ("A4 paper $5.00", NOWHERE, "5.00", "USD"),
        ("4 payments of $3.25", NOWHERE, "3.25", "USD"),
        ("-$5.00 12.99", NOWHERE, "12.99", None),
    ],
)
def test_prices_of_many_countries(text: str, place: PageLocale, amount: str, currency: str | None) -> None:
    money = read_money(text, place)
    assert money is not None
    assert (money.amount, money.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Save $5.00 Now $12.99", "12.99"),
        ("Save now 12.99 $", "12.99"),
        ("Save 20% $12.99", "12.99"),
        ("Sie sparen 5,00 € 12,99 €", "12.99"),
        ("Was $20.00 Now $12.99", "12.99"),
        ("Regular price $20.00 Sale price $12.99", "12.99"),
        ("Regular price $12.99", "12.99"),
        ("Free shipping $12.99", "12.99"),
        ("Delivery 2-3 days $12.99", "12.99"),
        ("Save $5.00", None),
        ("Free shipping on orders over $50", None),
        ("or 4 interest-free payments of $3.25", None),
        ("12x de R$ 10,00", None),
    ],
)
def test_amounts_that_are_not_paid_are_no_prices(text: str, amount: str | None) -> None:
    money = read_visible_price(text, NOWHERE)
    assert (money and money.amount) == (amount and Decimal(amount))


@pytest.mark.parametrize("text", ["", "free", "-5.00 €", "20%", "A4", "9" * 60, "€", "\u200b", "١٢٣" * 40])
def test_what_is_no_price_is_none(text: str) -> None:
    assert read_money(text, GERMAN) is None


def test_a_range_has_two_ends() -> None:
    money = read_money("9,99 € – 19,99 €", GERMAN)
    assert money is not None
    assert money.highest == Decimal("19.99")


def test_a_sign_that_many_share_is_less_sure() -> None:
    guessed, settled, clear = (read_money("$5", NOWHERE), read_money("$5", CANADIAN), read_money("US$5", CANADIAN))
    assert guessed
    assert settled
    assert clear
    assert guessed.confidence < settled.confidence < clear.confidence


def test_a_declared_currency_settles_a_shared_sign() -> None:
    currency = read_currency("$", PageLocale(currency="AUD"))
    assert currency is not None
    assert currency.code == "AUD"


@pytest.mark.parametrize(
    ("text", "code", "place", "amount"),
    [
        ("19.990000", "EUR", GERMAN, "19.990000"),
        ("1299.00", "EUR", GERMAN, "1299.00"),
        ("1.299", "EUR", GERMAN, "1299"),
        ("1.299", "USD", NOWHERE, "1.299"),
        ("150.000", "IDR", NOWHERE, "150000"),
        ("1.250", "KWD", NOWHERE, "1.250"),
        ("0.500", "EUR", GERMAN, "0.500"),
    ],
)
def test_numbers_for_programs(text: str, code: str, place: PageLocale, amount: str) -> None:
    assert parse_amount(text, place, code, is_machine=True) == Decimal(amount)


STYLES: tuple[tuple[Callable[[Decimal], str], PageLocale], ...] = (
    (lambda value: f"€{value:,.2f}", NOWHERE),
    (lambda value: f"{value:,.2f} USD", NOWHERE),
    (lambda value: f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + " €", GERMAN),
    (lambda value: f"{value:,.2f}".replace(",", "\u202f").replace(".", ",") + "\u00a0€", FRENCH),
    (lambda value: f"CHF {value:,.2f}".replace(",", "’"), SWISS),
    (lambda value: f"{value:,.2f} ر.س".translate(str.maketrans("0123456789,.", "٠١٢٣٤٥٦٧٨٩٬٫")), NOWHERE),
    (lambda value: f"£{value:,.2f}".translate(str.maketrans("0123456789,.", "０１２３４５６７８９，．")), NOWHERE),
)


@given(st.integers(1, 10**11), st.integers(0, len(STYLES) - 1))
def test_what_is_written_in_any_style_is_read_again(cents: int, style: int) -> None:
    value = Decimal(cents) / 100
    write, place = STYLES[style]
    money = read_money(write(value), place)
    assert money is not None
    assert money.amount == value
    assert money.currency is not None


@given(st.text(max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    money = read_money(text, GERMAN)
    assert money is None or money.amount >= 0
