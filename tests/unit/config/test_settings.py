"""Settings: file, environment, flags; an unknown name or a bad value is an error of one sentence."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.backup.service import as_toml
from forager.config.commands import describe
from forager.config.home import default_home
from forager.config.loader import ignored_file, load, source_of, to_environment, to_toml, variable_of
from forager.config.settings import FIELDS, SECTIONS, Settings, write_value
from forager.errors import ConfigurationError


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No forager.toml of a developer's machine takes part."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def write(text: str, folder: Path | None = None) -> Path:
    path = (folder or default_home()) / "forager.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def some(**values: Any) -> Settings:
    return Settings.of(**values)


def complaint(environ: dict[str, str] | None = None, **flags: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(flags, environ or {})
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# Where values come from ---------------------------------------------------------------------------------------------


def test_the_environment_wins_over_the_file_and_a_flag_over_both() -> None:
    assert load(environ={}).politeness.delay == 1.0
    write("workers = 2\n[politeness]\ndelay = 2\n[crawl]\nmax_depth = 2")
    environ = {"FORAGER_POLITENESS_DELAY": "3", "FORAGER_WORKERS": "3"}
    settings = load({"politeness.delay": 4.0, "crawl.max_depth": None}, environ)
    assert (settings.politeness.delay, settings.workers, settings.crawl.max_depth) == (4.0, 3, 2)


def test_a_file_that_is_named_wins_over_the_one_at_home(tmp_path: Path) -> None:
    at_home = write("workers = 2\n[politeness]\ndelay = '2s'")
    named = write("[politeness]\ndelay = 3", tmp_path / "named")
    environ = {"FORAGER_CONFIG": str(named)}
    settings = load(environ=environ)
    assert (settings.politeness.delay, settings.workers) == (3.0, 2)
    assert source_of("politeness.delay", environ) == str(named)
    assert source_of("workers", environ) == str(at_home)


def test_a_file_that_is_named_may_say_where_home_is(tmp_path: Path) -> None:
    write("workers = 3", tmp_path / "elsewhere")
    named = write(f'home = "{tmp_path / "elsewhere"}"', tmp_path / "named")
    settings = load(environ={"FORAGER_CONFIG": str(named)})
    assert (settings.home, settings.workers) == (tmp_path / "elsewhere", 3)


def test_a_named_file_that_is_missing_is_an_error() -> None:
    assert complaint({"FORAGER_CONFIG": "/nowhere/forager.toml"}).startswith("There is no settings file /nowhere/")


def test_the_file_of_the_working_folder_is_not_read(tmp_path: Path) -> None:
    """It can be anybody's, and `browser.executable` is a program that is run."""
    here = write('[browser]\nexecutable = "/tmp/evil"\n[fetch]\nallow_networks = ["0.0.0.0/0"]', Path.cwd())
    settings = load(environ={})
    assert (settings.browser.executable, settings.fetch.allow_networks) == (None, ())
    assert source_of("browser.executable", {}) == "default"
    assert ignored_file(settings.home, {}) == here
    assert ignored_file(settings.home, {"FORAGER_CONFIG": str(here)}) is None
    assert ignored_file(Path.cwd(), {}) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused() -> None:
    path = write("politeness.delay = 2")
    os.chown(path, 65534, 65534)
    assert "belongs to another user, or everybody may write it" in complaint()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_settings_of_the_account_that_owns_the_folder_are_shown_to_root() -> None:
    path = write("politeness.delay = 2")
    os.chown(path, 65534, 65534)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        load(environ={}, is_only_shown=True)
    os.chown(path.parent, 65534, 65534)
    assert load(environ={}, is_only_shown=True).politeness.delay == 2
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        load(environ={})


def test_a_file_that_everybody_may_write_is_refused() -> None:
    write("politeness.delay = 2").chmod(0o666)
    assert "belongs to another user, or everybody may write it" in complaint()


def test_the_source_of_a_value_is_told() -> None:
    assert source_of("politeness.delay", {}) == "default"
    assert source_of("politeness.delay", {"FORAGER_POLITENESS_DELAY": ""}) == "default"
    assert source_of("politeness.delay", {"FORAGER_POLITENESS_DELAY": "2"}) == "FORAGER_POLITENESS_DELAY"


def test_home_is_found_by_flag_environment_or_default(tmp_path: Path) -> None:
    assert load(environ={}).home == tmp_path / "data/forager"
    assert load(environ={"FORAGER_HOME": "relative"}).home == tmp_path / "work/relative"
    assert load({"home": Path("~/x")}, {"FORAGER_HOME": "relative"}).home == Path.home() / "x"


def test_the_file_is_looked_for_in_the_home_that_was_given(tmp_path: Path) -> None:
    write("workers = 7", tmp_path / "other")
    assert load({"home": tmp_path / "other"}, {}).workers == 7


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert load(environ={"FORAGER_POLITENESS_DELAY": "", "FORAGER_DATABASE_URL": ""}) == load(environ={})


def test_lists_are_written_with_commas_or_as_toml_lists() -> None:
    write('[politeness]\nno_delay_hosts = ["a.example", "10.0.0.0/8"]')
    settings = load(
        environ={"FORAGER_FETCH_ALLOW_NETWORKS": "127.0.0.0/8, ::1 ,", "FORAGER_FETCH_ALLOW_PORTS": "80,8080"}
    )
    assert settings.fetch.allow_networks == ("127.0.0.0/8", "::1")
    assert settings.fetch.allow_ports == (80, 8080)
    assert settings.politeness.no_delay_hosts == ("a.example", "10.0.0.0/8")


def test_variables_of_the_test_suite_are_no_settings() -> None:
    assert load(environ={"FORAGER_REQUIRE_SERVICES": "1", "PATH": "/bin"}) == load(environ={})


# What is refused ----------------------------------------------------------------------------------------------------


def test_an_unknown_variable_gets_a_suggestion() -> None:
    sentence = complaint({"FORAGER_POLITENESS_DELAYS": "1"})
    assert "FORAGER_POLITENESS_DELAYS" in sentence
    assert "Did you mean 'politeness.delay'?" in sentence


def test_an_unknown_name_in_a_file_names_the_file() -> None:
    path = write("[crawl]\nmax_dept = 3")
    sentence = complaint()
    assert str(path) in sentence
    assert "'crawl.max_dept'" in sentence
    assert "Did you mean 'crawl.max_depth'?" in sentence


def test_a_name_like_no_other_gets_a_way_out() -> None:
    assert "`forager settings --all` lists them all" in complaint({"FORAGER_QQQQQQQ": "1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("politeness.delay", "soon"),
        ("politeness.delay", "-1"),
        ("politeness.delay", "nan"),
        ("politeness.delay", "inf"),
        ("worker.lease", "1"),
        ("worker.lease", "inf"),
        ("worker.dead_after", "inf"),
        ("fetch.timeout", "0"),
        ("workers", "0"),
        ("workers", "1.5"),
        ("crawl.max_depth", "1001"),
        ("log.level", "loud"),
        ("politeness.robots_agent", ""),
        ("fetch.allow_networks", "127.0.0.1/8/8"),
        ("fetch.allow_networks", "a.example"),
        ("fetch.allow_ports", "80,http"),
        ("politeness.delay", "1 fortnight"),
        ("fetch.max_page_size", "10 pages"),
        ("fetch.max_page_size", "0MB"),
        ("fetch.max_page_size", "1.5b"),
    ],
)
def test_a_bad_value_names_the_setting_the_value_and_its_source(name: str, value: str) -> None:
    if value:
        sentence = complaint({variable_of(name): value})
        assert f"'{name}' (from {variable_of(name)})" in sentence
    write(f"{name} = {value!r}")
    sentence = complaint()
    assert f"'{name}' (from forager.toml)" in sentence


def test_a_bad_flag_is_not_blamed_on_the_environment() -> None:
    assert "(from a flag)" in complaint({"FORAGER_WORKERS": "2"}, workers=0)


def test_a_database_url_that_is_refused_is_not_shown() -> None:
    sentence = complaint({"FORAGER_DATABASE_URL": "mysql://me:sesame@host/db"})
    assert "postgresql://" in sentence
    assert "sesame" not in sentence


def test_a_broken_file_is_named() -> None:
    path = write("delay_s = = 1")
    assert str(path) in complaint()


# Passing them on ----------------------------------------------------------------------------------------------------

GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "home": st.sampled_from([Path("/var/x"), Path("/a b/c")]),
        "database_url": st.just("postgresql://u:p@h:5432/d?sslmode=disable"),
        "politeness_delay": st.floats(0, 1e6),
        "workers": st.integers(1, 64),
        "contact": st.sampled_from(["me@a.example", "https://a.example/bot"]),
        "fetch_allow_networks": st.lists(st.sampled_from(["10.0.0.0/8", "::1/128"]), min_size=1).map(tuple),
        "fetch_allow_ports": st.lists(st.integers(1, 65535), min_size=1).map(tuple),
        "worker_lease": st.floats(2, 1e6),
        "log_level": st.sampled_from(["debug", "error"]),
    },
)


@given(GIVEN)
def test_a_child_process_sees_the_same(given: dict[str, Any]) -> None:
    settings = some(**given)
    environ = to_environment(settings)
    assert all(name.startswith("FORAGER_") for name in environ)
    assert load(environ=environ) == settings


def test_only_what_was_set_is_passed_on() -> None:
    assert to_environment(some(politeness_delay=2.0)) == {"FORAGER_POLITENESS_DELAY": "2.0"}


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        some().politeness.delay = 3.0


def test_who_we_are_is_told_to_site_owners() -> None:
    assert some(contact="me@a.example").agent_header.endswith("(+me@a.example)")
    assert some().agent_header.startswith("Forager/")
    assert some(fetch_user_agent="Mine/1").agent_header == "Mine/1"


@pytest.mark.parametrize("name", ["contact", "fetch.user_agent"])
def test_what_becomes_a_header_must_be_printable_ascii(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="printable ASCII"):
        load({name: "zoë\r\nX-Evil: 1", "home": tmp_path}, {})


@pytest.mark.parametrize("name", ["database.url", "redis.url", "dispatch.broker_url", "search.url"])
def test_no_url_is_shown_with_its_password(name: str) -> None:
    scheme = {"redis.url": "redis", "dispatch.broker_url": "amqp", "search.url": "https"}.get(name, "postgresql")
    settings = load({}, {variable_of(name): f"{scheme}://me:s3cret@host.example/x"})
    shown = {row["name"]: row["value"] for row in describe(settings, set())}
    assert shown[name] == f"{scheme}://me:***@host.example/x"


def test_a_secret_in_any_address_is_shown_and_saved_nowhere() -> None:
    settings = some(
        storage_s3_endpoint="https://AKIA:hunter2@s3.example",
        api_public_url="https://f.example/?token=hunter2",
        workers=3,
    )
    shown = {row["name"]: row["value"] for row in describe(settings, set())}
    assert shown["storage.s3_endpoint"] == "https://***@s3.example"
    assert "hunter2" not in f"{shown}"
    assert "hunter2" not in as_toml(settings)
    assert "workers = 3" in as_toml(settings)
    assert "hunter2" not in complaint(api_public_url="ftp://me:hunter2@f.example")


# Names and units -----------------------------------------------------------------------------------------------------


def test_a_name_of_before_leads_to_the_one_of_now() -> None:
    assert "Did you mean 'politeness.delay'?" in complaint({"FORAGER_DELAY_S": "1"})
    write("robots_retention_s = 1")
    assert "Did you mean 'retention.robots_requests'?" in complaint()


def test_a_section_is_no_setting() -> None:
    write('images = "download"')
    assert "'images' is a section" in complaint()
    assert "images.policy, images.max_size, images.max_pixels" in complaint()


def test_a_section_within_a_section_is_refused() -> None:
    write("[fetch.timeout]\nall = 3")
    assert "The setting 'fetch.timeout' (from forager.toml) has a bad value" in complaint()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("500ms", 0.5), ("30", 30.0), ("30s", 30.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("90d", 90 * 86_400.0)],
)
def test_durations_are_written_with_units_and_are_seconds(written: str, seconds: float) -> None:
    assert load(environ={"FORAGER_CRAWL_MAX_WAIT": written}).crawl.max_wait == seconds


@pytest.mark.parametrize(
    ("written", "size"),
    [("2000", 2000), ("2kB", 2000), ("2KiB", 2048), ("1.5 GiB", 3 * 512 * 1024**2), ("10mb", 10_000_000)],
)
def test_sizes_are_written_with_units_and_are_bytes(written: str, size: int) -> None:
    write(f"[fetch]\nmax_page_size = {written!r}")
    assert load(environ={}).fetch.max_page_size == size


@given(st.integers(0, 10**9))
def test_what_is_shown_of_a_duration_can_be_written(milliseconds: int) -> None:
    seconds = milliseconds / 1000 if milliseconds < 60_000 else float(milliseconds // 1000)
    shown = write_value("crawl.max_wait", seconds)
    assert load({"crawl.max_wait": shown}, {}).crawl.max_wait == pytest.approx(seconds)


@given(st.integers(1, 2**40))
def test_what_is_shown_of_a_size_can_be_written(size: int) -> None:
    assert load({"fetch.max_page_size": write_value("fetch.max_page_size", size)}, {}).fetch.max_page_size == size


def test_what_is_saved_can_be_loaded() -> None:
    settings = some(workers=3, crawl_max_wait=90.0, fetch_allow_ports=(80, 81), images_policy="none", log_level="info")
    write(to_toml(settings))
    assert load(environ={}) == settings


def test_a_copy_has_other_values_and_passes_them_on() -> None:
    copy = some(api_host="::1").replace(api_port=0, workers=2)
    assert (copy.api.host, copy.api.port, copy.workers) == ("::1", 0, 2)
    assert to_environment(copy) == {"FORAGER_API_HOST": "::1", "FORAGER_API_PORT": "0", "FORAGER_WORKERS": "2"}


def test_no_two_settings_share_a_variable() -> None:
    assert len({variable_of(path) for path in FIELDS}) == len(FIELDS)
    assert not any("_" in section for section in SECTIONS)
