"""Ratings on one scale, counts, numbers of articles, and whether something can be bought."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.parsing.products.numbers import parse_rating, read_count, read_gtin
from forager.parsing.products.stock import Availability, read_availability


@pytest.mark.parametrize(
    ("text", "best", "rating"),
    [
        ("4.5", None, "4.50"),
        ("4,5", "5", "4.50"),
        ("8.6", "10", "4.30"),
        ("8.6", None, "4.30"),
        ("87%", None, "4.35"),
        ("92", "100", "4.60"),
        ("4.6 out of 5 stars", None, "4.60"),
        ("4,6 von 5 Sternen", None, "4.60"),
        ("5つ星のうち4.3", None, "4.30"),
        ("3/5", None, "3.00"),
    ],
)
def test_ratings_come_on_one_scale(text: str, best: str | None, rating: str) -> None:
    assert parse_rating(text, best) == Decimal(rating)


@given(st.text(max_size=50), st.text(max_size=10) | st.none())
def test_a_rating_is_from_nought_to_five(text: str, best: str | None) -> None:
    rating = parse_rating(text, best)
    assert rating is None or 0 <= rating <= 5


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1,284 ratings", 1284),
        ("(1.284)", 1284),
        ("1 284 avis", 1284),
        ("1.2k", 1200),
        ("12", 12),
        ("３件", 3),
        ("none", None),
        ("12.0", 12),
    ],
)
def test_counts(text: str, count: int | None) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize(
    "text", ["4006381333931", "ean:4006381333931", "4006-3813-33931", "012345678905", "96385074", "10614141000415"]
)
def test_a_right_check_digit_is_a_gtin(text: str) -> None:
    assert read_gtin(text)


@pytest.mark.parametrize("text", ["4006381333932", "123", "", "0000000000000", "abcdefghijklm", "٤٠٠٦٣٨١٣٣٣٩٣١"])
def test_a_wrong_one_is_none(text: str) -> None:
    assert read_gtin(text) is None


def test_an_old_isbn_becomes_a_new_one() -> None:
    assert read_gtin("0-306-40615-2") == "9780306406157"
    assert read_gtin("0-306-40615-3") is None


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("https://schema.org/InStock", Availability.IN_STOCK),
        ("http://schema.org/OutOfStock", Availability.OUT_OF_STOCK),
        ("schema:PreOrder", Availability.PREORDER),
        ("LimitedAvailability", Availability.LIMITED),
        ("https://schema.org/SoldOut", Availability.OUT_OF_STOCK),
        ("https://schema.org/Discontinued", Availability.DISCONTINUED),
        ("in stock", Availability.IN_STOCK),
        ("oos", Availability.OUT_OF_STOCK),
        ("Nicht auf Lager", Availability.OUT_OF_STOCK),
        ("Auf Lager, sofort lieferbar", Availability.IN_STOCK),
        ("Currently unavailable.", Availability.OUT_OF_STOCK),
        ("Rupture de stock", Availability.OUT_OF_STOCK),
        ("En stock", Availability.IN_STOCK),
        ("Нет в наличии", Availability.OUT_OF_STOCK),
        ("В наличии", Availability.IN_STOCK),
        ("在庫なし", Availability.OUT_OF_STOCK),
        ("在庫あり", Availability.IN_STOCK),
        ("Stokta yok", Availability.OUT_OF_STOCK),
        ("غير متوفر", Availability.OUT_OF_STOCK),
        ("Only 2 left in stock", Availability.LIMITED),
        ("Vorbestellen", Availability.PREORDER),
        ("Momentálne nie je možné produkt kúpiť", Availability.OUT_OF_STOCK),
        ("Nav pieejams", Availability.OUT_OF_STOCK),
        ("Ir pieejams", Availability.IN_STOCK),
        ("Ni na zalogi", Availability.OUT_OF_STOCK),
        ("Dobavljivo", Availability.IN_STOCK),
        ("已售完", Availability.OUT_OF_STOCK),
        ("일시품절", Availability.OUT_OF_STOCK),
        ("0 in stock", Availability.OUT_OF_STOCK),
        ("10 in stock", Availability.IN_STOCK),
        ("Pas en stock", Availability.OUT_OF_STOCK),
        ("NotInStock", Availability.OUT_OF_STOCK),
        ("Never out of stock", None),
        ("Out of stock soon", Availability.LIMITED),
        ("Fast ausverkauft", Availability.LIMITED),
        ("https://schema.org/Something", None),
        ("red", None),
    ],
)
def test_availability_in_many_words(text: str, state: Availability | None) -> None:
    assert read_availability(text) is state


@pytest.mark.parametrize(
    "text",
    [
        "Back in stock soon",
        "Soon back in stock!",
        "Available again soon",
        "Will be back in stock",
        "Back in stock in May",
        "Bald wieder auf Lager",
        "In Kürze lieferbar",
        "Bientôt disponible",
        "Prochainement en stock",
        "Próximamente disponible",
        "Disponible pronto",
        "Disponível em breve",
        "Presto disponibile",
        "Binnenkort weer op voorraad",
        "Wkrótce dostępny",
        "Скоро в наличии",
        "Незабаром в наявності",
        "Snart i lager igen",
        "Snart på lager",
        "Pian saatavilla",
        "Brzy skladem",
        "Hamarosan raktáron",
        "Disponibil în curând",
        "YAKINDA STOKTA",
        "Σύντομα διαθέσιμο",
        "近日入荷",
        "即将到货",
        "입고 예정",
        "Segera tersedia",
        "متوفر قريبا",
        "בקרוב במלאי",
    ],
)
def test_what_comes_soon_is_not_in_stock(text: str) -> None:
    assert read_availability(text) is Availability.OUT_OF_STOCK


@pytest.mark.parametrize("text", ["Back in stock!", "Wieder auf Lager", "De retour en stock", "In stock, ships soon"])
def test_what_came_back_is_in_stock(text: str) -> None:
    assert read_availability(text) is Availability.IN_STOCK
