"""A plug-in for one shop: its offers as records, one address for each list, a command and an alert rule.

Copy it, with its folder of fixtures, to the folder `plugins` of the data folder. `forager test` checks it.
"""

from urllib.parse import parse_qsl, urlsplit

import forager
from forager.plugins import AlertRule, RuleFinding

VERSION = 1


@forager.hookimpl
def extract_records(page):
    """Finds the offers of a list, each with its position: what the shop wants people to see."""
    for position, card in enumerate(page.document.select("ul.cards > li"), 1):
        link, price = card.select_one("a"), card.select_one(".price")
        if link is not None and price is not None:
            name, amount = " ".join(link.strings), " ".join(price.strings)
            yield {
                "kind": "offer",
                "key": link.attr("href"),
                "fields": {"name": name, "price": amount.removeprefix("€"), "position": position},
                "evidence": {"price": "css ul.cards .price"},
            }


@forager.hookimpl
def rewrite_url(url):
    """Leaves out lists that are sorted or filtered: they show what other pages show."""
    names = {name for name, _ in parse_qsl(urlsplit(url).query)}
    return False if names & {"sort", "brand"} else None


@forager.hookimpl
def register_commands(app):
    @app.command("cheapest")
    def cheapest(number: int = 3) -> None:
        """Show the products with the lowest prices."""
        with forager.open() as f:
            products = sorted((row for row in f.products() if row["price"]), key=lambda row: row["price"])
        for row in products[:number]:
            print(f"{row['price']:>8} {row['currency']}  {row['product_name']}")


@forager.hookimpl
def register_alert_rules():
    return [AlertRule("many_visits_refused", "The shop answers half of all visits with an error.", refused)]


def refused(facts):
    if facts.visits >= 20 and facts.refused > facts.visits / 2:
        yield RuleFinding(f"{facts.refused:.0f} of {facts.visits:.0f} visits were refused.", value=facts.refused)
