"""`forager repair`: what a deep check found, put right as far as it can be. A dry run shows the plan."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import Noted, begin, require_bucket, whoami
from forager.cli.start import repair as with_pool

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.explain.repair import Step, StepResult

LEFT = 1
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show the plan.")]
MARKS = {"recompute": "made again", "revisit": "visited again", "backup": "needs a backup"}


def register(app: typer.Typer) -> None:
    app.command("repair", cls=Command, rich_help_panel="Look after it")(repair)


def repair(dry_run: DryRun = False, as_json: AsJson = False, home: Home = None) -> None:
    """Check everything (--deep), and repair what can be repaired."""
    settings = begin(home=home)
    require_bucket(settings)
    if dry_run:
        _show_plan(settings, as_json=as_json)
        return
    done, left = with_pool(settings, "repair", lambda pool: _repair(pool, settings), noted=_noted)
    if as_json:
        output.write_json({"is_clean": not left, "steps": [_as_row(each) for each in done], "left": left})
    else:
        _write(done, left)
    if left:
        raise typer.Exit(LEFT)


def _show_plan(settings: "Settings", *, as_json: bool) -> None:
    from forager.explain.repair import plan
    from forager.explain.service import run_deep_check

    found = with_pool(settings, "repair", lambda pool: run_deep_check(pool, settings))
    steps = plan(found)
    if as_json:
        output.write_json_list([_step_row(step) for step in steps])
        return
    for step in steps:
        output.console().print(_line(step), soft_wrap=True)
        for example in step.finding.examples[:1]:
            output.console().print(f"    {words.clean(example)}", style="dim", soft_wrap=True)
        output.console().print(f"    {step.sentence}", style="dim", soft_wrap=True)
    output.say(_sum_up(steps))


async def _repair(pool: Any, settings: "Settings") -> tuple[list["StepResult"], list[str]]:
    """What was done, and which checks still find something."""
    from forager.explain.service import repair_database, run_deep_check

    done = await repair_database(pool, settings, await run_deep_check(pool, settings), by=whoami())
    again = await run_deep_check(pool, settings) if done else None
    verdicts = again.verdicts if again is not None else []
    return done, [each.name for verdict in verdicts for each in verdict.findings if each.broken]


def _noted(result: tuple[list["StepResult"], list[str]]) -> Noted | None:
    done, left = result
    if not done:
        return None
    changed = {each.step.finding.name: each.changed for each in done}
    visits = sum(each.visits for each in done)
    return Noted("repair", "instance", None, {"changed": changed, "visits": visits, "left": left})


def _line(step: "Step") -> str:
    return f"{step.finding.name}: {words.count(step.finding.broken)} broken, {MARKS[step.kind]}"


def _sum_up(steps: list["Step"]) -> str:
    if not steps:
        return "Nothing is broken."
    of_kind = {kind: sum(step.kind == kind for step in steps) for kind in MARKS}
    told = ", ".join(f"{number} {MARKS[kind]}" for kind, number in of_kind.items() if number)
    return f"{words.things(len(steps), 'kind')} of damage: {told}. Nothing was changed; `forager repair` does it."


def _write(done: list["StepResult"], left: list[str]) -> None:
    for each in done:
        visits = f", {words.things(each.visits, 'visit')} ordered" if each.visits else ""
        said = step_result(each)
        output.console().print(f"{each.step.finding.name}: {said}{visits}", soft_wrap=True)
        if each.trouble:
            output.console().print(f"    {words.clean(each.trouble)}", style="red", soft_wrap=True)
    if not done:
        output.say("Nothing is broken.")
    elif left:
        output.say(f"Still broken: {', '.join(left)}. `forager check --deep` says what each needs.")
    else:
        output.say("Checked again: nothing is broken.")


def step_result(each: "StepResult") -> str:
    if not each.step.actions:
        return each.step.sentence
    return f"{words.things(each.changed, 'row')} put right"


def _step_row(step: "Step") -> dict[str, Any]:
    return {
        "name": step.finding.name,
        "broken": step.finding.broken,
        "examples": step.finding.examples,
        "kind": step.kind.value,
        "repair": step.sentence,
    }


def _as_row(each: "StepResult") -> dict[str, Any]:
    return _step_row(each.step) | {"changed": each.changed, "visits": each.visits, "trouble": each.trouble}
