"""Builders: a test says only what matters to it."""

from forager.fetch.models import Fetched
from forager.parsing.models import Reading
from forager.parsing.page import read


def fetched(
    body: str | bytes,
    *,
    url: str = "https://site.example/dir/page",
    content_type: str = "text/html; charset=utf-8",
    is_truncated: bool = False,
    **headers: str,
) -> Fetched:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body.encode() if isinstance(body, str) else body
    return Fetched(url, 200, {"content-type": content_type} | names, data, len(data), 1, is_truncated)


def reading(body: str | bytes, *, words: int = 200, **given: str) -> Reading:
    return read(fetched(body, **given), keyword_words=words)  # type: ignore[arg-type]


# One short text per language, written for these tests.
TEXTS = {
    "en": "The old lighthouse keeper walked down to the harbour every morning to see whether the boats had come home.",
    "de": "Der alte Leuchtturmwärter ging jeden Morgen zum Hafen hinunter, um zu sehen, ob die Boote zurück waren.",
    "fr": "Le vieux gardien du phare descendait chaque matin au port pour voir si les bateaux étaient bien rentrés.",
    "es": "El viejo farero bajaba cada mañana al puerto para ver si los barcos habían vuelto a salvo de la tormenta.",
    "it": "Il vecchio guardiano del faro scendeva ogni mattina al porto per vedere se le barche erano tornate a casa.",
    "pt": "O velho faroleiro descia todas as manhãs ao porto para ver se os barcos tinham voltado em segurança.",
    "pl": "Stary latarnik schodził każdego ranka do portu, żeby zobaczyć, czy łodzie wróciły bezpiecznie po burzy.",
    "ru": "Старый смотритель маяка каждое утро спускался в гавань, чтобы увидеть, вернулись ли лодки после бури.",
    "el": "Ο γέρος φαροφύλακας κατέβαινε κάθε πρωί στο λιμάνι για να δει αν οι βάρκες είχαν γυρίσει από την καταιγίδα.",
    "tr": "Yaşlı deniz feneri bekçisi her sabah limana iner, teknelerin fırtınadan sağ salim dönüp dönmediğine bakar.",
    "ar": "كان حارس المنارة العجوز ينزل كل صباح إلى الميناء ليرى هل عادت القوارب سالمة بعد عاصفة الليلة الماضية.",
    "ja": "年老いた灯台守は毎朝港まで歩いて行き、昨夜の嵐のあとで船が無事に帰ってきたかどうかを確かめていました。",
    "zh": "老灯塔看守人每天早晨都走到港口，看看昨夜暴风雨之后船只是否平安归来，然后慢慢走回家吃早饭。",
    "ko": "늙은 등대지기는 매일 아침 항구로 내려가 지난밤 폭풍이 지난 뒤 배들이 무사히 돌아왔는지 살펴보았다.",
}
