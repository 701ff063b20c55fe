"""Converts the images of a page to sightings: resolved, normalised, each once. Pure.

Scope and include patterns apply to pages; an image belongs to the page that shows it, whatever its host. Only the run's
exclude patterns remove images.
"""

from forager.frontier.models import Target
from forager.links.models import Sighting
from forager.links.scope import CrawlScope
from forager.parsing.models import FoundImage, Reading
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key
from forager.urls.resolve import resolve_links


def collect_images(reading: Reading, target: Target, reach: CrawlScope | None = None) -> list[Sighting]:
    """Returns the page's images in document order."""
    found = reading.images
    if not found:
        return []
    seen: dict[str, FoundImage] = {}
    for image, url in zip(found, resolve_links(reading.base_url, [image.src for image in found]), strict=True):
        if url is not None:
            seen[url] = seen[url].merge_missing(image) if url in seen else image
    seen.pop(target.url, None)
    exclude = reach.exclude if reach is not None else None
    return [
        Sighting(url, url_key(url), domain_of(url), image)
        for url, image in seen.items()
        if exclude is None or not exclude.match(url)
    ]


def get_redirect_image(place: str) -> list[Sighting]:
    """Returns the target of an image URL's redirect as a sighting."""
    return [Sighting(place, url_key(place), domain_of(place), FoundImage(place, "redirect", "gallery", ""))]
