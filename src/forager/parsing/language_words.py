# ruff: noqa: E501
"""The commonest words by language, used to check a declared language before the model runs.

Each word is in one list only, so that a match indicates one language; words that related languages share (`de`, `que`,
`in`) are in none. If two languages are too similar to distinguish by words (Norwegian and Danish), the declaration is
used anyway.
"""

COMMON = frozenset(
    [
        "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id",
        "is", "it", "ja", "ka", "kk", "ko", "lt", "lv", "mk", "mr", "ms", "nb", "nl", "no", "pl", "pt", "ro", "ru", "sk",
        "sl", "sq", "sr", "sv", "ta", "th", "tr", "uk", "ur", "vi", "zh",
    ]
)  # fmt: skip
"""The languages of most pages."""

_LISTS = {
    "en": "the to of is and that was with this from are by you it be or which your have not his they at has we will can "
    "their if but who were been one all there when more",
    "de": "der und den von ist das nicht zu sich mit dem auf für eine ein auch wird im wir werden oder haben einen aus "
    "bei nach ich sind wie über einer einem aber durch noch vom zum zur dass sie war hat",
    "es": "el los las y una por más pero sus su como está esta fue ha muy este desde son también sobre sin "
    "hasta entre cuando",
    "fr": "et les des est dans une pour qui du avec sur pas sont vous nous ce cette il elle mais aux ses "
    "leur été comme être qu'il d'un d'une c'est",
    "pt": "os um uma não em do dos das ao mais foi são pelo pela seu sua também já você à é nos isso",
    "it": "il che è della dei gli alla sono nel anche dal delle questo più degli nella dalla essere questa loro sul",
    "nl": "het een van zijn niet dat aan voor wordt ook bij naar maar deze uit nog werd hebben heeft dit worden wij "
    "hun door tot",
    "pl": "w nie się jest że po przez od jak dla oraz są ale czy który która które był tym tego może jego",
    "sv": "och att som är på för inte jag har ett av till eller från också när efter vid så",
    "fi": "ei että hän oli joka myös mutta kun ovat niin tai kuin mukaan sekä jos",
    "cs": "že ve byl jako jsou také podle před který která jejich nebo bylo při být však tak aby ale",
    "hu": "az és hogy egy volt meg már csak mint vagy azt ezt lehet mert után még ami",
    "tr": "bir bu için ile çok daha olarak olan gibi kadar ise sonra ama değil olduğu",
    "ro": "și în cu să mai este din sunt fost prin pentru sau lui după această iar",
    "id": "yang dan dengan untuk dari pada dalam tidak itu akan juga adalah oleh tersebut karena atau saya bisa",
    "vi": "và của là có cho được các một trong không với những người này đã để khi từ đến ở",
    "ru": "и в не на что с по как это из к он но для от был за его так все то они же мы после у",
    "uk": "і та що не на з до як це від за його він для але про або й був які",
    "el": "και το να του η της με που για την από των στο είναι τα δεν οι τον θα στη ο",
    "ar": "في من على إلى أن التي عن مع هذا الذي كان هذه ما لا أو بعد كما قد بين كل",
    "fa": "و در به از که این را با است برای آن یک هم بر تا بود شد های می",
}


def _drop_shared_words(lists: dict[str, str]) -> dict[str, frozenset[str]]:
    """Removes words that occur in more than one list: they confirm nothing."""
    words = {language: frozenset(text.split()) for language, text in lists.items()}
    return {
        language: own.difference(*(others for name, others in words.items() if name != language))
        for language, own in words.items()
    }


FREQUENT = _drop_shared_words(_LISTS)
