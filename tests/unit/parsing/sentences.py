# ruff: noqa: E501
"""A few sentences in languages that TEXTS does not have, written for these tests; each with its legacy charsets."""

SENTENCES = {
    "cs": "Starý převozník vstával každý den před svítáním, protože děti z druhého břehu musely včas do školy. "
    "Když řeka na jaře stoupla, čekal s loďkou u vrby a nikdy si neřekl o víc než o kousek chleba.",
    "sk": "Starý prievozník vstával každý deň pred svitaním, pretože deti z druhého brehu museli prísť včas do školy. "
    "Keď rieka na jar stúpla, čakal s loďkou pri vŕbe a nikdy si nepýtal viac než kúsok chleba.",
    "hu": "Az öreg révész minden nap hajnal előtt kelt, mert a túlsó part gyerekeinek időben kellett az iskolába érniük. "
    "Amikor tavasszal megáradt a folyó, a fűzfánál várt a csónakkal, és sosem kért többet egy szelet kenyérnél.",
    "ro": "Bătrânul luntraș se trezea în fiecare zi înainte de răsărit, fiindcă copiii de pe celălalt mal trebuiau să "
    "ajungă la timp la școală. Când râul creștea primăvara, aștepta lângă salcie și nu cerea decât o bucată de pâine.",
    "hr": "Stari skelar ustajao je svakoga dana prije zore jer su djeca s druge obale morala na vrijeme stići u školu. "
    "Kad bi rijeka u proljeće narasla, čekao je s čamcem kod vrbe i nikada nije tražio više od komada kruha.",
    "sl": "Stari brodar je vsak dan vstajal pred zoro, ker so morali otroci z drugega brega pravočasno priti v šolo. "
    "Ko je reka spomladi narasla, je s čolnom čakal pri vrbi in nikoli ni zahteval več kot kos kruha.",
    "sv": "Den gamle färjkarlen steg upp före gryningen varje dag, eftersom barnen från andra stranden måste hinna till "
    "skolan. När ån steg om våren väntade han med båten vid pilträdet och bad aldrig om mer än en brödbit.",
    "da": "Den gamle færgemand stod op før daggry hver dag, fordi børnene fra den anden bred skulle nå i skole i tide. "
    "Når åen steg om foråret, ventede han med båden ved piletræet og bad aldrig om mere end et stykke brød.",
    "no": "Den gamle ferjemannen sto opp før daggry hver dag, fordi barna fra den andre bredden måtte rekke skolen i tide. "
    "Når elva steg om våren, ventet han med båten ved piletreet og ba aldri om mer enn et stykke brød.",
    "fi": "Vanha lossimies heräsi joka päivä ennen aamunkoittoa, koska vastarannan lasten piti ehtiä ajoissa kouluun. "
    "Kun joki keväällä nousi, hän odotti veneineen pajun luona eikä pyytänyt koskaan enempää kuin palan leipää.",
    "et": "Vana parvemees tõusis iga päev enne koitu, sest teise kalda lapsed pidid õigel ajal kooli jõudma. "
    "Kui jõgi kevadel tõusis, ootas ta paadiga paju juures ega küsinud kunagi rohkem kui tükk leiba.",
    "lv": "Vecais pārcēlājs katru dienu cēlās pirms rītausmas, jo bērniem no otra krasta bija laikus jānokļūst skolā. "
    "Kad pavasarī upe cēlās, viņš gaidīja ar laivu pie vītola un nekad neprasīja vairāk kā maizes šķēli.",
    "lt": "Senasis keltininkas kasdien keldavosi prieš aušrą, nes kito kranto vaikai turėjo laiku pasiekti mokyklą. "
    "Kai pavasarį upė pakildavo, jis laukdavo su valtimi prie gluosnio ir niekada neprašė daugiau nei riekės duonos.",
    "is": "Gamli ferjumaðurinn fór á fætur fyrir dögun á hverjum degi, því börnin hinum megin þurftu að ná í skólann. "
    "Þegar áin óx á vorin beið hann með bátinn við víðitréð og bað aldrei um meira en einn brauðbita.",
    "uk": "Старий перевізник щодня прокидався ще до світанку, бо діти з іншого берега мусили вчасно дістатися до школи. "
    "Коли навесні річка підіймалася, він чекав із човном біля верби й ніколи не просив більше, ніж шматок хліба.",
    "bg": "Старият лодкар ставаше всеки ден преди зазоряване, защото децата от другия бряг трябваше да стигнат навреме "
    "на училище. Когато реката прииждаше напролет, той чакаше до върбата и никога не искаше повече от къс хляб.",
    "el": "Ο γέρος περαματάρης ξυπνούσε κάθε μέρα πριν από την αυγή, γιατί τα παιδιά της απέναντι όχθης έπρεπε να φτάσουν "
    "στο σχολείο. Όταν το ποτάμι φούσκωνε την άνοιξη, περίμενε με τη βάρκα και δεν ζητούσε παρά ένα κομμάτι ψωμί.",
    "vi": "Người lái đò già thức dậy trước bình minh mỗi ngày, vì lũ trẻ bên kia sông phải đến trường đúng giờ. "
    "Khi nước dâng vào mùa xuân, ông chờ với chiếc thuyền bên gốc liễu và không bao giờ xin hơn một mẩu bánh.",
    "id": "Tukang perahu tua itu bangun sebelum fajar setiap hari karena anak-anak dari seberang harus tiba di sekolah tepat "
    "waktu. Ketika sungai meluap, ia menunggu di bawah pohon dan tidak pernah meminta lebih dari sepotong roti.",
    "fa": "قایقران پیر هر روز پیش از سپیده‌دم بیدار می‌شد، چون بچه‌های آن سوی رود باید به‌موقع به مدرسه می‌رسیدند. "
    "وقتی رودخانه در بهار بالا می‌آمد، کنار درخت بید با قایقش منتظر می‌ماند و جز تکه‌ای نان چیزی نمی‌خواست.",
}

LEGACY_CHARSETS = {
    "cs": ("windows-1250", "iso-8859-2"),
    "sk": ("windows-1250", "iso-8859-2"),
    "hu": ("windows-1250", "iso-8859-2"),
    "ro": ("windows-1250",),
    "hr": ("windows-1250", "iso-8859-2"),
    "sl": ("windows-1250", "iso-8859-2"),
    "sv": ("windows-1252",),
    "da": ("windows-1252",),
    "no": ("windows-1252",),
    "fi": ("windows-1252",),
    "et": ("windows-1257", "iso-8859-15"),
    "lv": ("windows-1257", "iso-8859-13"),
    "lt": ("windows-1257", "iso-8859-13"),
    "is": ("windows-1252",),
    "uk": ("windows-1251", "koi8-u"),
    "bg": ("windows-1251", "iso-8859-5"),
    "el": ("windows-1253", "iso-8859-7"),
    "vi": ("windows-1258",),
    "fa": ("windows-1256",),
    "de": ("windows-1252",),
    "fr": ("windows-1252", "iso-8859-15"),
    "es": ("windows-1252",),
    "it": ("windows-1252",),
    "pt": ("windows-1252",),
    "nl": ("windows-1252",),
    "pl": ("windows-1250", "iso-8859-2"),
    "tr": ("windows-1254", "iso-8859-9"),
    "ru": ("windows-1251", "koi8-r", "iso-8859-5", "ibm866"),
    "ar": ("windows-1256", "iso-8859-6"),
    "he": ("windows-1255", "iso-8859-8"),
    "th": ("tis-620",),
    "ja": ("shift_jis", "euc-jp", "iso-2022-jp"),
    "zh": ("gb18030",),
    "zh-TW": ("big5",),
    "ko": ("euc-kr",),
}
