"""Maps availability, in schema.org terms or in shops' own words in many languages, to one of a few values.

Patterns are in lower case, as are the texts they are matched against.
"""

import re
from enum import StrEnum
from functools import lru_cache

from forager.parsing.products.words import to_lowercase


class Availability(StrEnum):
    IN_STOCK = "in_stock"
    OUT_OF_STOCK = "out_of_stock"
    PREORDER = "preorder"
    BACKORDER = "backorder"
    LIMITED = "limited"
    DISCONTINUED = "discontinued"
    IN_STORE_ONLY = "in_store_only"


CODES = {
    **dict.fromkeys(
        ("instock", "onlineonly", "available", "instockonline", "availablefororder", "yes", "true", "1", "new"),
        Availability.IN_STOCK,
    ),
    **dict.fromkeys(
        (
            "outofstock",
            "soldout",
            "oos",
            "unavailable",
            "notavailable",
            "notinstock",
            "nostock",
            "no",
            "false",
            "0",
            "reserved",
        ),
        Availability.OUT_OF_STOCK,
    ),
    **dict.fromkeys(("preorder", "presale", "pending"), Availability.PREORDER),
    **dict.fromkeys(("backorder", "backordered", "madetoorder", "availableonorder"), Availability.BACKORDER),
    **dict.fromkeys(("limitedavailability", "limited", "lowstock", "fewleft"), Availability.LIMITED),
    "discontinued": Availability.DISCONTINUED,
    "instoreonly": Availability.IN_STORE_ONLY,
}
SOON = re.compile(
    r"(?:almost|nearly|soon) (?:out of stock|sold[ -]?out)|(?:out of stock|sold[ -]?out) soon|"
    r"(?:bald|fast) (?:ausverkauft|vergriffen)|(?:bientôt|presque) épuisé|casi agotad[oa]|quasi esaurit[oa]|"
    r"bijna uitverkocht",
)
NOT_GONE = re.compile(
    r"(?:never|not|nie|jamais|nunca|mai) (?:out of stock|sold[ -]?out|ausverkauft|épuisé|agotad[oa]|esaurit[oa])"
)
NO_LETTERS = re.compile(r"[\s_\-.]+")
LONGEST_TEXT = 300
PHRASES: tuple[tuple[Availability, re.Pattern[str]], ...] = (
    (
        Availability.DISCONTINUED,
        re.compile(
            r"discontinued|no longer available|nicht mehr (?:lieferbar|erhältlich)|eingestellt|"
            r"plus commercialisé|descatalogado|produzione terminata|販売終了|снят с производства",
        ),
    ),
    (
        Availability.PREORDER,
        re.compile(
            r"pre-?order|vorbestell|précommande|reserva anticipada|preventa|pré-venda|preordine|prevendita|"
            r"予約|предзаказ|przedsprzedaż|ön sipariş|预订|預購|예약",
        ),
    ),
    (
        Availability.BACKORDER,
        re.compile(
            r"back-?order|on order|auf bestellung|sur commande|bajo pedido|sob encomenda|su ordinazione|"
            r"op bestelling|na zamówienie|na objednávku|под заказ|取り寄せ|beställningsvara|bestillingsvare|"
            r"available to order",
        ),
    ),
    (
        Availability.OUT_OF_STOCK,
        re.compile(
            r"(?:^|[:(,;-] ?|only |just )0 (?:(?:items?|units?|pieces?|pcs|stück|pièces?) )?"
            r"(?:in stock|left|available|remaining|auf lager|verfügbar|en stock|op voorraad)\b|"
            r"\b(?:pas|plus) (?:en stock|disponible)|"
            r"out of stock|sold[ -]?out|not (?:currently )?(?:in stock|available)|currently unavailable|"
            r"\bunavailable\b|no stock|"
            r"(?:can ?not|can't) be (?:bought|ordered|purchased)|"
            r"ausverkauft|kann (?:derzeit |aktuell |momentan )?nicht (?:gekauft|bestellt)|"
            r"nicht (?:auf lager|verfügbar|vorrätig|lieferbar)|derzeit nicht|vergriffen|épuisé|"
            r"rupture|indisponible|non disponible|"
            r"agotad[oa]|sin (?:stock|existencias)|no disponible|esgotado|indisponível|sem estoque|"
            r"fora de estoque|esaurit[oa]|non disponibile|"
            r"uitverkocht|niet op voorraad|niet (?:leverbaar|beschikbaar)|wyprzedan|niedostępn|"
            r"brak w magazynie|нет в наличии|распродан|"
            r"закончился|нет на складе|немає в наявності|няма наличност|изчерпан|品切|在庫(?:なし|切れ|"
            r"がありません)|売り切れ|完売|缺货|缺貨|售罄|售完|无货|無貨|품절|재고 ?없음|"
            r"tükendi|stokta (?:yok|değil)|slutsåld|slut i lager|ej i lager|udsolgt|ikke på lager|utsolgt|"
            r"loppuunmyyty|ei varastossa|"
            r"vyprodáno|není skladem|nie je skladom|vypredané|nedostupn|nie je možné (?:\w+ )?(?:kúpiť|objednať)|"
            r"nelze (?:\w+ )?(?:zakoupit|koupit|objednat)|není možné (?:\w+ )?(?:zakoupit|koupit|objednat)|"
            r"elfogyott|nincs (?:raktáron|készleten)|"
            r"stoc epuizat|indisponibil|εξαντλη|μη διαθέσιμο|"
            r"غير متوفر|غير متاح|نفدت|נגמר|אזל|לא במלאי|स्टॉक में नहीं|hết hàng|stok habis|habis|สินค้าหมด|"
            r"ناموجود|išparduota|izpārdots|rasprodano|esgotat|nav (?:pieejam|noliktavā)|nėra sandėlyje|laost otsas|"
            r"ei ole laos|nije dostup|nema na (?:skladištu|zalihi|lageru)|ni na zalogi|ni dobavljiv|razprodan|"
            r"已售完|補貨中|补货中|入荷待ち|일시품절|판매종료|tükenmiş|temin edilemiyor|stok kosong|tạm hết|"
            r"stock épuisé|actuellement indisponible|temporarily unavailable|momenteel niet|"
            r"немає в продажу",
        ),
    ),
    (
        Availability.OUT_OF_STOCK,
        re.compile(
            r"(?:in stock|available)(?: again)? (?:very )?soon\b|\bsoon (?:be )?(?:back )?(?:in stock|available)|"
            r"\bback soon\b|(?:will be|expected|due) back in stock|"
            r"back in stock (?:on|by|in|from|around|early|mid|late)\b|"
            r"(?:bald|demnächst|in kürze) (?:wieder )?(?:auf lager|verfügbar|lieferbar|vorrätig|erhältlich)|"
            r"(?:auf lager|verfügbar|lieferbar|vorrätig) (?:in kürze|demnächst)|"
            r"(?:bientôt|prochainement) (?:de nouveau |à nouveau )?(?:en stock|disponible)|"
            r"(?:en stock|disponible) (?:bientôt|prochainement)|"
            r"(?:pronto|próximamente) (?:de nuevo )?(?:disponible|en stock|en existencia)|"
            r"(?:disponible|en stock) (?:de nuevo )?(?:pronto|próximamente|en breve)|"
            r"(?:em breve|brevemente) (?:disponív|em stock|em estoque)|"
            r"(?:disponív\w+|em stock|em estoque) (?:em breve|brevemente)|"
            r"(?:presto|a breve|prossimamente) (?:di nuovo )?(?:disponibil|in magazzino)|"
            r"disponibil\w+ (?:di nuovo )?(?:presto|a breve|prossimamente)|"
            r"binnenkort (?:weer )?(?:leverbaar|beschikbaar|op voorraad)|"
            r"(?:leverbaar|beschikbaar|op voorraad) binnenkort|"
            r"wkrótce (?:znowu |ponownie )?(?:dostępn|w magazynie)|dostępn\w+ wkrótce|"
            r"скоро (?:снова |знову |отново )?(?:в наличии|на складе|в наявності|в наличност|появится)|"
            r"незабаром (?:знову )?в наявності|"
            r"snart (?:åter |tillbaka |tilbage |tilbake |igen )?(?:i lager|på lager)|"
            r"(?:i lager|på lager) (?:igen |igjen )?snart|"
            r"pian (?:taas )?(?:varastossa|saatavilla)|(?:varastossa|saatavilla) pian|"
            r"(?:brzy|čoskoro) (?:opět |opäť |znovu )?(?:skladem|skladom|na sklade|dostupn|k dispozici)|"
            r"hamarosan (?:újra )?(?:raktáron|készleten)|"
            r"în curând (?:din nou )?(?:în stoc|disponibil)|(?:în stoc|disponibil) în curând|"
            r"yak[ıi]nda (?:tekrar |yeniden )?stok|σύντομα (?:ξανά )?(?:διαθέσιμο|σε απόθεμα)|διαθέσιμο σύντομα|"
            r"入荷予定|近日入荷|即将(?:到货|有货)|即將(?:到貨|有貨)|입고 ?예정|"
            r"(?:متوفر|متاح) قريب|قريب\w* (?:متوفر|متاح)|بزودی موجود|به زودی موجود|"
            r"בקרוב (?:במלאי|זמין)|(?:במלאי|זמין) בקרוב|जल्द (?:ही )?(?:उपलब्ध|स्टॉक में)|"
            r"segera tersedia|sắp (?:có|còn) hàng|netrukus (?:bus )?sandėlyje|drīzumā (?:pieejam|noliktavā)|"
            r"peagi (?:laos|saadaval)|uskoro (?:na zalihi|dostupn|raspoloživ)|kmalu (?:na zalogi|dobavljiv)",
        ),
    ),
    (
        Availability.LIMITED,
        re.compile(
            r"only \d+ (?:left|in stock|remaining)|nur noch \d+|plus que \d+|solo quedan? \d+|últimas unidades|"
            r"limited (?:stock|availability)|low stock|wenige verfügbar|ostatnie sztuki|残りわずか|残り\d+|"
            r"son \d+ (?:ürün|adet)",
        ),
    ),
    (
        Availability.IN_STOCK,
        re.compile(
            r"in[ -]?stock|available|ready to ship|ships (?:in|within|today|from)|auf lager|"
            r"sofort (?:lieferbar|verfügbar)|verfügbar|lieferbar|vorrätig|"
            r"en stock|disponible|in magazzino|disponibil|disponív|em estoque|em stock|pronta entrega|"
            r"en existencia|"
            r"op voorraad|leverbaar|beschikbaar|dostępn|w magazynie|в наличии|есть на складе|в наявності|"
            r"в наличност|на склад|在庫(?:あり|有)|即納|"
            r"现货|現貨|有货|有貨|재고 ?있음|구매 ?가능|stokta|i lager|på lager|varastossa|saatavilla|skladem|"
            r"na sklade|skladom|raktáron|készleten|în stoc|in stoc|"
            r"διαθέσιμο|σε απόθεμα|متوفر|متاح|במלאי|זמין|स्टॉक में|उपलब्ध|còn hàng|stok tersedia|tersedia|"
            r"มีสินค้า|พร้อมส่ง|موجود|yra sandėlyje|ir noliktavā|\blaos\b|na zalihi|na zalogi|dobavljiv|pieejam|saadaval|"
            r"dostupn|raspoloživ|k dispozici|expédié sous|delivery in \d|in den warenkorb",
        ),
    ),
)


def read_availability(text: str) -> Availability | None:
    """Parses a schema.org URL, a code or a sentence; None if nothing is recognised."""
    return _read(to_lowercase(" ".join(text[:LONGEST_TEXT].split())))


@lru_cache(4096)
def _read(text: str) -> Availability | None:
    code = NO_LETTERS.sub("", text.rpartition("/")[2].rpartition(":")[2])
    if code in CODES:
        return CODES[code]
    if "://" in text:
        return None
    if SOON.search(text):
        return Availability.LIMITED
    text = NOT_GONE.sub(" ", text)
    return next((state for state, pattern in PHRASES if pattern.search(text)), None)
