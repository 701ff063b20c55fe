# ruff: noqa: E501
"""What identifies challenge pages: headers, marks of services, titles, texts and buttons. Data only."""

import re
from collections.abc import Sequence

HEADERS = (
    ("cf-mitigated", re.compile(r"challenge", re.IGNORECASE), "cloudflare"),
    ("x-vercel-mitigated", re.compile(r"challenge|deny", re.IGNORECASE), "vercel"),
    ("x-amzn-waf-action", re.compile(r"challenge|captcha", re.IGNORECASE), "aws"),
    ("x-datadome", re.compile(r"protected", re.IGNORECASE), "datadome"),
)
"""Headers that a service adds to its own challenge. Those of DataDome count with a refusal only: see `is_refusal`."""
REFUSALS_ONLY = frozenset({"x-datadome"})

MARKS: Sequence[tuple[str, tuple[bytes, ...], re.Pattern[bytes] | None]] = (
    ("cloudflare", (b"_cf_chl_opt", b"cf-browser-verification", b"jschl_answer", b"jschl-answer"), None),
    ("cloudflare", (b"/cdn-cgi/challenge-platform/",), re.compile(rb"/cdn-cgi/challenge-platform/[^\"'\s]{0,40}orchestrate")),
    ("cloudflare", (b"challenge-form", b"challenge-running", b"challenge-error-text", b"cf-challenge"),
     re.compile(rb"(?s)(?=.*(?:cdn-cgi|cloudflare)).*\bid=[\"']?(?:challenge-|cf-ch)")),
    ("cloudflare", (b"block_headline", b"cf-error-1020", b"cf-error-1010", b"cf-error-1015"), None),
    ("datadome", (b"captcha-delivery.com",), re.compile(rb"captcha-delivery\.com/(?:captcha|interstitial|[ci]\.js)")),
    ("datadome", (b"var dd={", b"var dd = {"), re.compile(rb"var dd ?= ?\{\s{0,9}[\"']?rt[\"']?\s{0,9}:")),
    ("perimeterx", (b"px-captcha",), re.compile(rb"\bid=[\"']?px-captcha")),
    ("perimeterx", (b"captcha.px-cdn.net", b"captcha.px-cloud.net", b"_pxblockedurl", b"px-block-form"), None),
    ("imperva", (b"incapsula incident id", b"/_incapsula_resource?cwudnsai=", b"interstitial-inprogress"), None),
    ("imperva", (b"_incapsula_resource",), re.compile(rb"<iframe[^>]{0,200}_incapsula_resource|_incapsula_resource[^\"'>]{0,400}incident_id=")),
    ("akamai", (b"errors.edgesuite.net", b"/_sec/cp_challenge/", b"sec-if-cpt-container", b"?bm-verify=", b"&bm-verify="), None),
    ("aws", (b"gokuprops", b"awswafcaptcha", b"awswafcookiedomainlist"), None),
    ("kasada", (b"window.kpsdk=", b"window.kpsdk =", b"x-kpsdk", b"kp_uidz"), None),
    ("sucuri", (b"sucuri_cloudproxy_js", b"sucuri website firewall - access denied", b"cloudproxy@sucuri.net"), None),
    ("ddos-guard", (b"/.well-known/ddos-guard/js-challenge", b"/.well-known/ddos-guard/mark", b"check.ddos-guard.net"), None),
    ("f5", (b"/tspd/", b"bobcmn"), re.compile(rb"/tspd/[0-9a-f]{8,}|window\[[\"']bobcmn[\"']\]")),
    ("f5", (b"the requested url was rejected. please consult",), None),
    ("distil", (b"distil_r_captcha", b"distilidentificationblock", b"dcf_ticket"), None),
    ("radware", (b"validate.perfdrive.com", b"captcha.perfdrive.com", b"radware captcha", b"radware bot manager captcha"), None),
    ("reblaze", (b"rbzns.challdomain", b"window.rbzns"), None),
    ("anubis", (b"anubis_challenge", b"/.within.website/x/cmd/anubis/"), None),
    ("vercel", (b"<title>vercel security checkpoint",), None),
    ("siteground", (b"/.well-known/sgcaptcha/", b"/.well-known/captcha/"), None),
    ("amazon", (b"/errors/validatecaptcha", b"opfcaptcha"), None),
    ("google", (b"our systems have detected unusual traffic from your computer network",), None),
    ("queue-it", (b"queue-it.net/softblock", b"queue-it.net/error", b"id=\"queue-it_log\""), None),
    ("yandex", (b"/checkcaptcha?", b"checkboxcaptcha"), None),
    ("alibaba", (b"/_____tmd_____/punish", b"x5secdata="), None),
    ("baidu", (b"wappass.baidu.com/static/captcha",), None),
)  # fmt: skip
"""What only the challenge of a service has, and not the pages that it protects: all pages behind Cloudflare may load
`/cdn-cgi/challenge-platform/scripts/jsd/`, all pages behind Imperva `/_Incapsula_Resource?SWJIYLWA=`. In lower case; one
of the texts has to occur, and then the pattern. Texts first: a search for the patterns takes a hundred times as long."""

WIDGETS = (
    b"challenges.cloudflare.com/turnstile", b"cf-turnstile", b"h-captcha", b"hcaptcha.com/1/api.js", b"g-recaptcha",
    b"/recaptcha/api", b"/recaptcha/enterprise", b"frc-captcha", b"geetest", b"arkoselabs.com", b"funcaptcha", b"smartcaptcha",
    b"captcha-container", b"captcha_image", b"captcha-image", b"captchaimg", b"captcha-box", b"captcha-form",
    b"captcha-widget", b"captcha.php", b"captcha.jpg", b"captcha.png", b"/captcha/",
)  # fmt: skip
"""Captchas that any page may have in a form."""
RELOADS = (
    b"http-equiv=\"refresh\"", b"http-equiv=refresh", b"location.reload", b"location.replace", b"location.href", b"document.cookie",
    b"<noscript",
)  # fmt: skip
"""How a page without a captcha lets a browser through: it sets a cookie and loads itself again."""

CHECK_TITLE = re.compile(
    r"(?:just a (?:moment|second)|one (?:more|moment)(?: step| please)?|checking (?:your|the) browser(?: before accessing.*)?"
    r"|(?:please )?wait(?:ing)?(?: a moment| while we (?:check|verify).*)?|verif(?:y|ying)(?: that)? you(?:'|’)?(?: a)?re (?:a )?(?:not a )?"
    r"(?:human|robot|bot)|(?:please )?verify (?:that )?(?:you are (?:a )?human|your identity|yourself)"
    r"|(?:are you|you are|i am|i'm|make sure you(?:'|’)?re) (?:a |an |not a )?(?:human|robot|bot|real (?:person|visitor)).{0,20}"
    r"|making sure you(?:'|’)?re not a bot|human (?:verification|check|test)|(?:robot|bot|security|captcha|browser|visitor|ddos)"
    r"[- ](?:check|verification|challenge|protection|checkpoint|test)(?: required)?|attention required"
    r"|pardon our interruption|access (?:to this page (?:has been|is) )?(?:denied|blocked|restricted)|you have been blocked"
    r"|(?:request|access) (?:unsuccessful|rejected|blocked)|security (?:check|verification)(?: required)?|captcha|challenge(?: page)?"
    r"|validation request|(?:unusual|suspicious) (?:traffic|activity)(?: detected)?|prove you(?:'|’)?re (?:a )?human|ddos(?:-| )guard"
    r"|bot(?:-| )?(?:detected|detection)|sicherheits(?:überprüfung|prüfung|abfrage)|bist du ein (?:mensch|roboter).?"
    r"|(?:nur )?einen moment(?: bitte)?|zugriff verweigert|un (?:instant|moment)(?: s'il vous plaît)?"
    r"|vérification (?:de sécurité|humaine|du navigateur)|accès (?:refusé|bloqué)|un momento(?: por favor)?"
    r"|verificación (?:de seguridad|humana)|acceso denegado|verifica di sicurezza|accesso negato|acesso negado|verificação de segurança"
    r"|проверка (?:браузера|безопасности)|вы не робот.?|доступ (?:запрещен|ограничен|заблокирован)|ой!?|安全验证|人机验证|访问验证|滑动验证页面"
    r"|セキュリティチェック|ロボットではありません)[.…!?\s]*",
    re.IGNORECASE,
)
"""Titles that only a check of the visitor has, as a whole part of the title: `Just a moment...`, `Access denied | Shop`."""
CHECK_TEXT = re.compile(
    r"verif(?:y|ying|ies|ication)[^.]{0,60}(?:human|robot|\bbot\b|browser|not automated)|(?:are|you're|you are|i'm|i am) not a (?:ro)?bot"
    r"|checking your browser|checking if the site connection is secure|complete the (?:captcha|security check|challenge|puzzle)"
    r"|solve (?:the|this) (?:captcha|puzzle|challenge)|(?:type|enter) the (?:characters|letters|code|text)[^.]{0,40}(?:see|shown|image|picture|below)"
    r"|unusual (?:traffic|activity)|automated (?:access|requests?|traffic|tools?)|(?:press|click)(?: and|&| &) hold"
    r"|before (?:you )?(?:proceed|continu|access)[^.]{0,60}(?:captcha|verif|human|robot)|(?:needs?|has) to review the security of your connection"
    r"|ddos protection by|(?:as you were browsing|think(?:ing)?)[^.]{0,80}(?:super-human|(?:ro)?bot)"
    r"|bestätigen[^.]{0,50}(?:mensch|kein(?:e)? (?:robot|bot))|kein robot|überprüf[^.]{0,40}browser|je ne suis pas un robot|vous êtes (?:bien )?(?:un )?humain"
    r"|vérifi[^.]{0,50}(?:humain|robot|navigateur)|no (?:eres|soy|es) un robot|verific[^.]{0,50}(?:humano|robot|umano|navegador)"
    r"|non sono un robot|não sou um rob|я не робот|вы не робот|не робот|проверк[^.]{0,40}(?:браузер|робот)|人机身份验证|验证您是真人|拖动.{0,10}滑块"
    r"|ロボットではない",
    re.IGNORECASE,
)

CONSENT_TITLE = re.compile(
    r"(?:(?:cookie|privacy|data protection|consent|tracking)[- ]?(?:consent|wall|choices?|settings?|preferences?|notice|check|options|centre|center|banner)?s?"
    r"|(?:we (?:value|respect|care about)|manage|your) (?:your )?(?:privacy|cookies?|consent|data)(?: choices| settings| matters| options)?"
    r"|before you continue(?: to .{1,40})?|consent(?: required| needed| management)?|(?:accept|allow) (?:all )?cookies?(?: to continue)?"
    r"|(?:datenschutz|cookie|privatsphäre|privatsphären|einwilligungs)-?(?:einstellungen|hinweis|zustimmung|auswahl|einwilligung)?|zustimmung(?: erforderlich)?"
    r"|einwilligung|wir (?:schätzen|respektieren) ihre (?:privatsphäre|daten)|bevor (?:sie|du) (?:zu .{1,40} )?(?:fortfahren|weitergehen|weitergehst|fortfährst)"
    r"|avant de (?:continuer|poursuivre)(?: .{1,40})?|(?:vos|votre) (?:choix|vie privée|confidentialité|données)(?: .{1,40})?"
    r"|antes de (?:continuar|ir)(?: .{1,40})?|tu privacidad(?: .{1,40})?|prima di continuare(?: .{1,40})?|la tua privacy(?: .{1,40})?"
    r"|voordat je (?:verder|doorgaat).{0,40}|(?:jouw|uw) privacy(?: .{1,40})?|cookie ?(?:muur|wall|keuze)|(?:dpg media )?privacy (?:gate|wall))[.…!?\s]*",
    re.IGNORECASE,
)
"""Titles of pages that only ask for consent; a policy about cookies has another one, or much more text."""
POLICY = re.compile(
    r"polic|richtlinie|politique|politica|política|erklärung|erklaerung|beleid|statement|notice|legal|impressum|imprint|terms|agb"
    r"|datenschutz|mentions|protecci|faq|help|hilfe",
    re.IGNORECASE,
)
CONSENT_WORD = re.compile(
    r"\b(?:cookies?|consent\w*|partners?|partnern?|partenaires|vendors?|personal(?:ised|ized)?|personenbezogen\w*|personnalis\w+|personaliz\w+"
    r"|privacy|privatsphäre|confidentialité|privacidad|data|daten|données|datos|dati|gegevens|tracking|legitimate|interests?|iab|tcf|gdpr|rgpd|dsgvo"
    r"|accept\w*|akzeptier\w*|accepter|aceptar|accett\w+|accepteren|reject\w*|ablehn\w*|refuser|rechazar|rifiut\w+|weigeren|agree|zustimm\w*|einwillig\w*"
    r"|store|speicher\w*|device|gerät\w*|purposes?|zwecke\w*|ads?|advertising|werbung|anzeigen|publicité\w*|publicidad|pubblicità|preferences|einstellungen"
    r"|manage|verwalten|settings|paramètres|withdraw|widerrufen|choices?)\b",
    re.IGNORECASE,
)
ACCEPT = re.compile(
    r"\W*(?:(?:yes,? )?(?:i )?(?:accept|agree|allow|consent)(?: (?:all|everything|to all))?(?: cookies?)?(?: (?:and|&) (?:continue|close|visit.*|proceed))?"
    r"|got it|(?:alle[sn]? )?(?:cookies )?(?:akzeptieren|zulassen|annehmen|erlauben|zustimmen|einverstanden)(?: (?:und|&) .{1,30})?"
    r"|(?:ich )?(?:stimme zu|bin einverstanden)|(?:tout |j'|j’)?accepter?(?: (?:tout|et .{1,30}|les cookies))?|aceptar(?: (?:todo|todas|y .{1,30}))?"
    r"|accett[ao](?: (?:tutto|tutti|e .{1,30}))?|(?:alles )?accepteren|akkoord(?: .{1,20})?|aceitar(?: .{1,20})?|zaakceptuj(?: .{1,20})?|принять(?: .{1,20})?)\W*",
    re.IGNORECASE,
)
CONSENT_FORM = re.compile(r"consent|privacy-?(?:gate|wall)|cookie-?wall", re.IGNORECASE)
CAPTCHA_FIELD = re.compile(r"captcha|verif|security.?code|answer|solution|challenge|code", re.IGNORECASE)

CHALLENGE_STATUSES = frozenset({401, 403, 405, 406, 409, 418, 456, 493, 498, 503})
"""Error statuses whose bodies are read for marks of a challenge."""
