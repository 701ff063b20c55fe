"""What the fuzzer attacks: everything that reads bytes of strangers. Each target says what must hold for any input.

Where there is a simple oracle (a brute-force matcher, the standard library, the slow
way beside the fast one) the target is a disagreement between the two; else it is a crash, a hang or unclean output.
"""

from tests.fuzz import addresses, answers, lists, pages, robots, urls
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    "urls": urls.spellings_are_one,
    "links": urls.fast_and_slow_links_agree,
    "hosts": addresses.hosts_are_what_the_system_says,
    "robots": robots.verdicts_are_those_of_brute_force,
    "robots_bytes": robots.any_bytes_are_a_file,
    "answers": answers.a_right_answer_is_read_exactly,
    "damaged_answers": answers.a_damaged_answer_is_an_answer_or_an_error,
    "codings": answers.codings_are_undone,
    "cookies": answers.cookies_stay_small_and_sendable,
    "retry_after": answers.waits_are_sane,
    "charsets": pages.text_survives_its_charset,
    "charset_bytes": pages.any_bytes_become_utf8,
    "html": pages.any_markup_is_read,
    "html_c": pages.c_and_python_read_the_same,
    "html_oracle": pages.links_are_those_of_the_standard_library,
    "sitemaps": lists.a_sitemap_is_read_back,
    "sitemap_bytes": lists.any_bytes_are_a_sitemap,
    "seeds": lists.any_bytes_are_a_list,
}
