"""Selects the links that a response leads to: those of a page, or the target of a redirect. Anything else is an
error."""

from dataclasses import replace

from forager import clock
from forager.engine.retry_policy import detect_login
from forager.errors import BadResponseError, StatusError, TooManyRedirectsError
from forager.fetch.models import Fetched
from forager.fetch.retry_after import parse_retry_after
from forager.frontier.models import DomainFailure, Target
from forager.images.models import ImagePolicy
from forager.links.images import get_redirect_image
from forager.links.models import Selection
from forager.links.select import Selector
from forager.parsing.login import redirects_to_login
from forager.parsing.models import Reading
from forager.urls.resolve import resolve_links

Selected = tuple[Selection, DomainFailure | None]


def select(
    target: Target, fetched: Fetched, reading: Reading | None, selector: Selector, *, images: str, max_redirects: int
) -> Selected:
    """Returns the selected links; raises a VisitError if the response is neither a page nor a redirect."""
    status = fetched.status_code
    if status == 304 and target.past is not None and (target.past.etag or target.past.last_modified):
        return Selection(), None
    if 300 <= status < 400 and status != 304:
        return follow(target, fetched, selector, max_redirects)
    if status < 200 or status == 206 or 300 <= status < 400 or status >= 600:  # we send no range requests
        raise BadResponseError(f"the server answered {status}, which is no answer to our request")
    if status >= 400:
        raise StatusError(status, parse_retry_after(fetched.headers.get("retry-after", ""), clock.now()))
    if reading is None:
        return Selection(), None
    selection = selector.select(reading, target)
    if images != ImagePolicy.NONE and (reading.images or target.past is not None):
        shown, wants_files = selector.see(reading, target), images == ImagePolicy.DOWNLOAD
        selection = replace(selection, images=shown, wants_files=wants_files)
    return selection, detect_login(target, status, reading)


def follow(target: Target, fetched: Fetched, selector: Selector, max_redirects: int) -> Selected:
    """Treats a redirect as a link, so its target passes the same checks as any page; only the chain length is
    limited."""
    location = fetched.headers.get("location")
    if not location:
        raise BadResponseError(f"the server answered {fetched.status_code} without saying where to go")
    if target.redirects >= max_redirects:
        raise TooManyRedirectsError(f"more than {max_redirects} redirects in a row")
    url = resolve_links(target.url, [location])[0]
    if url is None:
        raise BadResponseError(f"the server answered {fetched.status_code} and leads to no page of the web")
    if url == target.url:
        raise TooManyRedirectsError("it redirects to itself", has_new_cookie=fetched.has_new_cookie)
    if target.is_image:
        return Selection(images=get_redirect_image(url), wants_files=True), None
    is_wall = redirects_to_login(target.url, url)
    return selector.redirect(target, location), DomainFailure.LOGIN_REQUIRED if is_wall else None
