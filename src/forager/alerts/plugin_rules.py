"""Alert rules of plug-ins, beside those of Forager."""

from collections.abc import Mapping
from functools import lru_cache

from forager.alerts.rules import RULES, Finding, Rule, RuleInput, rule_from
from forager.alerts.watch import Level
from forager.plugins import registry
from forager.plugins.collect import collect
from forager.plugins.contributions import AlertRule, RuleFinding
from forager.plugins.registry import PluginRegistry
from forager.plugins.threads import run_in_thread

HOOK = "register_alert_rules"
TIMEOUT_S = 5.0
MOST_FINDINGS = 100
LONGEST_MESSAGE, LONGEST_SUBJECT = 500, 255


def all_rules() -> Mapping[str, Rule]:
    """Returns the rules of Forager and those of plug-ins, by name."""
    return {**{name: rule for name, (_, rule, _) in _plugin_rules(registry.current()).items()}, **RULES}


async def evaluate_plugin_rules(facts: RuleInput) -> list[Finding]:
    """Returns what the rules of plug-ins find. One that fails finds nothing, and so resolves its alerts."""
    found: list[Finding] = []
    for plugin, rule, given in _plugin_rules(registry.current()).values():
        try:
            results = await run_in_thread(lambda given=given: list(given.check(facts)), timeout_s=TIMEOUT_S)  # type: ignore[misc]
            found += [_finding(rule, each) for each in results[:MOST_FINDINGS]]
        except Exception as error:
            registry.current().note(plugin, HOOK, error)
    return found


@lru_cache(4)
def _plugin_rules(plugins: PluginRegistry) -> dict[str, tuple[str, Rule, AlertRule]]:
    rules: dict[str, tuple[str, Rule, AlertRule]] = {}
    for plugin, given in collect(HOOK, AlertRule):
        try:
            rule = rule_from(given.name, given.severity, given.hold, given.quiet, given.says)
            if rule.name in RULES or rule.name in rules:
                raise ValueError(f"there is a rule {rule.name} already")
            rules[rule.name] = plugin, rule, given
        except (TypeError, ValueError) as error:
            plugins.note(plugin, HOOK, error)
    return rules


def _finding(rule: Rule, found: RuleFinding) -> Finding:
    if not isinstance(found, RuleFinding):
        raise TypeError(f"the rule {rule.name} found a {type(found).__name__}; it must be a RuleFinding")
    message, subject = registry.clean(str(found.message)), registry.clean(str(found.subject))
    return Finding(rule.name, subject[:LONGEST_SUBJECT], Level.BAD, float(found.value), message[:LONGEST_MESSAGE])
