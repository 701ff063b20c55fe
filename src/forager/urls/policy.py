"""Defines which URLs are equal beyond the WHATWG standard. Data only: `normalize` applies it. A domain may have its own
policy: `rules.py`.

Keys of stored pages depend on it, so any change that alters a result must raise `version`.
"""

import fnmatch
import re
from dataclasses import dataclass, field
from functools import lru_cache

TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_")
"""Campaign tags of Google Analytics, HubSpot and Matomo: each family shares one prefix."""

TRACKING_NAMES = frozenset(
    {
        # These two name the referrer of a visit.
        "ref", "source",
        # click ids of advertising networks
        "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid",
        "fbclid", "msclkid", "twclid", "ttclid", "li_fat_id", "igshid", "igsh", "epik", "rdt_cid", "scclid",
        "yclid", "ysclid", "ymclid", "irclickid", "cjevent", "zanpid", "rb_clickid", "wickedid",
        # analytics carried from page to page
        "_ga", "_gl", "_openstat", "_branch_match_id", "ref_src", "ref_url",
        "pk_campaign", "pk_kwd", "pk_source", "pk_medium", "pk_content", "pk_cid", "piwik_campaign", "piwik_kwd",
        # newsletters and marketing mail
        "mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
        "vero_id", "vero_conv", "oly_anon_id", "oly_enc_id", "ml_subscriber", "ml_subscriber_hash",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """One set of normalisation options. Parameter names are compared in lower case."""

    version: int = 2
    tracking_names: frozenset[str] = TRACKING_NAMES
    tracking_prefixes: tuple[str, ...] = TRACKING_PREFIXES
    sort_query: bool = True
    strip_trailing_slash: bool = False
    """Off: `/shop` and `/shop/` are two pages on many servers, and relative links differ between them."""
    strip_params: tuple[str, ...] = ()
    """Globs of further parameters that are removed."""
    keep_params: tuple[str, ...] = ()
    """Globs of parameters that are kept, whatever else says that they are removed."""
    strip_session_ids: bool = True
    """Whether selecting links removes session ids (`links/traps.py`)."""
    max_bytes: int = 4096
    """Longer URLs are rejected, both as written and as normalised."""
    has_globs: bool = field(init=False, repr=False, compare=False, default=False)
    """Whether there are globs to match: most policies have none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_globs", bool(self.strip_params or self.keep_params))

    def tracks(self, name: str) -> bool:
        """Returns whether a parameter is removed."""
        lowered = name.lower()
        if self.has_globs:
            if self.keep_params and _compile(self.keep_params).match(lowered):
                return False
            if self.strip_params and _compile(self.strip_params).match(lowered):
                return True
        return lowered in self.tracking_names or lowered.startswith(self.tracking_prefixes)


@lru_cache(maxsize=4096)
def _compile(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Compiles globs of parameter names. Brackets have no special meaning: they are part of names (`f[]`), which are
    escaped in a normalised URL."""
    return re.compile("|".join(fnmatch.translate(_escape(glob.lower())) for glob in globs))


def _escape(glob: str) -> str:
    return glob.replace("[", "%5b").replace("]", "%5d")


DEFAULT_POLICY = UrlPolicy()
AS_WRITTEN = UrlPolicy(sort_query=False, tracking_names=frozenset(), tracking_prefixes=(), strip_session_ids=False)
"""Only what the standard says, and escapes."""
