"""Under which scheme and host a site is known: decided by several pages, and never against what one of them shows."""

from forager.engine.site_origins import SiteEvidence, is_better

HTTP, HTTPS, WWW = "http://a.example", "https://a.example", "https://www.a.example"


def redirects(*pairs: tuple[str, str], paths: int = 2) -> SiteEvidence:
    evidence = SiteEvidence()
    for source, target in pairs:
        for number in range(paths):
            evidence.note_redirect(f"{source}/{number}", f"{target}/{number}")
    return evidence


def test_redirects_of_two_pages_to_an_origin_that_serves_decide() -> None:
    evidence = redirects((HTTP, HTTPS))
    assert evidence.decide() is None, "nothing was read under https yet"
    evidence.note_page(f"{HTTPS}/1")
    assert evidence.decide() == HTTPS


def test_one_redirect_is_not_enough() -> None:
    evidence = redirects((HTTP, HTTPS), paths=1)
    evidence.note_redirect(f"{HTTP}/0", f"{HTTPS}/0")
    evidence.note_page(f"{HTTPS}/1")
    assert evidence.decide() is None


def test_a_page_that_is_served_where_others_redirect_speaks_against_it() -> None:
    evidence = redirects((HTTP, HTTPS))
    evidence.note_page(f"{HTTPS}/1")
    evidence.note_page(f"{HTTP}/login")
    assert evidence.decide() is None


def test_redirects_in_both_directions_decide_nothing() -> None:
    evidence = redirects((HTTP, HTTPS), (HTTPS, HTTP))
    evidence.note_page(f"{HTTPS}/7")
    assert evidence.decide() is None


def test_a_chain_leads_to_its_end() -> None:
    evidence = redirects((HTTP, HTTPS), (HTTPS, WWW))
    evidence.note_page(f"{WWW}/0")
    assert evidence.decide() == WWW


def test_redirects_to_another_path_do_not_count() -> None:
    evidence = SiteEvidence()
    for number in range(9):
        evidence.note_redirect(f"{HTTP}/{number}", f"{HTTPS}/")
        evidence.note_redirect(f"{HTTP}/{number}", f"https://b.example/{number}")
    evidence.note_page(f"{HTTPS}/")
    assert evidence.decide() is None


def test_three_pages_with_the_same_content_decide_unless_one_differs() -> None:
    evidence = SiteEvidence()
    for number in range(3):
        assert evidence.decide() is None
        evidence.note_pair(f"{HTTP}/{number}", f"{HTTPS}/{number}", is_same=True)
    assert evidence.decide() == HTTPS
    evidence.note_pair(f"{HTTP}/news", f"{HTTPS}/news", is_same=False)
    assert evidence.decide() is None


def test_the_better_origin() -> None:
    assert is_better(HTTPS, HTTP, None) is True
    assert is_better(HTTP, HTTPS, None) is False
    assert is_better(WWW, HTTPS, None) is None
    assert is_better(HTTP, HTTPS, HTTP) is True
    assert is_better(WWW, HTTPS, WWW) is True
