"""What people see who have to log in: a form for name and password, a way to a new password, a way to an account.

Shared by the sites that have one. The form leads nowhere: nothing here takes a POST.
"""

from urllib.parse import parse_qsl, urlencode

from forager_playground.page import Frame, Page, PageBuilder

LOGIN, FORGOT, REGISTER = "/login", "/login/forgot", "/register"


def login_path(wanted: str = "") -> str:
    """Where a page is asked to be shown after the login."""
    return f"{LOGIN}?{urlencode({'next': wanted})}" if wanted else LOGIN


def wanted_by(query: str) -> str:
    """The page a login page leads back to, whether its slashes are escaped or not; empty where it names none."""
    fields = parse_qsl(query)
    return fields[0][1] if len(fields) == 1 and fields[0][0] == "next" else ""


def write_login(frame: Frame, wanted: str = "") -> Page:
    sheet = PageBuilder(frame, "Log in")
    sheet.add_text("Please log in to go on.")
    sheet.add(
        f'<form method="post" action="{LOGIN}"><input type="hidden" name="next" value="{wanted}">'
        '<label>E-mail <input type="email" name="user" autocomplete="username" required></label>'
        '<label>Password <input type="password" name="password" autocomplete="current-password" required></label>'
        '<label><input type="checkbox" name="keep"> Keep me logged in</label><button>Log in</button></form>'
    )
    sheet.add_links([(FORGOT, "Forgot your password?"), (REGISTER, "Create an account")])
    return sheet.finish()


def write_password_reset(frame: Frame) -> Page:
    sheet = PageBuilder(frame, "Forgot your password?")
    sheet.add_text("We send you a letter with a link.")
    sheet.add(f'<form method="post" action="{FORGOT}"><input type="email" name="user"><button>Send</button></form>')
    return sheet.finish()


def write_register(frame: Frame) -> Page:
    sheet = PageBuilder(frame, "Create an account")
    sheet.add(
        f'<form method="post" action="{REGISTER}"><input type="email" name="user" autocomplete="username">'
        '<input type="password" name="password" autocomplete="new-password">'
        '<input type="password" name="again" autocomplete="new-password"><button>Create</button></form>'
    )
    return sheet.finish()
