"""Two versions are compared in bounds, and what is shown leads from one to the other."""

import random
import time

from forager.captures.diff import MOST_EDITS, compare, lines_of, unified


def test_what_is_found_turns_one_into_the_other() -> None:
    rng = random.Random(24)
    for _ in range(2000):
        old, new = ([rng.choice("abcd") for _ in range(rng.randrange(15))] for _ in range(2))
        opcodes, is_rough = compare(old, new)
        assert not is_rough
        built: list[str] = []
        at = 0
        for tag, i, j, k, m in opcodes:
            assert i == at
            at = j
            assert tag != "equal" or old[i:j] == new[k:m]
            built += new[k:m]
        assert at == len(old)
        assert built == new


def test_it_reads_as_diff_u() -> None:
    old, new = [str(n) for n in range(20)], [str(n) for n in range(20) if n != 3] + ["20"]
    found = unified(old, new, "old", "new")
    assert found.text.splitlines()[:3] == ["--- old", "+++ new", "@@ -1,7 +1,6 @@"]
    assert "-3\n" in found.text
    assert found.text.endswith("+20\n")
    assert (found.added, found.removed, found.is_rough, found.is_truncated) == (1, 1, False, False)
    assert unified(old, old, "old", "new").text == ""


def test_texts_with_nothing_in_common_cost_little_and_are_shown_as_replaced() -> None:
    old, new = ([f"{side}{n}" for n in range(30_000)] for side in "ab")
    started = time.process_time()
    found = unified(old, new, "old", "new")
    assert time.process_time() - started < 30
    assert found.is_rough
    assert found.is_truncated
    assert (found.added, found.removed) == (30_000, 30_000)
    assert MOST_EDITS < 2000


def test_a_page_in_one_line_has_one_per_tag() -> None:
    assert lines_of("<p>a</p><p>b</p>\nc") == ["<p>a</p>", "<p>b</p>", "c"]
