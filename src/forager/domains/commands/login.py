"""`forager domain NAME login`: tries the login of a domain and shows each step, without its secrets."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.start import Noted, begin, run_action, run_query, whoami

if TYPE_CHECKING:
    from forager.domains.login_trial import LoginTrial

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
FAILED = 6


def login(name: Name, *, as_json: AsJson = False, home: Home = None) -> None:
    """Try its login now and show each step; a session that works is stored."""
    from forager.config.keys import get_cipher
    from forager.domains import login_trial

    settings = begin(home=home)
    cipher = get_cipher(settings)
    plan = run_query(settings, "domain", lambda conn: login_trial.plan_trial(conn, name, settings, cipher))
    import asyncio

    trial = asyncio.run(login_trial.try_login(settings, plan))
    if trial.is_ok:
        is_stored, was_blocked = run_action(
            settings,
            "domain",
            lambda conn: login_trial.keep_session(conn, plan, cipher, by=whoami()),
            noted=lambda _done: Noted("domain.login", "domain", plan.name, {"is_ok": True}),
        )
        trial = replace(trial, is_stored=is_stored, was_blocked=was_blocked)
    if as_json:
        output.write_json(asdict(trial))
    else:
        _write_trial(trial)
    if not trial.is_ok:
        raise typer.Exit(FAILED)


def _write_trial(trial: "LoginTrial") -> None:
    for step in trial.steps:
        led_to = f" → {step.location}" if step.location else ""
        output.say(f"  {step.method:<4} {step.url}  {step.status_code}{led_to}")
    if not trial.is_ok:
        output.say(f"✗ The login of {trial.name} failed: {trial.problem}.")
        return
    output.say(f"✓ Logged in to {trial.name}: {trial.found}.")
    output.say(f"  filled {', '.join(trial.fields)}; cookies {', '.join(trial.cookies) or 'none'}")
    if trial.is_stored:
        output.say("  The session is stored for the next crawl.")
    else:
        output.say("  A worker crawls the domain now with a session of its own; this one was not stored.")
    if trial.was_blocked:
        output.say("  The domain was blocked because of its login; it may be crawled again now.")
