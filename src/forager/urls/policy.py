"""Defines which URLs are equal beyond the WHATWG standard. Data only: `normalize` applies it.

Keys of stored pages depend on it, so any change that alters a result must raise `version`.
"""

from dataclasses import dataclass

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

    version: int = 1
    tracking_names: frozenset[str] = TRACKING_NAMES
    tracking_prefixes: tuple[str, ...] = TRACKING_PREFIXES
    sort_query: bool = True
    strip_trailing_slash: bool = False
    """Off: `/shop` and `/shop/` are two pages on many servers, and relative links differ between them."""
    max_bytes: int = 4096
    """Longer URLs are rejected, both as written and as normalised."""

    def tracks(self, name: str) -> bool:
        lowered = name.lower()
        return lowered in self.tracking_names or lowered.startswith(self.tracking_prefixes)


DEFAULT_POLICY = UrlPolicy()
