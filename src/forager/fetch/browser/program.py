"""Finds the browser's executable and builds its command line."""

import importlib.util
import os
import shutil
from pathlib import Path

from forager.config.extras import install_hint

SHELL = "chromium-headless-shell"
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
"""Executable names, in order of preference. The headless shell comes first: it is Chromium without the parts that
only an interactive user needs. It starts with a third of the CPU time and renders with half of it (decision 0023)."""
NOWHERE = "http://nowhere.invalid:1"
"""The proxy for requests that bypass `RequestFilter`. Its name, like every name and address, resolves to nothing."""
ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--disable-remote-fonts",
    "--disable-webgl",
    "--disable-notifications",
    "--disable-file-system",
    "--disable-speech-api",
    "--dns-prefetch-disable",
    "--no-pings",
    "--mute-audio",
    "--renderer-process-limit=4",
    "--js-flags=--max-old-space-size=512",
)
WITHOUT_IMAGES = "--blink-settings=imagesEnabled=false"
"""For pages that are read and not shown: their images are not even asked for."""
NO_PLAYWRIGHT = f"the Python package `playwright` is missing: {install_hint('browser', 'playwright')}"
NO_CHROMIUM = f"there is no Chromium: apt-get install {SHELL}, or name the program in the setting browser.executable"


def find_chromium(given: Path | None = None) -> Path | None:
    """Returns the given executable, or else the first of the usual names that is found."""
    if given is not None:
        return given if os.access(given, os.X_OK) and given.is_file() else None
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return Path(found) if found else None


def find_missing_dependency(given: Path | None = None) -> str | None:
    """Returns what is missing and where to get it; None where pages can be rendered."""
    if importlib.util.find_spec("playwright") is None:
        return NO_PLAYWRIGHT
    if find_chromium(given) is not None:
        return None
    return NO_CHROMIUM if given is None else f"{given} is no program that could be started as Chromium"


def can_sandbox() -> bool:
    """Returns whether the sandbox is available: Chromium does not run as root inside its own sandbox."""
    return os.geteuid() != 0


def format_start_error(error: Exception) -> str:
    """Returns one sentence from Playwright's multi-line error message."""
    text = str(error)
    if "No usable sandbox" in text or "namespace sandbox failed" in text.lower():
        return (
            "its sandbox does not work here: let this account make user namespaces, or do without the sandbox by "
            "`browser.sandbox = false`"
        )
    return text.partition("\n")[0][:200]
