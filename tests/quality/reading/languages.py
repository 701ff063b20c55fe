# ruff: noqa: E501
"""What the pages of the corpus say, in eighteen languages: an article, and all that stands around articles.

Written for these tests. The paragraphs are the content; everything else must not be taken for it, save title, summary
and author where the shape of the page shows them.
"""

from typing import NamedTuple


class Words(NamedTuple):
    tag: str
    """As pages declare it."""
    title: str
    summary: str
    author: str
    paragraphs: tuple[str, ...]
    menu: tuple[str, ...]
    cookies: str
    advert: str
    newsletter: str
    related: tuple[str, ...]
    comment: str
    footer: str


WORDS = {
    words.tag: words
    for words in (
        Words(
            "en", "How the harbour town saved its last ferry", "A small town raised money for a boat it could not lose.", "Margaret Holloway",
            (
                "The ferry had crossed the bay twice a day for ninety years, and nobody in the town could remember a winter without its horn.",
                "When the company announced that the line would close, the fishmonger put a glass jar on her counter and wrote one word on it.",
                "By the end of March the jar had become a bank account with four thousand members, and the council agreed to match every pound.",
                "The new engine was fitted in June. On the first crossing the captain let the children of the primary school sound the horn.",
            ),
            ("Home", "Local news", "Sport", "Weather", "Contact us"),
            "We and our partners store cookies on your device to personalise content and measure audiences.",
            "Advertisement: new winter tyres from only nine pounds a month, fitted at your door.",
            "Get the morning briefing in your inbox, free, every weekday.",
            ("Ten walks along the coast for a rainy day", "Council votes on parking charges again"),
            "My grandfather worked on that boat, thank you for writing this down.",
            "All rights reserved. Published by the Bay Media Group, registered in Cardiff.",
        ),
        Words(
            "de", "Wie ein Dorf seine Bäckerei zurückbekam", "Nach drei Jahren ohne Brot gründeten die Bewohner eine Genossenschaft.", "Jürgen Weiß",
            (
                "Als der alte Bäcker in Rente ging, blieb der Ofen kalt, und wer frische Brötchen wollte, musste zwölf Kilometer fahren.",
                "Eine Lehrerin rechnete aus, dass achtzig Familien genügen würden, um den Laden mit je fünfhundert Euro wieder zu öffnen.",
                "Im Herbst standen die ersten Mehlsäcke im Flur der Schule, weil das Lager noch nicht fertig gestrichen war.",
                "Heute verkauft die Genossenschaft täglich sechshundert Brötchen, und sonntags reicht die Schlange bis zur Kirche.",
            ),
            ("Startseite", "Politik", "Wirtschaft", "Kultur", "Über uns"),
            "Wir verwenden Cookies und ähnliche Technologien, um Inhalte zu personalisieren und Zugriffe zu analysieren.",
            "Anzeige: Jetzt Stromanbieter wechseln und bis zu dreihundert Euro Prämie sichern.",
            "Abonnieren Sie unseren Newsletter und verpassen Sie keine Nachricht aus der Region.",
            ("Zehn Rezepte mit altem Brot", "Streit um die neue Umgehungsstraße"),
            "Toller Artikel, bei uns im Nachbarort versuchen wir gerade dasselbe!",
            "Alle Rechte vorbehalten. Impressum, Datenschutz und Mediadaten der Verlagsgesellschaft.",
        ),
        Words(
            "fr", "La bibliothèque qui voyage en péniche", "Sur le canal, mille livres passent d'un village à l'autre.", "Élodie Charpentier",
            (
                "Chaque mardi, la péniche s'amarre devant l'écluse et les enfants attendent déjà sur le quai avec leurs sacs à dos.",
                "La bibliothécaire connaît le prénom de tous les lecteurs et garde sous le comptoir les romans qu'ils ont réservés.",
                "Le bateau transportait autrefois du charbon ; il a fallu deux hivers pour poncer la coque et poser les étagères.",
                "L'an prochain, une seconde péniche descendra vers le sud, avec une salle de lecture pour les plus petits.",
            ),
            ("Accueil", "Actualités", "Régions", "Culture", "Nous contacter"),
            "Nous utilisons des cookies afin de mesurer l'audience et de vous proposer des publicités adaptées.",
            "Publicité : changez de matelas et profitez de cent nuits d'essai sans engagement.",
            "Recevez chaque matin notre lettre d'information, gratuitement et sans publicité.",
            ("Cinq écluses à découvrir à vélo", "Le marché couvert bientôt rénové"),
            "Quelle belle initiative, j'espère qu'elle passera un jour par chez nous.",
            "Tous droits réservés. Mentions légales et conditions générales d'utilisation.",
        ),
        Words(
            "es", "El pueblo que aprendió a guardar la lluvia", "Un sistema de aljibes devolvió el agua a las huertas.", "Lucía Fernández Ortega",
            (
                "Durante cinco veranos los grifos se cerraron a las ocho de la tarde y los almendros empezaron a perder las hojas.",
                "Un albañil jubilado recordó que debajo de la plaza había un aljibe romano, tapado desde la guerra.",
                "Los vecinos lo limpiaron en tres semanas y, con las primeras tormentas de octubre, se llenó hasta el borde.",
                "Hoy once aljibes recogen el agua de los tejados y las huertas producen tomates hasta bien entrado noviembre.",
            ),
            ("Inicio", "Noticias", "Deportes", "Opinión", "Contacto"),
            "Utilizamos cookies propias y de terceros para analizar el tráfico y mostrarle publicidad personalizada.",
            "Publicidad: seguro de hogar desde doce euros al mes, contrátelo hoy mismo.",
            "Suscríbase a nuestro boletín y reciba las noticias más importantes del día.",
            ("Las mejores rutas entre almendros", "El ayuntamiento aprueba el nuevo presupuesto"),
            "Mi abuela siempre contaba lo del aljibe y nadie la creía, qué alegría.",
            "Todos los derechos reservados. Aviso legal y política de privacidad del grupo editorial.",
        ),
        Words(
            "pt-BR", "A feira que alimenta um bairro inteiro", "Aos sábados, setenta barracas ocupam a rua do mercado.", "João Batista Moreira",
            (
                "Antes das cinco da manhã os caminhões já descarregam mandioca, couve e banana na esquina da padaria.",
                "Dona Cida vende tapioca há trinta anos e diz que nunca precisou escrever o preço, porque os fregueses sabem de cor.",
                "Quando a prefeitura quis mudar a feira de lugar, os moradores recolheram oito mil assinaturas em uma semana.",
                "No fim do dia, o que sobra vai para a cozinha comunitária, que serve trezentos almoços todo domingo.",
            ),
            ("Início", "Cidades", "Esportes", "Economia", "Fale conosco"),
            "Usamos cookies para melhorar a sua experiência e personalizar anúncios em nossas plataformas.",
            "Publicidade: internet de fibra por noventa e nove reais, assine agora.",
            "Assine a nossa newsletter e receba as principais notícias todas as manhãs.",
            ("Sete receitas com mandioca", "Chuva alaga avenidas da zona norte"),
            "Moro aqui faz dez anos e não troco essa feira por nenhum supermercado.",
            "Todos os direitos reservados. Política de privacidade e termos de uso da editora.",
        ),
        Words(
            "it", "Il sentiero delle lavandaie torna a vivere", "Volontari hanno ripulito i lavatoi lungo il torrente.", "Chiara Bellandi",
            (
                "Per secoli le donne scendevano al torrente con le ceste in equilibrio sulla testa, e il sentiero era largo come una strada.",
                "Quando arrivarono le lavatrici i rovi coprirono i muretti, e dei sette lavatoi si vedeva appena il tetto.",
                "Un gruppo di pensionati ha lavorato ogni sabato per due anni, pietra dopo pietra, senza chiedere un soldo.",
                "Domenica la banda suonerà davanti all'ultimo lavatoio, dove l'acqua ha ripreso a scorrere limpida.",
            ),
            ("Prima pagina", "Cronaca", "Sport", "Cultura", "Contatti"),
            "Questo sito utilizza i cookie per offrire contenuti personalizzati e analizzare il traffico.",
            "Pubblicità: materassi scontati del quaranta per cento fino a domenica.",
            "Iscriviti alla newsletter per ricevere ogni settimana le storie del territorio.",
            ("Le dieci sagre da non perdere", "Nuovo ponte, i lavori slittano ancora"),
            "Complimenti a tutti, mia nonna lavava lì i panni da bambina.",
            "Tutti i diritti riservati. Partita IVA e registro imprese della società editrice.",
        ),
        Words(
            "nl", "De molen die weer meel maalt", "Twintig vrijwilligers brachten een vergeten molen aan het draaien.", "Sanne van der Berg",
            (
                "De wieken hingen al veertig jaar stil, en in de kap woonde een familie kerkuilen die niemand wilde storen.",
                "Pas toen de uilen een nieuwe kast in de schuur kregen, durfden de timmerlieden aan de balken te beginnen.",
                "Het zwaarste stuk was de koningsspil, die met paard en wagen door de smalle dorpsstraat werd gereden.",
                "Sinds mei ruikt het op zaterdag weer naar tarwe, en de bakker koopt alles wat de molenaar kan leveren.",
            ),
            ("Voorpagina", "Regio", "Economie", "Wonen", "Over ons"),
            "Wij gebruiken cookies om inhoud en advertenties te personaliseren en het verkeer te meten.",
            "Advertentie: vergelijk nu zorgverzekeringen en bespaar tot tweehonderd euro.",
            "Meld je aan voor de nieuwsbrief en ontvang elke ochtend het laatste nieuws.",
            ("Fietsen langs zeven molens", "Brug bij het station maanden dicht"),
            "Prachtig werk, wij komen zaterdag met de hele familie meel halen.",
            "Alle rechten voorbehouden. Algemene voorwaarden en privacyverklaring van de uitgeverij.",
        ),
        Words(
            "pl", "Stara cegielnia stała się salą koncertową", "Muzycy grają tam, gdzie kiedyś wypalano cegły.", "Agnieszka Wójcik",
            (
                "Przez pół wieku w piecach hulał wiatr, a okoliczne dzieci zbierały tu odłamki glazury na szczęście.",
                "Skrzypaczka, która szukała miejsca na próby, odkryła, że pod łukowym sklepieniem dźwięk wybrzmiewa prawie cztery sekundy.",
                "Mieszkańcy wynieśli trzysta taczek gruzu, a miejscowy stolarz zrobił ławki z desek po dawnej suszarni.",
                "Na pierwszy koncert przyszło więcej osób, niż liczy cała wieś, i część słuchała przez otwarte okna.",
            ),
            ("Strona główna", "Wiadomości", "Sport", "Kultura", "Kontakt"),
            "Używamy plików cookie, aby dopasować treści i reklamy oraz analizować ruch w serwisie.",
            "Reklama: kredyt hipoteczny z najniższą ratą, sprawdź ofertę jeszcze dziś.",
            "Zapisz się do newslettera i otrzymuj najważniejsze informacje każdego ranka.",
            ("Najpiękniejsze szlaki na weekend", "Remont wiaduktu potrwa do jesieni"),
            "Byłam na tym koncercie i do dziś mam ciarki, wspaniałe miejsce.",
            "Wszelkie prawa zastrzeżone. Regulamin serwisu i polityka prywatności wydawcy.",
        ),
        Words(
            "tr", "Dağ köyünün yeniden açılan okulu", "On iki öğrenci için kapılar yıllar sonra aralandı.", "Zeynep Karaca",
            (
                "Okulun çatısı kardan çöktüğünde köyde yalnızca dört çocuk kalmıştı ve onlar da her gün ilçeye taşınıyordu.",
                "Geri dönen genç aileler önce yolu, sonra çeşmeyi, en sonunda da sınıfları kendi elleriyle onardı.",
                "Öğretmen ilk gün tahtaya köyün eski adını yazdı ve çocuklardan dedelerine bu adın hikâyesini sormalarını istedi.",
                "Şimdi bahçede elma fidanları var; her öğrenci diktiği ağacın bakımından kendisi sorumlu.",
            ),
            ("Ana sayfa", "Gündem", "Ekonomi", "Spor", "İletişim"),
            "Sitemizde içerikleri kişiselleştirmek ve trafiği analiz etmek için çerezler kullanıyoruz.",
            "Reklam: yeni telefonunuzu peşin fiyatına on iki taksitle hemen alın.",
            "Bültenimize abone olun, günün önemli haberleri her sabah e-postanıza gelsin.",
            ("Hafta sonu için beş yayla rotası", "Belediye otobüs saatlerini değiştirdi"),
            "Ben de o okulda okudum, okurken gözlerim doldu, emeği geçenlere teşekkürler.",
            "Tüm hakları saklıdır. Kullanım koşulları ve gizlilik politikası yayıncıya aittir.",
        ),
        Words(
            "ru", "Как маленький музей собрал тысячу самоваров", "Коллекцию начал школьный учитель физики.", "Ирина Соколова",
            (
                "Первый самовар учитель нашёл на чердаке собственного дома, и внутри него лежала связка писем военных лет.",
                "Соседи стали приносить свои находки: одни были помяты, у других не хватало крана или крышки.",
                "К зиме экспонаты не помещались в классе, и сельский совет отдал под музей пустующее здание почты.",
                "Теперь по субботам здесь пьют чай все вместе, а гостям рассказывают историю каждого самовара.",
            ),
            ("Главная", "Новости", "Общество", "Спорт", "Контакты"),
            "Мы используем файлы cookie, чтобы анализировать посещаемость и показывать подходящую рекламу.",
            "Реклама: окна с установкой за один день и гарантией на пятнадцать лет.",
            "Подпишитесь на рассылку и получайте главные материалы недели по электронной почте.",
            ("Семь маршрутов выходного дня", "Мост через реку закроют на ремонт"),
            "У моей бабушки был точно такой же самовар, спасибо за тёплую статью.",
            "Все права защищены. Перепечатка материалов только с письменного разрешения редакции.",
        ),
        Words(
            "ar", "مكتبة على ظهر جمل تصل إلى القرى البعيدة", "مبادرة صغيرة تحمل الكتب إلى أطفال الصحراء.", "ليلى المنصوري",
            (
                "في كل صباح أحد تتحرك القافلة الصغيرة قبل شروق الشمس، وعلى ظهر الجمل صندوقان خشبيان مليئان بالكتب.",
                "ينتظر الأطفال تحت شجرة السدر الكبيرة، ويختار كل واحد منهم قصة يقرؤها حتى موعد الزيارة القادمة.",
                "بدأ المعلم الفكرة بعشرين كتابا فقط من مكتبة بيته، ثم أرسل الناس إليه التبرعات من مدن كثيرة.",
                "واليوم تزور القافلة أربع عشرة قرية، وقد تعلم بعض الكبار القراءة مع أبنائهم.",
            ),
            ("الرئيسية", "الأخبار", "الاقتصاد", "الرياضة", "اتصل بنا"),
            "نستخدم ملفات تعريف الارتباط لتحسين تجربتك وعرض إعلانات تناسب اهتماماتك.",
            "إعلان: احجز رحلتك الآن واحصل على خصم عشرين في المئة حتى نهاية الشهر.",
            "اشترك في النشرة البريدية لتصلك أهم الأخبار كل صباح مجانا.",
            ("أجمل خمسة أماكن للتخييم", "افتتاح الطريق الساحلي الجديد"),
            "قصة مؤثرة جدا، أتمنى أن تصل هذه المبادرة إلى قريتنا أيضا.",
            "جميع الحقوق محفوظة. سياسة الخصوصية وشروط الاستخدام للمؤسسة الناشرة.",
        ),
        Words(
            "he", "הגינה הקהילתית שצמחה על גג החניון", "תושבי השכונה הפכו בטון לערוגות ירק.", "נועה ברקוביץ",
            (
                "במשך שנים עמד גג החניון ריק, ורק חתולים התחממו עליו בשעות הצהריים של החורף.",
                "שכנה אחת העלתה שק אדמה ושתילי עגבניות, וכעבור חודש כבר הצטרפו אליה עשרים משפחות.",
                "מהנדס מהבניין הסמוך חישב את העומס ותכנן ערוגות קלות שאינן מכבידות על התקרה.",
                "היום גדלים שם תשעים סוגי ירקות, ובכל יום שישי מחלקים את היבול לקשישי השכונה.",
            ),
            ("דף הבית", "חדשות", "כלכלה", "ספורט", "צור קשר"),
            "אנו משתמשים בעוגיות כדי להתאים תוכן אישי ולנתח את התנועה באתר.",
            "פרסומת: מזגנים במבצע חורף עם התקנה חינם עד סוף השבוע.",
            "הירשמו לניוזלטר וקבלו את הסיפורים הגדולים ישירות לתיבת הדואר.",
            ("חמישה מסלולי טיול לשבת", "העירייה אישרה את תוכנית המתאר"),
            "איזה יופי, גם אצלנו יש גג ריק שמחכה בדיוק לזה.",
            "כל הזכויות שמורות. תנאי שימוש ומדיניות פרטיות של בית ההוצאה.",
        ),
        Words(
            "hi", "नदी किनारे के गाँव ने बचाया अपना पुराना कुआँ", "तीन पीढ़ियों ने मिलकर पानी का रास्ता खोजा।", "सुनीता शर्मा",
            (
                "गर्मियों में जब हैंडपंप सूख जाते थे तब औरतों को दो घंटे पैदल चलकर नदी तक जाना पड़ता था।",
                "एक बुज़ुर्ग किसान ने बताया कि बरगद के नीचे दबा हुआ कुआँ कभी पूरे गाँव की प्यास बुझाता था।",
                "नौजवानों ने चालीस दिन तक मिट्टी निकाली और ईंटों की दीवार को फिर से चूने से जोड़ा।",
                "अब बरसात का पानी छतों से सीधे कुएँ में उतरता है और साल भर मीठा रहता है।",
            ),
            ("होम", "देश", "दुनिया", "खेल", "संपर्क करें"),
            "हम आपके अनुभव को बेहतर बनाने और विज्ञापन दिखाने के लिए कुकीज़ का उपयोग करते हैं।",
            "विज्ञापन: आज ही नया ट्रैक्टर आसान किस्तों पर घर ले जाएँ।",
            "हमारे न्यूज़लेटर की सदस्यता लें और हर सुबह ताज़ा ख़बरें पाएँ।",
            ("घूमने के लिए सात पहाड़ी गाँव", "नई रेल लाइन का काम शुरू"),
            "बहुत सुंदर लेख है, हमारे गाँव में भी ऐसा ही एक कुआँ है।",
            "सर्वाधिकार सुरक्षित। गोपनीयता नीति और उपयोग की शर्तें प्रकाशक की हैं।",
        ),
        Words(
            "th", "ตลาดน้ำเก่าแก่กลับมามีชีวิตอีกครั้ง", "ชาวบ้านช่วยกันฟื้นตลาดที่ปิดไปนานกว่ายี่สิบปี", "สมชาย ใจดี",
            (
                "เมื่อถนนสายใหม่ตัดผ่านหมู่บ้าน เรือพายก็ค่อย ๆ หายไปจากคลอง และแพไม้หน้าตลาดก็ผุพังลงทีละแผ่น",
                "คุณยายที่เคยขายขนมครกชวนเพื่อนบ้านซ่อมท่าน้ำด้วยไม้เก่าจากบ้านของตนเอง",
                "นักเรียนช่วยกันทาสีป้ายร้านและวาดแผนที่เส้นทางเดินเรือสำหรับนักท่องเที่ยว",
                "ทุกเช้าวันเสาร์จึงมีเรือกว่าห้าสิบลำกลับมาขายผลไม้ ก๋วยเตี๋ยว และดอกบัวสด",
            ),
            ("หน้าแรก", "ข่าว", "เศรษฐกิจ", "กีฬา", "ติดต่อเรา"),
            "เราใช้คุกกี้เพื่อพัฒนาประสบการณ์การใช้งานและแสดงโฆษณาที่เหมาะกับคุณ",
            "โฆษณา: สมัครบัตรเครดิตวันนี้รับเงินคืนทันทีห้าร้อยบาท",
            "สมัครรับจดหมายข่าวเพื่อไม่พลาดเรื่องราวน่าสนใจทุกสัปดาห์",
            ("สิบร้านอร่อยริมคลอง", "เปิดสะพานข้ามแม่น้ำแห่งใหม่"),
            "อ่านแล้วคิดถึงบ้านมาก จะพาลูกไปเที่ยวแน่นอน",
            "สงวนลิขสิทธิ์ทุกประการ นโยบายความเป็นส่วนตัวของสำนักพิมพ์",
        ),
        Words(
            "ja", "廃線の駅舎が町の図書室になるまで", "住民たちが三年かけて木造の駅を直した。", "佐藤美咲",
            (
                "最後の列車が走った日から、駅舎の時計は四時十二分で止まったままになっていた。",
                "元駅員の老人が毎朝ホームを掃き続けているのを見て、大学生たちは建物を残す方法を考え始めた。",
                "寄付された本は一万冊を超え、待合室の長椅子はそのまま読書席として使われている。",
                "冬になると改札口のそばに薪ストーブが置かれ、下校した子どもたちが宿題を広げる。",
            ),
            ("ホーム", "ニュース", "暮らし", "スポーツ", "お問い合わせ"),
            "当サイトでは利便性の向上と広告配信のためにクッキーを使用しています。",
            "広告：新生活応援セール開催中、家電が最大三割引きです。",
            "メールマガジンに登録すると毎週おすすめの記事をお届けします。",
            ("週末に歩きたい海辺の散歩道", "新しい市民会館の設計案が決まる"),
            "先月訪れましたが、とても居心地の良い場所でした。また行きます。",
            "無断転載を禁じます。運営会社と個人情報保護方針について。",
        ),
        Words(
            "zh-CN", "老茶馆里的露天电影又放起来了", "一台修好的放映机把邻居们重新聚到一起。", "李晓明",
            (
                "每到夏天的傍晚，街坊们就搬着竹椅来到茶馆后院，等着白布上亮起第一束光。",
                "放映机是从废品站里找回来的，退休的电工花了整整一个冬天才把它修好。",
                "片子不多，孩子们却愿意把同一部动画看上五遍，连台词都能跟着念出来。",
                "老板说只要还有人愿意来坐，他就会一直放下去，茶钱还是从前的价格。",
            ),
            ("首页", "新闻", "财经", "体育", "联系我们"),
            "我们使用浏览器缓存信息来改善您的体验并投放个性化内容。",
            "广告：全屋定制家具限时优惠，预约即送设计方案。",
            "订阅我们的电子邮件，每天早上获取最新资讯。",
            ("周末适合带孩子去的五个公园", "新地铁线路预计明年通车"),
            "小时候经常在那里看电影，看到这篇文章很感动。",
            "版权所有，未经许可不得转载。网站备案信息与隐私政策。",
        ),
        Words(
            "zh-TW", "山腰上的小書店決定不打烊", "店主用一盞燈陪伴夜歸的旅人。", "陳怡君",
            (
                "書店開在產業道路的轉彎處，晚上十點以後，整座山只剩下這一盞還亮著的燈。",
                "起初是為了等迷路的登山客，後來附近的茶農收工之後也習慣進來坐一會兒。",
                "店裡沒有收銀機，客人自己把錢放進木盒，再從牆上的簿子寫下買走的書名。",
                "今年冬天特別冷，有人送來一個舊火爐，從此夜裡總有烤地瓜的香味。",
            ),
            ("首頁", "新聞", "財經", "體育", "聯絡我們"),
            "本網站會記錄瀏覽資料以提供個人化內容並分析流量。",
            "廣告：冬季暖爐特賣中，下單再送保溫瓶一個。",
            "訂閱電子報，每週收到編輯精選的文章。",
            ("適合新手的五條郊山步道", "舊鐵橋將改建為自行車道"),
            "去年迷路時真的被這盞燈救了，謝謝老闆。",
            "版權所有，轉載必究。隱私權政策與服務條款說明。",
        ),
        Words(
            "ko", "섬마을 우체국이 문을 닫지 않은 이유", "주민들이 배달부를 위해 작은 배를 마련했다.", "김하늘",
            (
                "겨울 바다가 거칠어지면 편지는 며칠씩 육지에 묶였고, 약을 기다리는 노인들은 부두에 나와 서성였다.",
                "우체국을 없앤다는 소식이 전해지자 어촌계는 회의를 열어 배 한 척을 함께 사기로 결정했다.",
                "배달부는 이제 편지와 함께 반찬과 신문을 싣고 일곱 개의 섬을 차례로 돈다.",
                "아이들은 방학 숙제로 서로에게 엽서를 쓰고, 우체국 벽에는 그 엽서들이 가득 붙어 있다.",
            ),
            ("홈", "뉴스", "경제", "스포츠", "문의하기"),
            "저희는 서비스 개선과 맞춤형 광고 제공을 위해 쿠키를 사용합니다.",
            "광고: 지금 가입하면 첫 달 인터넷 요금이 무료입니다.",
            "뉴스레터를 구독하고 매일 아침 주요 소식을 받아 보세요.",
            ("주말에 걷기 좋은 바닷길", "새 여객선 터미널 내년 완공"),
            "읽는 내내 마음이 따뜻해졌습니다. 꼭 한번 가 보고 싶네요.",
            "모든 권리 보유. 개인정보 처리방침과 이용약관은 발행사에 있습니다.",
        ),
    )
}  # fmt: skip
