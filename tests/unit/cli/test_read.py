"""`forager read` shows what `forager fetch` shows of a page."""

from forager.cli.tools import understand
from forager.records import Scope
from forager.settings import load

PAGE = b"""<title>Kettle</title><script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product",
"name": "Blue kettle", "offers": {"@type": "Offer", "price": "24.50", "priceCurrency": "EUR"}}</script>"""


def test_a_product_is_shown() -> None:
    shown = understand(PAGE, "http://shop.example/p/kettle", "text/html", Scope.ANY, load({}))
    assert shown["product"]["name"] == "Blue kettle"
    assert str(shown["product"]["price"]) == "24.50"
