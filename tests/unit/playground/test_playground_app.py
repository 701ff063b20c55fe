"""The single-page app: one shell at every address, and data from which its script builds what the key promises."""

import json

from forager_playground import make_answer_key, make_sites


def test_every_recipe_is_the_same_shell_and_its_data_is_its_own() -> None:
    (site,) = make_sites(["app=12"])
    shells = {site.answer(page.path, "").body for page in site.pages() if page.path != "/about"}
    assert len(shells) == 1
    assert b"<a " not in shells.pop()
    for number, page in enumerate(list(site.pages())[:12]):
        recipe = json.loads(site.answer(f"/api/recipes/{number}", "").body)
        assert recipe["title"] == page.title
        assert {href for href, _ in recipe["links"]} < {link.href for link in page.links} or not recipe["links"]
        assert json.loads(site.answer(f"/api/notes/{number}", "").body)


def test_what_is_not_there_is_missing() -> None:
    (site,) = make_sites(["app=3"])
    for path in ("/p/3", "/p/03", "/api/recipes/3", "/api/recipes/", "/api/other/1", "/x"):
        assert site.answer(path, "").status == 404
    assert site.answer("/", "q=1").status == 404
    assert make_sites(["app=3"]) == make_sites(["app=3"])


def test_the_key_reaches_every_page() -> None:
    key = make_answer_key(["app=12"], port=80)
    assert len(key.expected_success()) == 13
    assert None not in {page.depth for page in key.by_url.values()}
