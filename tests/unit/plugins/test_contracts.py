"""`forager init extractor` and `forager test`: a plug-in, its fixtures, and what differs."""

import json
from pathlib import Path

import pytest

from forager.cli.main import run

Captured = pytest.CaptureFixture[str]


def test_a_new_extractor_keeps_its_contract_until_it_changes(tmp_path: Path, capsys: Captured) -> None:
    assert run(["init", "extractor", "offers", "--to", str(tmp_path)]) == 0
    assert run(["test", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "ok       offers/items\n"

    expected = tmp_path / "fixtures/offers/items.json"
    expected.write_text(expected.read_text().replace("29.00", "30.00"))
    assert run(["test", str(tmp_path / "offers.py")]) == 1
    out = capsys.readouterr().out
    assert '-        "price": "30.00 EUR"' in out
    assert '+        "price": "29.00 EUR"' in out

    assert run(["test", str(tmp_path), "--update"]) == 0
    assert capsys.readouterr().out == "updated  offers/items\n"
    assert run(["test", str(tmp_path), "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["passed"]
    assert run(["init", "extractor", "offers", "--to", str(tmp_path)]) == 2


def test_an_extractor_file_has_contracts_too(tmp_path: Path, capsys: Captured) -> None:
    assert run(["init", "extractor", "offers", "--toml", "--to", str(tmp_path)]) == 0
    assert run(["test", str(tmp_path)]) == 0
    file = tmp_path / "offers.toml"
    file.write_text(file.read_text().replace('css = ".name"', 'css = ".title"'))
    assert run(["test", str(file)]) == 1
    assert '-        "name": "Kettle",' in capsys.readouterr().out
    file.write_text("[match")
    assert run(["test", str(file)]) == 1
    assert "offers.toml" in capsys.readouterr().out
    assert run(["init", "extractor", "Offers", "--toml", "--to", str(tmp_path)]) == 2


def test_products_are_part_of_a_contract(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "shop.py").write_text(
        "import forager\n@forager.hookimpl\ndef find_product(page):\n"
        "    return {'name': page.title, 'price': '12.50', 'currency': 'EUR'}\n"
    )
    fixtures = tmp_path / "fixtures/shop"
    fixtures.mkdir(parents=True)
    (fixtures / "kettle.html").write_text("<title>Kettle</title><p>A kettle.")
    (fixtures / "kettle.json").write_text('{"url": "https://shop.example/kettle"}')
    assert run(["test", str(tmp_path)]) == 1
    assert run(["test", str(tmp_path), "--update"]) == 0
    found = json.loads((fixtures / "kettle.json").read_text())
    assert found["product"] == {"name": "Kettle", "price": "12.50", "currency": "EUR"}
    assert run(["test", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("text", "expected", "sentence"),
    [
        ("x = 1", '{"url": "https://a.example/"}', "implements no hook"),
        ("def (", '{"url": "https://a.example/"}', "SyntaxError"),
        ("import forager\n@forager.hookimpl\ndef extract_records(page): 1/0", '{"url": "https://a.example/"}', "Zero"),
        ("import forager\n@forager.hookimpl\ndef extract_records(page): ...", "{}", "needs a `url`"),
        ("import forager\n@forager.hookimpl\ndef extract_records(page): ...", "{", "is not JSON"),
        ("import forager\n@forager.hookimpl\ndef extract_records(page): ...", '{"url": "x:"}', "not"),
    ],
)
def test_what_cannot_be_tested_says_why(
    text: str, expected: str, sentence: str, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "shop.py").write_text(text)
    (tmp_path / "fixtures/shop").mkdir(parents=True)
    (tmp_path / "fixtures/shop/p.html").write_text("<p>x")
    (tmp_path / "fixtures/shop/p.json").write_text(expected)
    assert run(["test", str(tmp_path)]) == 1
    assert sentence in capsys.readouterr().out


def test_no_contract_is_an_error(tmp_path: Path, capsys: Captured) -> None:
    assert run(["test", str(tmp_path)]) == 3
    assert run(["test", str(tmp_path / "none")]) == 3
    assert run(["init", "extractor", "../x", "--to", str(tmp_path)]) == 2
    assert "forager init extractor NAME" in capsys.readouterr().err


def test_a_command_of_a_plugin_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path))
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/shop.py").write_text(
        "import forager\n@forager.hookimpl\ndef register_commands(app):\n"
        "    @app.command()\n    def greet(name: str = 'you'):\n        'Say hello.'\n        print('hello', name)\n"
        "    @app.command('fail')\n    def fail():\n        1 / 0\n"
        "    @app.command('crawl')\n    def crawl():\n        print('mine')\n"
    )
    (tmp_path / "plugins/broken.py").write_text("1 / 0  # register_commands")
    assert run(["greet", "--name", "Ann"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "hello Ann\n"
    assert "The plug-in broken adds no commands: ZeroDivisionError" in captured.err
    assert run(["fail"]) == 1
    assert "the plug-in shop failed: ZeroDivisionError" in capsys.readouterr().err
    assert run(["--help"]) == 0
    assert "Say hello." in capsys.readouterr().out
    assert run(["greeet"]) == 2
    assert run(["crawl", "--help"]) == 0
    assert "mine" not in capsys.readouterr().out
