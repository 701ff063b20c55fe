"""What the crawl settings of a leased domain mean for its requests."""

from forager import clock
from forager.domains.access import read_access, read_login, read_robots_agent
from forager.domains.sessions import DomainSession
from forager.engine.login_state import LoginState
from forager.fetch.access import SiteAccess
from forager.frontier.models import Lease


def access_of(lease: Lease, session: DomainSession) -> SiteAccess:
    """Returns what the requests of a domain carry."""
    return read_access(lease.settings, serves_https=session.serves_https)


def login_state_of(lease: Lease, session: DomainSession) -> LoginState | None:
    """Returns the state of the domain's login; None: it has none."""
    config = read_login(lease.settings)
    if config is None or lease.images_only:
        return None
    return LoginState(config, is_logged_in=session.is_live(config, clock.now()))


def robots_agent_of(lease: Lease, agent: str) -> str:
    """Returns the name that robots.txt of the domain is matched with."""
    return read_robots_agent(lease.settings.user_agent, agent)
