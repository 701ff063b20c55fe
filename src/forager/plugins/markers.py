"""The markers of plug-in functions: `@forager.hookimpl` implements a hook, `hookspec` specifies one."""

import pluggy

PROJECT = "forager"
hookimpl = pluggy.HookimplMarker(PROJECT)
hookspec = pluggy.HookspecMarker(PROJECT)
