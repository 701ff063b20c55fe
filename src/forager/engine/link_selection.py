"""Selects the links that a response leads to: those of a page, or the target of a redirect. Anything else is an
error."""

import asyncio
from dataclasses import replace

from forager import clock
from forager.engine.retry_policy import detect_login
from forager.errors import (
    BadResponseError,
    CaptchaError,
    ChallengeError,
    ConsentWallError,
    StatusError,
    TooManyRedirectsError,
)
from forager.fetch.models import Fetched
from forager.fetch.retry_after import parse_retry_after
from forager.frontier.models import DomainFailure, Target
from forager.images.models import ImagePolicy
from forager.links.images import get_redirect_image
from forager.links.models import Discovery, Selection
from forager.links.select import Selector, add_up
from forager.parsing.challenge import CAPTCHA, CONSENT_WALL, find_refusal_challenge
from forager.parsing.link_columns import LinkColumns
from forager.parsing.login import redirects_to_login
from forager.parsing.models import Reading
from forager.plugins.rewriting import drop_reason_in
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key

Selected = tuple[Selection, DomainFailure | None]
FEED_FILE, SITEMAP_FILE = "feed_file", "sitemap_file"
CHUNK = 1000
"""Links of a sitemap that are selected before other work of the event loop has its turn: about 10 ms."""


def select(
    target: Target,
    fetched: Fetched,
    reading: Reading | None,
    selector: Selector,
    *,
    images: str,
    max_redirects: int,
    keeps_external: bool = False,
    feeds: bool = False,
) -> Selected:
    """Returns the selected links; raises a VisitError if the response is neither a page nor a redirect. With `feeds`,
    feeds that the page announces are followed."""
    status = fetched.status_code
    if status == 304 and target.past is not None and (target.past.etag or target.past.last_modified):
        return Selection(), None
    if 300 <= status < 400 and status != 304:
        return follow(target, fetched, selector, max_redirects)
    if status < 200 or status == 206 or 300 <= status < 400 or status >= 600:  # we send no range requests
        raise BadResponseError(f"the server answered {status}, which is no answer to our request")
    if status >= 400:
        raise _error_of(fetched)
    if reading is None or target.is_sitemap:
        return Selection(), None
    if reading.challenge is not None:
        raise challenge_error(status, reading.challenge)
    reading, files = _split_files(reading, target, selector, follows=feeds)
    selection = _join(selector.select(reading, target, keeps_external=keeps_external), files)
    if images != ImagePolicy.NONE and (reading.images or target.past is not None):
        shown, wants_files = selector.see(reading, target), images == ImagePolicy.DOWNLOAD
        selection = replace(selection, images=shown, wants_files=wants_files)
    return selection, detect_login(target, status, reading)


def _error_of(fetched: Fetched) -> StatusError | ChallengeError:
    """Returns the error of a refusal. One that names a time to wait is what it says, whoever sent it."""
    refusal = StatusError(fetched.status_code, parse_retry_after(fetched.headers.get("retry-after", ""), clock.now()))
    reason = None if refusal.should_back_off else find_refusal_challenge(fetched.headers, fetched.body)
    return challenge_error(fetched.status_code, reason) if reason else refusal


def challenge_error(status_code: int, reason: str) -> ChallengeError:
    kinds = {CAPTCHA: CaptchaError, CONSENT_WALL: ConsentWallError}
    return kinds.get(reason, ChallengeError)(reason, status_code)


def follow(target: Target, fetched: Fetched, selector: Selector, max_redirects: int) -> Selected:
    """Treats a redirect as a link, so its target passes the same checks as any page; only the chain length is
    limited."""
    location = fetched.headers.get("location")
    if not location:
        raise BadResponseError(f"the server answered {fetched.status_code} without saying where to go")
    if target.redirects >= max_redirects:
        raise TooManyRedirectsError(f"more than {max_redirects} redirects in a row")
    url = selector.resolve_redirect(target, location)
    if url is None:
        raise BadResponseError(f"the server answered {fetched.status_code} and leads to no page of the web")
    if reason := drop_reason_in(url):
        return Selection(dropped={reason: 1}), None
    if url == target.url:
        raise TooManyRedirectsError("it redirects to itself", has_new_cookie=fetched.has_new_cookie)
    if target.is_image:
        return Selection(images=get_redirect_image(url), wants_files=True), None
    if target.is_sitemap:
        hop = target.redirects + 1
        file = Discovery(url, url_key(url), domain_of(url), 0, hop, "", "redirect")
        return Selection(files=(file,)), None
    is_wall = redirects_to_login(target.url, url)
    return selector.redirect(target, location), DomainFailure.LOGIN_REQUIRED if is_wall else None


async def select_listed(
    target: Target, reading: Reading, selector: Selector, *, images: str, sitemaps: bool
) -> Selection:
    """Returns the links of a sitemap or feed, selected in chunks, so that 50,000 of them do not keep the event loop
    from other work. With `sitemaps`, sitemaps that an index lists are followed."""
    if reading.is_nofollow:
        return selector.select(reading, target)
    reading, files = _split_files(reading, target, selector, rel=SITEMAP_FILE, follows=sitemaps)
    columns = LinkColumns.of(reading.links).columns
    found: dict[bytes, Discovery] = {}
    drops: list[dict[str, int]] = []
    for start in range(0, len(reading.links), CHUNK):
        part = LinkColumns(*(column[start : start + CHUNK] for column in columns))
        selected = selector.select(replace(reading, links=part), target)
        before = len(found)
        for link in selected.links:
            found.setdefault(link.key, link)
        twice = len(selected.links) - (len(found) - before)
        drops += [dict(selected.dropped), {"duplicate": twice} if twice else {}]
        await asyncio.sleep(0)
    selection = _join(Selection(list(found.values()), add_up(drops)), files)
    if images != ImagePolicy.NONE and (reading.images or target.past is not None):
        shown, wants_files = selector.see(reading, target), images == ImagePolicy.DOWNLOAD
        selection = replace(selection, images=shown, wants_files=wants_files)
    return selection


def _split_files(
    reading: Reading, target: Target, selector: Selector, *, follows: bool, rel: str = FEED_FILE
) -> tuple[Reading, Selection]:
    """Returns the reading without links to sitemaps and feeds, and those of them that are followed."""
    columns = LinkColumns.of(reading.links)
    if rel not in columns.rels:
        return reading, Selection()
    files = [link for link in columns if link.rel == rel]
    others = LinkColumns.of([link for link in columns if link.rel != rel])
    reading = replace(reading, links=others)
    if not follows or reading.is_nofollow:
        return reading, Selection(dropped={"nofollow" if follows else "switched_off": len(files)})
    return reading, selector.select_files(files, reading.base_url, target)


def _join(selection: Selection, files: Selection) -> Selection:
    if not files.files and not files.dropped:
        return selection
    return replace(selection, dropped=add_up([selection.dropped, files.dropped]), files=files.files)
