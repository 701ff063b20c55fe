"""All checks of a site report, the worst first. The statement of each has its name."""

from forager.site_audit.models import Check

LINKING = "linked from"
CHECKS: tuple[Check, ...] = (
    Check(
        "broken_links",
        "Broken links",
        "error",
        "Pages link to addresses that answer with an error or not at all: correct the links, or redirect them.",
        LINKING,
    ),
    Check(
        "broken_pages",
        "Errors that no page links to",
        "error",
        "Seeds and addresses of sitemaps that answer with an error or not at all.",
    ),
    Check(
        "redirect_loops",
        "Redirect loops",
        "error",
        "These redirects never reach a page: no visitor and no search engine gets through.",
        "over",
    ),
    Check(
        "wrong_in_sitemap",
        "Sitemap lists what cannot be indexed",
        "error",
        "A sitemap should list final addresses alone: take errors, redirects, forbidden and noindex pages out.",
    ),
    Check(
        "canonical_conflicts",
        "Canonical conflicts",
        "error",
        "The canonical URL should be a page that can be had, may be indexed, and names itself.",
        "names",
    ),
    Check(
        "redirect_chains",
        "Redirect chains",
        "warning",
        "Each redirect costs a request: let the first one lead to the final address.",
        "over",
    ),
    Check(
        "linked_redirects",
        "Links to redirects",
        "warning",
        "Link to where the redirect leads.",
        LINKING,
    ),
    Check(
        "duplicate_titles",
        "Duplicate titles",
        "warning",
        "Several pages have the same title: say in each what it is about, or name one of them as canonical.",
        "also on",
        is_grouped=True,
    ),
    Check(
        "missing_titles",
        "Missing titles",
        "warning",
        "Search results and bookmarks show the title.",
    ),
    Check(
        "noindex_from_home",
        "Noindex on pages that the home page links to",
        "warning",
        "What is prominent is usually meant to be found: look whether noindex is intended.",
        LINKING,
    ),
    Check(
        "linked_forbidden",
        "Links to pages that robots.txt forbids",
        "warning",
        "Search engines may list such an address without having read it: allow it, or do not link to it.",
        LINKING,
    ),
    Check(
        "orphans",
        "Orphans: in a sitemap, linked from no page",
        "warning",
        "Visitors do not find them, and search engines give them little weight: link to them.",
    ),
    Check(
        "near_duplicates",
        "Nearly the same text",
        "warning",
        "Merge such pages, or name one of them as canonical.",
        "also on",
        is_grouped=True,
    ),
    Check(
        "insecure_links",
        "http links on https pages",
        "warning",
        "Link to the https address: a request by http can be read and changed on its way.",
        LINKING,
    ),
    Check(
        "slow_pages",
        "Slow pages",
        "warning",
        "The server took longer than a second to answer at the newest visit.",
        limit="response_ms",
    ),
    Check(
        "heavy_pages",
        "Heavy pages",
        "warning",
        "The page alone, without images and scripts, is larger than a megabyte.",
        limit="bytes",
    ),
    Check(
        "missing_descriptions",
        "Missing descriptions",
        "notice",
        "Search results show the description; without one they show some sentence of the page.",
    ),
    Check(
        "duplicate_descriptions",
        "Duplicate descriptions",
        "notice",
        "Several pages have the same description: say in each what it offers.",
        "also on",
        is_grouped=True,
    ),
    Check(
        "long_titles",
        "Long titles",
        "notice",
        "Search results cut titles of more than about 60 characters.",
        limit="title_characters",
    ),
    Check(
        "not_in_sitemap",
        "Pages that no sitemap lists",
        "notice",
        "A sitemap tells search engines of all pages that may be indexed.",
    ),
    Check(
        "missing_languages",
        "Unknown language",
        "notice",
        "Neither the page says its language nor its text shows it: declare it with `<html lang>`.",
    ),
    Check(
        "deep_pages",
        "Deep pages",
        "notice",
        "More than four links away from the start: visitors and search engines come rarely that far.",
        limit="depth",
    ),
)
BY_NAME = {check.name: check for check in CHECKS}
COMPARED = {
    "broken": "pages with errors",
    "redirects": "redirects",
    "forbidden": "pages that robots.txt forbids",
    "slow": "slow pages",
    "heavy": "heavy pages",
}
"""What the history of visits can compare."""
NOT_COMPARABLE = (
    "Titles, descriptions, canonical URLs, languages and noindex: of these only the newest is kept.",
    "Links and sitemaps: of a page only its newest links are kept, so a broken link is new when its target broke.",
    "Visits that left for the archive are not read.",
)
