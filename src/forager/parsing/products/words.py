"""Names that shops use, in the languages seen so far: carts, struck-through prices, surroundings of a product.

Patterns are in lower case and matched against lower-case text, which takes a third of the time.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from forager.parsing.tree_types import Tree

STRUCK = re.compile(
    r"(?:^|[\s_-])(?:old|was|list|regular|before|previous|strike|striked|strikethrough|crossed|original|msrp|"
    r"rrp|uvp|compare|"
    r"line-through|statt|ancien|anterior|stara|precedente|discount-from|barred|barre|initial|full|strikeout|stroke|"
    r"crossedout|tachado|durchgestrichen)(?:$|[\s_-])|old-?price|list-?price|full-?price|initial-?price|"
    r"price-?old|compare-?at",
)
NO_PRICE = re.compile(
    r"ship|deliver|versand|livraison|saving|save|discount|rabatt|install?ment|rate|per-?month|monthly|unit|"
    r"base-?price|"
    r"grundpreis|range|filter|slider|total|cart|basket|coupon|point|reward|finance|history|alert|match|"
    r"guarantee|label|tax",
)
BESIDE = re.compile(
    r"related|recommend|similar|upsell|up-sell|cross-?sell|carousel|(?<!no-)(?<!no)slider|also-|recently|viewed|accessor|"
    r"bundle|(?<!no-)(?<!no)(?<!without)(?<!without-)sidebar|"
    r"mini-?cart|minicart|drawer|footer|header|newsletter|breadcrumb|review|swiper|suggest|sponsor",
)
CART = re.compile(
    r"add[\s_-]*(?:item[\s_-]*)?to[\s_-]*(?:the[\s_-]*|my[\s_-]*|your[\s_-]*)?(?:shopping[\s_-]*)?(?:cart|bag|"
    r"basket|trolley)|"
    r"buy[\s_-]*(?:it[\s_-]*)?now|in den (?:waren|einkaufs)korb|in den einkaufswagen|zum warenkorb|"
    r"jetzt kaufen|ajouter au panier|"
    r"acheter maintenant|añadir (?:al carrito|a la cesta|a la bolsa)|agregar al carrito|comprar (?:ahora|agora|já)|"
    r"adicionar ao carrinho|adicionar à sacola|colocar no carrinho|^comprar$|aggiungi al carrello|acquista ora|"
    r"in (?:mijn )?winkelwagen|in winkelmand|toevoegen aan winkelwagen|dodaj do koszyka|do koszyka|kup teraz|"
    r"v košík|do košíku|přidat do košíku|pridať do košíka|kosárba|adaugă în coș|în coș|adauga in cos|"
    r"добавить в корзину|в корзину|купить|додати в кошик|до кошика|купити|добави в количката|купи|додај у корпу|"
    r"lägg i (?:varukorg|kundvagn|varukorgen|kundvagnen)|\bköp\b|læg i kurv|tilføj til kurv|legg i handlekurv|\bkjøp\b|"
    r"lisää ostoskoriin|lisää koriin|sepete ekle|hemen al|προσθήκη στο καλάθι|στο καλάθι|カートに入れる|"
    r"かごに追加|買い物かごに入れる|"
    r"カートに追加|購入する|今すぐ買う|加入购物车|加入購物車|立即购买|立即購買|장바구니|구매하기|바로구매|"
    r"thêm vào giỏ|mua ngay|"
    r"tambah ke (?:keranjang|troli)|masukkan keranjang|beli sekarang|\+ keranjang|หยิบใส่ตะกร้า|เพิ่มลงตะกร้า|"
    r"ใส่ตะกร้า|ซื้อเลย|"
    r"أضف إلى (?:السلة|عربة)|أضف للسلة|اضافة للسلة|إضافة إلى السلة|اشتر الآن|הוסף לסל|הוספה לסל|קנה עכשיו|"
    r"कार्ट में (?:जोड़ें|डालें)|अभी खरीदें|"
    r"افزودن به سبد|в кошницата|pirkti|į krepšelį|ielikt grozā|lisa korvi|dodaj u košaricu|v košarico|"
    r"afegir (?:a la cistella|al carret)|warenkorb (?:legen|hinzufügen)|ajouter à mon panier|"
    r"(?:añadir|agregar) al carro|adicionar ao cesto|^acheter$|^kaufen$|"
    r"^acquista$|^compra(?:r ahora)?$|in winkelmandje|^bestellen$|do košíka|"
    r"^kúpiť$|^koupit$|^pirkt$|^grozā$|^naroči$|u košaricu|ostukorvi|sat[ıi]n al|^handla$|カートへ|カゴに入れる|"
    r"直接購買|放入購物車|放入购物车|加到購物車|add to order|^order now$|^buy$",
)
CART_NAMES = (
    *("add-to-cart", "addtocart", "add_to_cart", "buy-now", "btn-cart", "add-to-basket", "add-to-bag"),
    *("button-cart", "addtobasket", "add_to_basket", "addtobag", "add_to_bag", "buynow", "buy_now", "buy-button"),
    *(
        "btn-buy",
        "buybtn",
        "buy-btn",
        "buy_btn",
        "btn_buy",
        "buybutton",
        "add-cart",
        "addcart",
        "to-basket",
        "/cart/add",
        "cart/product",
    ),
)
CART_ATTRIBUTES = ("id", "class", "name", "action", "data-action", "data-button-action", "data-testid")
HOME = re.compile(
    r"home(?:[ -]?page)?|start(?:seite)?|accueil|in[ií]cio|página inicial|hjem|hem|forside|etusivu|avaleht|domov|domů|"
    r"úvod|hlavní stránka|főoldal|acasă|ana ?sayfa|αρχική|главная|головна|начало|strona główna|naslovna|shop|all|"
    r"トップ|ホーム|首页|首頁|홈|beranda|trang chủ|الرئيسية|הבית",
    re.IGNORECASE,
)
HIDDEN = re.compile(
    r"(?:^|\s)(?:hidden|hide|hid|d-none|is-hidden|u-hidden|ng-hide|none|visually-hidden|display-none|js-hidden)(?:\s|$)|"
    r"display:\s?none",
)
BRAND = re.compile(
    r"(?:^|[\s_-])(?:product[_-]?)?(?:brand|manufacturer|marke|marque)(?:[\s_-]?(?:name|logo|link|image|img|title|info))?(?:\s|$)",
)
BEFORE_BRAND = re.compile(
    r"^.{0,40}?(?:brand|marke|marque|marca|merk|značka|výrobca|výrobce|hersteller|manufacturer|бренд|производитель|品牌|"
    r"ブランド|브랜드)\s*[:：]\s*(?=\S)",
    re.IGNORECASE,
)
LONGEST_TEXT = 20_000
LONGEST_NAMES = 400
SILENT = frozenset({"del", "s", "strike"})


def to_lowercase(text: str) -> str:
    """Returns lower case, with the Turkish İ as one letter, which `lower` turns into two."""
    return text.lower() if text.isascii() else text.replace("İ", "i").lower()


def names_of(tree: Tree, number: int) -> str:
    """Returns class, id and `data-price-type` of an element in lower case."""
    get = tree.get
    names = f"{get(number, 'class') or ''} {get(number, 'id') or ''} {get(number, 'data-price-type') or ''}"
    return to_lowercase(names[:LONGEST_NAMES])


def is_old_price(tree: Tree, number: int) -> bool:
    """Whether an element is an old price, by its tag, its class or its style."""
    return (
        tree.tag(number) in SILENT
        or _has_old_price_class(names_of(tree, number))
        or "line-through" in (tree.get(number, "style") or "")
    )


@lru_cache(4096)
def _has_old_price_class(names: str) -> bool:
    return bool(STRUCK.search(names))


@lru_cache(4096)
def is_non_product(names: str) -> bool:
    """Whether the names are those of elements beside the product."""
    return bool(BESIDE.search(names)) and "product-info" not in names


@lru_cache(4096)
def says_hidden(names: str) -> bool:
    return bool(HIDDEN.search(to_lowercase(names)))


def without_label(brand: str) -> str:
    """Returns the brand without its label: `See more of the brand: Acme` is Acme."""
    return BEFORE_BRAND.sub("", brand)


@lru_cache(16384)
def is_cart_label(label: str) -> bool:
    return bool(CART.search(to_lowercase(label)))


@lru_cache(4096)
def is_brand(names: str) -> bool:
    return bool(BRAND.search(names))


@lru_cache(4096)
def is_no_price(names: str) -> bool:
    return bool(NO_PRICE.search(to_lowercase(names)))


def visible_text(
    tree: Tree, number: int, longest: int = LONGEST_TEXT, is_struck: Callable[[Tree, int], bool] = is_old_price
) -> str:
    """Returns the text on one line, without struck-through parts, elements separated. `is_struck` may cache its
    results."""
    struck = {number: False}
    kept: list[str] = []
    for owner, text in tree.runs(number, longest):
        way, place = [], owner
        while place not in struck:
            way.append(place)
            place = tree.parent(place)
        is_in_struck = struck[place]
        for inner in reversed(way):
            is_in_struck = struck[inner] = is_in_struck or is_struck(tree, inner)
        if not is_in_struck:
            kept.append(text)
    return " ".join(kept)[:longest]
