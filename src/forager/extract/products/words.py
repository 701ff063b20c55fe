"""What shops call things, in the languages we have met: carts, struck prices, what surrounds a product."""

import re

from selectolax.lexbor import LexborNode

STRUCK = re.compile(
    r"(?:^|[\s_-])(?:old|was|list|regular|before|previous|strike|striked|strikethrough|crossed|original|msrp|"
    r"rrp|uvp|compare|"
    r"line-through|statt|ancien|anterior|stara|precedente|discount-from)(?:$|[\s_-])|old-?price|list-?price|"
    r"price-?old|compare-?at",
    re.IGNORECASE,
)
NO_PRICE = re.compile(
    r"ship|deliver|versand|livraison|saving|save|discount|rabatt|install?ment|rate|per-?month|monthly|unit|"
    r"base-?price|"
    r"grundpreis|range|filter|slider|total|cart|basket|coupon|point|reward|finance|history|alert|match|"
    r"guarantee|label|tax",
    re.IGNORECASE,
)
BESIDE = re.compile(
    r"related|recommend|similar|upsell|up-sell|cross-?sell|carousel|slider|also-|recently|viewed|accessor|"
    r"bundle|sidebar|"
    r"mini-?cart|minicart|drawer|footer|header|newsletter|breadcrumb|review|swiper|suggest|sponsor",
    re.IGNORECASE,
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
    r"lägg i (?:varukorg|kundvagn|varukorgen|kundvagnen)|köp|læg i kurv|tilføj til kurv|legg i handlekurv|kjøp|"
    r"lisää ostoskoriin|lisää koriin|sepete ekle|hemen al|προσθήκη στο καλάθι|στο καλάθι|カートに入れる|"
    r"かごに追加|買い物かごに入れる|"
    r"カートに追加|購入する|今すぐ買う|加入购物车|加入購物車|立即购买|立即購買|장바구니|구매하기|바로구매|"
    r"thêm vào giỏ|mua ngay|"
    r"tambah ke (?:keranjang|troli)|masukkan keranjang|beli sekarang|\+ keranjang|หยิบใส่ตะกร้า|เพิ่มลงตะกร้า|"
    r"ใส่ตะกร้า|ซื้อเลย|"
    r"أضف إلى (?:السلة|عربة)|أضف للسلة|اضافة للسلة|إضافة إلى السلة|اشتر الآن|הוסף לסל|הוספה לסל|קנה עכשיו|"
    r"कार्ट में (?:जोड़ें|डालें)|अभी खरीदें|"
    r"افزودن به سبد|в кошницата|pirkti|į krepšelį|ielikt grozā|lisa korvi|dodaj u košaricu|v košarico|"
    r"afegir (?:a la cistella|al carret)",
    re.IGNORECASE,
)
CART_NAMES = (
    "[name=add-to-cart],[id*=add-to-cart],[class*=add-to-cart],[id*=addtocart],[class*=addtocart],[class*=add_to_cart],"
    "[id*=add_to_cart],[class*=AddToCart],[id*=AddToCart],form[action*='/cart/add'],form[action*='cart/product'],"
    "[class*=addToCart],[id*=addToCart],[data-action*=add-to-cart],[data-button-action=add-to-cart],[data-testid*=add-to-cart],"
    "[data-testid*=addToCart],[id*=buy-now],[class*=buy-now],[class*=btn-cart],[class*=add-to-basket],[class*=add-to-bag]"
)
HOME = re.compile(
    r"home(?:[ -]?page)?|start(?:seite)?|accueil|in[ií]cio|página inicial|hjem|hem|forside|etusivu|avaleht|domov|domů|"
    r"úvod|hlavní stránka|főoldal|acasă|ana ?sayfa|αρχική|главная|головна|начало|strona główna|naslovna|shop|all|"
    r"トップ|ホーム|首页|首頁|홈|beranda|trang chủ|الرئيسية|הבית",
    re.IGNORECASE,
)
LONGEST_TEXT = 20_000
LONGEST_NAMES = 400
MAY_BE_STRUCK = "del,s,strike,[class*=old],[class*=was],[class*=compare],[class*=list],[class*=regular],script,style"
SILENT = frozenset({"del", "s", "strike", "script", "style"})
DEEPEST_STRUCK = 4


def names_of(attributes: dict[str, str | None]) -> str:
    """What the shop calls an element."""
    identity, kind = attributes.get("id") or "", attributes.get("data-price-type") or ""
    return f"{attributes.get('class') or ''} {identity} {kind}"[:LONGEST_NAMES]


def unique(nodes: list[LexborNode]) -> list[LexborNode]:
    """Each once: a list of selectors finds a node as often as it fits."""
    return list({node.mem_id: node for node in nodes}.values())


def is_struck(attributes: dict[str, str | None]) -> bool:
    """An old price, by its class or its style."""
    return bool(STRUCK.search(names_of(attributes))) or "line-through" in (attributes.get("style") or "")


def visible_text(node: LexborNode) -> str:
    """On one line, without what is struck through."""
    if node.css_first(MAY_BE_STRUCK) is None:
        return " ".join(node.text(separator=" ").split())[:LONGEST_TEXT]
    kept: list[str] = []
    _collect(node, kept, DEEPEST_STRUCK)
    return " ".join(" ".join(kept).split())[:LONGEST_TEXT]


def _collect(node: LexborNode, kept: list[str], levels: int) -> None:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            kept.append(child.text())
        elif child.tag not in SILENT and not is_struck(child.attributes):
            if levels and child.css_first(MAY_BE_STRUCK) is not None:
                _collect(child, kept, levels - 1)
            else:
                kept.append(child.text(separator=" "))
