"""Words that identify login pages in URLs and titles, in the languages of most sites. Data only.

Words of URLs are whole path segments, or file names without their extension, in lower case with hyphens.
"""

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOGIN = _words("""
    login log-in logon log-on signin sign-in wp-login userlogin user-login userlogon member-login memberlogin
    special:userlogin loginform login-form login-required loginpage login-page authenticate
    anmelden einloggen connexion se-connecter seconnecter iniciar-sesion inicio-sesion iniciar-sessao
    iniciarsesion ingresar acceder accedi accesso inloggen zaloguj zaloguj-sie logowanie entrar
    logga-in loggain log-ind logg-inn kirjaudu kirjautuminen giris giris-yap prihlaseni prihlasenie prihlasit
    bejelentkezes autentificare vhod dang-nhap masuk вход войти вхід логин 登录 登入 登錄 ログイン 로그인
""")
"""Anywhere in a path."""

GATE = _words("sso saml saml2 simplesaml idp cas shibboleth.sso adfs oauth oauth2 openid")
"""Only at the beginning of a path: later segments name the subject of a page."""

LOGIN_PATH = re.compile(
    r"/openid-connect/auth$|/oauth2?(?:/v\d[.\d]*)?/auth(?:orize)?$|/connect/authorize$|/adfs/ls$|/sessions?/new$"
)
LOGIN_LABELS = _words("login signin sign-in logon accounts sso auth idp cas saml adfs oauth passport")
"""First labels of hosts that serve only logins."""

LOGIN_KEYS = _words("action act do mode view route")
"""Parameters that select the page on sites with a single script."""

RETURN_KEYS = _words("""
    next return returnto return-to returnurl return-url redirect redirectto redirect-to redirecturl redirect-url
    redirect-uri continue destination dest back goto from ref referer service target url wreply
""")
"""Parameters that contain the requested page."""

SILENT = frozenset(
    {("prompt", "none"), ("gateway", "true"), ("gateway", "1"), ("passive", "true"), ("ispassive", "true")}
)
"""Endpoints that only check for a login, and redirect every client back."""

ABOUT = _words("""
    docs doc documentation help support faq faqs kb knowledge-base knowledgebase guide guides manual reference
    wiki blog blogs news article articles post posts story stories press learn tutorial tutorials questions q
    tag tags tagged topic topics category categories search dictionary glossary package packages project projects
    download downloads templates features product products
""")
"""A segment after one of these names an article about logging in."""

NOT_LOGIN = _words("""
    register registration signup sign-up join create-account createaccount new-account create-user
    registrieren registrierung konto-erstellen inscription inscription-gratuite creer-un-compte registro registrarse
    crear-cuenta registrati registrazione cadastro criar-conta registreren rejestracja
    password passwords forgot forgot-password forgotpassword lost-password lostpassword reset reset-password
    resetpassword password-reset passwordreset change-password changepassword recover recovery
    passwort-vergessen mot-de-passe-oublie wachtwoord-vergeten olvide-contrasena recuperar-contrasena
    logout log-out signout sign-out logoff abmelden deconnexion
""")
"""Pages with a password field that never replace another page."""

PRIVATE = NOT_LOGIN | _words("""
    account accounts my-account myaccount my profile settings preferences dashboard admin wp-admin administrator
    edit new add delete create compose submit upload post-comment comment reply vote like follow unfollow subscribe
    unsubscribe report share bookmark bookmarks favorite favorites favourites wishlist wish-list watchlist
    cart basket checkout order orders buy message messages inbox notifications invite
    konto mein-konto merkliste warenkorb kasse mon-compte panier mi-cuenta carrito
""")
"""Pages that need a login on otherwise public sites."""

PAGE_EXTENSIONS = _words("php php3 html htm xhtml shtml asp aspx jsp jspx jsf faces do action cgi pl cfm")

_LOG_IN = (
    r"log[ -]?in|log[ -]?on|sign[ -]?in|anmelden|anmeldung|einloggen|connexion|se connecter|connectez-vous"
    r"|identifiez-vous|identification|iniciar sesi[oó]n|inicio de sesi[oó]n|iniciar sess[aã]o|inicia sesi[oó]n|ingresar"
    r"|accedi|accesso|inloggen|aanmelden|zaloguj(?: si[eę])?|logowanie|entrar|fazer login|logga in|log ind|logg inn"
    r"|kirjaudu(?: sis[aä][aä]n)?|giri[sş](?: yap)?|p[rř]ihl[aá][sš]en[ií]e?|bejelentkez[eé]s|autentificare|prijava"
    r"|đăng nhập|masuk|вход|войти|войдите|авторизация|вхід|登录|登入|登錄|ログイン|로그인"
)
_WHO = r"(?:member|user|customer|client|staff|student|admin|account|subscriber|web ?mail)s?(?:'s)?"
_WHAT_FOR = r"(?: ?[/&+] ?.{0,30}| (?:to|or|with|required|page|here|in|und|oder|bei|zu|ou|o|à|a)\b.{0,60})?"
_MEMBERS_ONLY = (
    r"(?:members|subscribers|registered users) only"
    r"|(?:log[ -]?in|authentication|authori[sz]ation|subscription|registration) required"
)
_TO_CONTINUE = (
    r"(?:you (?:must|need to) )?(?:be logged in|subscribe|register|join|sign up|create an account)"
    r"(?: now| or (?:log|sign) ?in)? to (?:continue|read|view|access|see|keep reading).{0,40}"
)
WALL_TITLE = re.compile(
    rf"(?:(?:(?:please|you must|you need to|{_WHO}) )?(?:{_LOG_IN}){_WHAT_FOR}|{_MEMBERS_ONLY}|{_TO_CONTINUE})[.!]?",
    re.IGNORECASE,
)
"""One part of a title, as a whole."""

NOT_LOGIN_TITLE = re.compile(
    r"(?:create|open|reset|forgot(?:ten)?|lost|recover|change|choose|set|new)\b.{0,20}\b(?:password|account|profile)\b"
    r"|(?:register|registration|sign[ -]?up|join|protected|geschützt|protégé|registrieren|registrierung|inscription"
    r"|regístrate|registro|registrati|registrazione|cadastr\w+|rejestracja|регистрация)\b"
    r"|(?:konto|passwort|mot de passe|créer un compte|crear (?:una )?cuenta|restablecer|wachtwoord|criar conta)\b"
    r"|注册|註冊|新規登録|会員登録|회원가입",
    re.IGNORECASE,
)
"""Beginnings of one part of a title."""

LOGOUT = _words("""
    logout logoff signout signoff userlogout endsession end-session log-out log-off sign-out sign-off
    abmelden ausloggen deconnexion se-deconnecter cerrar-sesion cerrarsesion terminar-sessao desconectar disconnetti
    uitloggen afmelden wyloguj wyloguj-sie logga-ut loggaut log-ud logg-ut kirjaudu-ulos cikis-yap odhlasit odhlaseni
    kijelentkezes deconectare dang-xuat выход выйти вихід 登出 退出登录 注销 ログアウト 로그아웃
""")
"""What a link that ends a session is named: a segment, or the end of one such as `j_spring_security_logout`."""
LOGOUT_KEYS = LOGIN_KEYS | _words("page p cmd op task func function event title option q-action")
"""Parameters whose value may name the action."""
ADVICE = _words("how to why what when about after the a cannot cant wie warum comment como")
"""Words of a segment that names an article, such as `how-to-logout`."""
