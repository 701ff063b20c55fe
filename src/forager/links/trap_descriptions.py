"""Descriptions of the trap rules. Plain data."""

TRAP_WORDS = {
    "session_id": "a session id in the address",
    "too_long": "a very long address",
    "too_deep_path": "too many folders",
    "repeating_path": "the same folder again and again",
    "growing_query": "a query that grows",
    "calendar": "a calendar without end",
    "template_budget": "as many pages of one template as may be taken",
    "nothing_new": "pages that bring nothing new",
    "subdomains": "too many sub-domains",
}
