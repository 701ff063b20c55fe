"""The plug-ins of this process: loaded when a hook is first called, and called so that a failure costs one result.

`configure` names what may be loaded; every process that reads settings calls it. Files are imported only where one of
their hooks is called. An error of a plug-in, also one while it is imported, is kept until `take_errors`.
"""

import importlib.util
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from forager.plugins.discovery import Source, find_sources, has_own
from forager.plugins.guards import Guard
from forager.plugins.models import BUILT_IN, IMPORT, NO_PLUGINS, PluginConfig, PluginError, PluginInfo

T = TypeVar("T")
LONGEST_ERROR, LONGEST_TRACEBACK = 500, 4000
MOST_KEPT = 1000
ALL = "*"
"""In the place of names of plug-ins: all but those of Forager."""
MODULE_PREFIX = "forager_plugin_"


class Implementation(NamedTuple):
    """One hook of one plug-in."""

    plugin: str
    hook: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]
    """The names of those it takes."""


@dataclass(slots=True)
class Loaded:
    """A plug-in after its import."""

    source: Source
    module: Any = None
    problem: str | None = None

    @property
    def version(self) -> str | None:
        if self.source.version is not None or self.module is None:
            return self.source.version
        found = getattr(self.module, "__version__", None) or getattr(self.module, "VERSION", None)
        return None if found is None else str(found)[:50]


class PluginRegistry:
    def __init__(self, config: PluginConfig = NO_PLUGINS) -> None:
        self.config = config
        self.guard: Guard = _without_guard
        self._sources: list[Source] | None = None
        self._loaded: dict[str, Loaded] = {}
        self._left_out: frozenset[str] = frozenset()
        self._hooks: dict[str, tuple[Implementation, ...]] = {}
        self.last_error: type[BaseException] | None = None
        """What the last call raised."""
        self._errors: dict[tuple[str, str], PluginError] = {}

    # what there is -------------------------------------------------------------------------------------------------

    @property
    def sources(self) -> list[Source]:
        if self._sources is None:
            self._sources = find_sources(self.config)
        return self._sources

    def is_disabled(self, source: Source) -> bool:
        is_own = source.label == BUILT_IN
        return source.name in self.config.disabled or not (self.config.is_enabled or is_own)

    @classmethod
    def of(cls, sources: list[Source]) -> "PluginRegistry":
        """Returns the registry of these plug-ins alone."""
        plugins = cls()
        plugins._sources = sources
        return plugins

    def may_call(self, *hooks: str) -> bool:
        """Whether a plug-in besides those of Forager may implement one of these hooks; imports nothing."""
        if not has_own(self.config):
            return False
        own = [source for source in self.sources if source.label != BUILT_IN and not self.is_disabled(source)]
        return any(source.may_implement(hook) for source in own for hook in hooks)

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """Returns the functions that implement a hook, in the order of the plug-ins' names."""
        if (known := self._hooks.get(hook)) is None:
            known = self._hooks[hook] = tuple(self._find(hook))
        if not self._left_out:
            return known
        return tuple(each for each in known if not self.is_left_out(each.plugin))

    def _find(self, hook: str) -> Iterator[Implementation]:
        for source in self.sources:
            if self.is_disabled(source) or self.is_left_out(source.name) or not source.may_implement(hook):
                continue
            module = self.load(source).module
            if module is not None and (found := _implementation(source.name, hook, module)) is not None:
                yield found

    def module_of(self, plugin: str) -> Any:
        """Returns the imported module of a plug-in, or None."""
        loaded = self._loaded.get(plugin)
        return loaded.module if loaded is not None else None

    def load(self, source: Source) -> Loaded:
        """Imports a plug-in once; a failure is an error of the plug-in."""
        if source.name not in self._loaded:
            loaded = self._loaded[source.name] = Loaded(source)
            try:
                with self.guard(source.name):
                    module = _import(source)
                    _check(module)
                loaded.module = module
            except BaseException as error:
                _raise_interrupt(error)
                loaded.problem = _describe(error)
                self.note(source.name, IMPORT, error)
        return self._loaded[source.name]

    def describe(self, source: Source) -> PluginInfo:
        """Imports a plug-in and describes it."""
        if self.is_disabled(source):
            return PluginInfo(source.name, source.version, source.label, (), "disabled")
        loaded = self.load(source)
        hooks = () if loaded.module is None else tuple(hook for hook in hook_names() if _is_marked(loaded.module, hook))
        state = "loaded" if loaded.problem is None else "broken"
        return PluginInfo(source.name, loaded.version, source.label, hooks, state, loaded.problem)

    # calls ---------------------------------------------------------------------------------------------------------

    @property
    def left_out(self) -> frozenset[str]:
        return self._left_out

    def is_left_out(self, plugin: str) -> bool:
        if not self._left_out:
            return False
        return plugin in self._left_out or (ALL in self._left_out and self._label(plugin) != BUILT_IN)

    def _label(self, plugin: str) -> str:
        return next((source.label for source in self.sources if source.name == plugin), BUILT_IN)

    def leave_out(self, plugins: Collection[str]) -> None:
        """Calls these plug-ins no more, or all if one of the names is `*`, until the next call of this function."""
        left_out = frozenset(plugins)
        if left_out != self._left_out:
            self._left_out = left_out
            self._hooks.clear()

    def call(
        self,
        implementation: Implementation,
        arguments: Mapping[str, Any],
        take: Callable[[Any], T],
        *,
        url: str | None = None,
        guard: Guard | None = None,
    ) -> T | None:
        """Returns what `take` makes of the result; None if the plug-in is left out, or if it or `take` raises."""
        self.last_error = None
        if self.is_left_out(implementation.plugin):
            return None
        try:
            with (guard or self.guard)(implementation.plugin):
                given = {name: arguments[name] for name in implementation.arguments}
                return take(implementation.function(**given))
        except BaseException as error:
            _raise_interrupt(error)
            self.last_error = type(error)
            self.note(implementation.plugin, implementation.hook, error, url=url)
            return None

    def call_all(
        self, hook: str, arguments: Mapping[str, Any], take: Callable[[Any], T], *, url: str | None = None
    ) -> Iterator[tuple[str, T]]:
        """Yields the name of each plug-in with its result, without those that failed."""
        for implementation in self.implementations(hook):
            result = self.call(implementation, arguments, take, url=url)
            if result is not None:
                yield implementation.plugin, result

    # errors --------------------------------------------------------------------------------------------------------

    def note(self, plugin: str, hook: str, error: BaseException, *, url: str | None = None) -> None:
        text = "".join(traceback.format_exception(error, limit=-20))[-LONGEST_TRACEBACK:]
        self.add_error(PluginError(plugin, hook, _describe(error), clean(text), url))

    def add_error(self, error: PluginError) -> None:
        key = error.plugin, error.hook
        before = self._errors.get(key)
        if before is not None or len(self._errors) < MOST_KEPT:
            self._errors[key] = error._replace(times=error.times + (before.times if before else 0))

    @property
    def has_errors(self) -> bool:
        return bool(self._errors)

    def take_errors(self) -> tuple[PluginError, ...]:
        """Returns the errors since the last call."""
        if not self._errors:
            return ()
        taken, self._errors = self._errors, {}
        return tuple(taken.values())


def _without_guard(_plugin: str) -> AbstractContextManager[None]:
    return nullcontext()


_current = PluginRegistry()


def current() -> PluginRegistry:
    """Returns the plug-ins of this process."""
    return _current


def configure(config: PluginConfig) -> PluginRegistry:
    """Names the plug-ins that this process may load; it forgets what is loaded if they are others than before."""
    global _current  # noqa: PLW0603 (plug-ins are a property of the process, as imported modules are)
    if config != _current.config:
        _current = PluginRegistry(config)
    return _current


@contextmanager
def using(plugins: PluginRegistry) -> Iterator[None]:
    """Makes these the plug-ins of this process for a while."""
    global _current  # noqa: PLW0603 (as above)
    before, _current = _current, plugins
    try:
        yield
    finally:
        _current = before


@cache
def hook_names() -> tuple[str, ...]:
    """Returns the names of all hooks, in the order of their specifications."""
    from forager.plugins import specifications

    return tuple(name for name in vars(specifications) if _is_specification(getattr(specifications, name)))


def _is_specification(value: object) -> bool:
    return callable(value) and getattr(value, "forager_spec", None) is not None


def _import(source: Source) -> Any:
    if source.entry_point is not None:
        return source.entry_point.load()
    if source.path is None:
        return importlib.import_module(source.module)
    name = MODULE_PREFIX + source.name.replace("-", "_")
    spec = importlib.util.spec_from_file_location(name, source.path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source.path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _check(module: ModuleType) -> None:
    """Has pluggy compare the functions of a plug-in with the specifications. Raises what it finds."""
    import pluggy

    from forager.plugins import specifications
    from forager.plugins.markers import PROJECT

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specifications)
    manager.register(module)
    manager.check_pending()
    for hook in hook_names():
        for implementation in getattr(manager.hook, hook).get_hookimpls():
            if implementation.hookwrapper or implementation.wrapper:
                raise ValueError(f"{hook} is a hook wrapper; Forager calls each plug-in by itself, without wrappers")
    if not any(_is_marked(module, hook) for hook in hook_names()):
        raise ValueError(f"it implements no hook; there are {', '.join(hook_names())}")


def _is_marked(module: Any, hook: str) -> bool:
    return getattr(getattr(module, hook, None), "forager_impl", None) is not None


def _implementation(plugin: str, hook: str, module: Any) -> Implementation | None:
    import pluggy

    if not _is_marked(module, hook):
        return None
    function = getattr(module, hook)
    arguments, optional = pluggy._hooks.varnames(function)  # noqa: SLF001
    return Implementation(plugin, hook, function, (*arguments, *optional))


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return clean(f"{type(error).__name__}: {text}" if text else type(error).__name__)[:LONGEST_ERROR]


def clean(text: str) -> str:
    """Removes what the database rejects."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _raise_interrupt(error: BaseException) -> None:
    """An interrupt by a person is not a failure of the plug-in; neither is the end of a task."""
    import asyncio

    if isinstance(error, KeyboardInterrupt | asyncio.CancelledError | GeneratorExit):
        raise error
