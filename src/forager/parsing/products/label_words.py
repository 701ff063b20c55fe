"""Labels that shops use for product fields, in many languages; in lower case, without `:`, `.` and `#`."""

LABELS = {
    "sku": (
        "sku|product code|product no|product number|product id|product ref|product reference|item no|item number|"
        "item code|item id|item|article no|article number|article code|article|art no|art nr|art|cat no|"
        "catalogue number|catalog number|stock code|stock number|style no|style number|style code|style|web code|"
        "webcode|web id|ref|reference|ref no|reference no|reference number|order no|order number|order code|"
        "ad id|ad no|listing id|asin|id|produktcode|produkt code|produktnummer|produkt nr|produkt id|"
        "artikelnummer|artikel nummer|artikel nr|artnr|bestellnummer|bestell nr|best nr|artikelcode|anzeige|"
        "anzeigennummer|anzeigen id|bestelnummer|productcode|productnummer|référence|réf|référence produit|"
        "réf produit|code article|code produit|numéro d'article|n° article|no d'article|identifiant|referencia|"
        "ref producto|código|código de producto|código del producto|código de artículo|código artículo|"
        "número de artículo|nº de artículo|número de producto|cod|cód|código do produto|cód do produto|"
        "referência|referência produto|referência do produto|id produto|código de referência|codice|"
        "codice prodotto|codice articolo|cod art|cod articolo|numero articolo|numero oggetto|riferimento|"
        "kod produktu|kod|nr kat|nr katalogowy|numer katalogowy|indeks|symbol|indeks produktu|kód|kód produktu|"
        "kód zboží|kód tovaru|katalogové číslo|objednací číslo|číslo produktu|cikkszám|termékkód|cod produs|"
        "cod articol|codul produsului|šifra|šifra izdelka|šifra artikla|šifra proizvoda|kataloški broj|"
        "art nummer|varenummer|varenr|vare nr|tuotenumero|tuotekoodi|tuotenro|tootekood|produkta kods|"
        "preces kods|prekės kodas|kodas|ürün kodu|stok kodu|κωδικός|κωδικός προϊόντος|артикул|код товара|"
        "код товару|код|код продукта|код на продукта|арт|номер товара|каталожен номер|"
        "商品番号|商品コード|品番|商品編號|商品编号|貨號|"
        '货号|商品代號|상품번호|상품코드|딜번호|제품번호|מק"ט|מקט|קוד מוצר|رمز المنتج|رقم المنتج|'
        "كود المنتج|รหัสสินค้า|mã sản phẩm|"
        "mã sp|kode produk|kode barang"
    ),
    "gtin": (
        "ean|ean code|ean nummer|ean kód|ean13|ean 13|gtin|gtin 13|upc|upc code|isbn|isbn 13|isbn13|isbn 10|"
        "barcode|bar code|strichcode|code barre|code barres|code ean|código de barras|código ean|codice a barre|"
        "codice ean|kod kreskowy|kod ean|čárový kód|čiarový kód|vonalkód|streckkod|stregkode|strekkode|barkod|"
        "штрихкод|штрих код|баркод|jan|janコード|バーコード|條碼|条形码|条码|바코드|ברקוד"
    ),
    "mpn": (
        "mpn|manufacturer part number|manufacturer's part number|manufacturer part no|manufacturer code|mfr part|"
        "mfr no|part number|part no|model number|model no|model|item model number|herstellernummer|hersteller nr|"
        "hersteller artikelnummer|herstellerartikelnummer|herstellerreferenz|modellnummer|modell|modell nr|"
        "référence fabricant|référence constructeur|numéro du modèle|numéro de modèle|modèle|número de modelo|"
        "modelo|número de pieza|referencia del fabricante|part number fabricante|numero modello|modello|"
        "codice produttore|modelnummer|kod producenta|model producenta|kód výrobce|kód výrobcu|part číslo|"
        "gyártói cikkszám|артикул производителя|модель|型番|型號|型号|모델명|모델번호"
    ),
    "brand": (
        "brand|brand name|manufacturer|maker|designer|marke|hersteller|marque|fabricant|marca|fabricante|"
        "produttore|merk|fabrikant|marka|producent|značka|výrobce|výrobca|gyártó|márka|brend|producător|märke|"
        "varumärke|tillverkare|mærke|varemerke|merke|produsent|merkki|valmistaja|tootja|kaubamärk|ražotājs|"
        "zīmols|gamintojas|prekės ženklas|proizvajalec|blagovna znamka|znamka|proizvođač|üretici|μάρκα|"
        "κατασκευαστής|бренд|производитель|марка|виробник|ブランド|ブランド名|メーカー|品牌|브랜드|제조사|"
        "מותג|יצרן|العلامة التجارية|"
        "ماركة|แบรนด์|ยี่ห้อ|thương hiệu|merek"
    ),
    "color": (
        "color|colour|farbe|couleur|cor|colore|kleur|kolor|barva|farba|szín|culoare|färg|farve|farge|väri|renk|"
        "цвет|колір|χρώμα|カラー|颜色|顏色|색상|צבע"
    ),
    "material": (
        "material|materials|composition|matière|matériau|composición|materiale|composizione|materiaal|materiał|"
        "materiál|anyag|materialet|malzeme|материал|состав|素材|材质|材質|소재"
    ),
    "size": (
        "size|größe|taille|talla|tamanho|taglia|maat|rozmiar|velikost|veľkosť|méret|mărime|storlek|størrelse|"
        "koko|beden|размер|サイズ|尺寸|사이즈"
    ),
    "weight": (
        "weight|item weight|gewicht|poids|peso|waga|hmotnost|hmotnosť|súly|tömeg|greutate|vikt|vægt|vekt|paino|"
        "ağırlık|вес|重量|무게"
    ),
    "dimensions": (
        "dimensions|product dimensions|abmessungen|maße|dimensiones|dimensões|dimensioni|afmetingen|wymiary|"
        "rozměry|rozmery|méretek|dimensiuni|mått|mål|mitat|boyutlar|размеры"
    ),
}
"""Field or attribute → labels, separated by `|`."""
