"""What the shop sells, and for how much on which day. Day 0 is the beginning; all is a function of seed and day."""

from dataclasses import dataclass

from forager_playground.seeded import number, pick

NOUNS = ("kettle", "lamp", "chair", "basket", "teapot", "blanket", "bowl", "clock")
LOOKS = ("blue", "round", "heavy", "woven", "tall", "plain", "green", "folding", "old", "small", "quiet", "bright")
BRANDS = ("Aldervale", "Norrby", "Tansu")
PRODUCTS_PER_CATEGORY = 12
STEADY, CREEPING, ON_SALE, SCARCE = range(4)
"""How a product lives: its price never changes, rises daily, falls by a fifth on odd days; or it sells out then."""


@dataclass(frozen=True, slots=True)
class ProductCatalog:
    seed: int
    day: int = 0

    def name(self, product: int) -> str:
        noun = NOUNS[((product - 1) // PRODUCTS_PER_CATEGORY) % len(NOUNS)]
        return f"{pick(LOOKS, self.seed, 'look', product)} {noun} {product}"

    def brand(self, product: int) -> str:
        return pick(BRANDS, self.seed, "brand", product)

    def sku(self, product: int) -> str:
        return f"CO-{product:06}"

    def life(self, product: int) -> int:
        return number(4, self.seed, "life", product)

    def price(self, product: int) -> str:
        cents = 499 + number(20_000, self.seed, "price", product)
        match self.life(product):
            case 1:
                cents += 25 * self.day
            case 2 if self.day % 2:
                cents = cents * 4 // 5
        return f"{cents // 100}.{cents % 100:02}"

    def is_in_stock(self, product: int) -> bool:
        if self.life(product) == SCARCE and self.day % 2:
            return False
        return number(5, self.seed, "stock", product) > 0

    def sells(self, product: int) -> dict[str, str]:
        """As the answer key says it."""
        stock = "in_stock" if self.is_in_stock(product) else "out_of_stock"
        return {"name": self.name(product), "price": self.price(product), "currency": "EUR", "availability": stock}
