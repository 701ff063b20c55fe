"""Contracts of import-linter that follow modules, not packages: the logic, jobs, routes and commands of one feature
folder belong to different layers."""

from collections.abc import Iterable, Iterator
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

Edge = tuple[str, str]


def matches(module: str, pattern: str) -> bool:
    """`*` stands for one name, a final `**` for any number of them."""
    names, wanted = module.split("."), pattern.split(".")
    if wanted[-1] == "**":
        return len(names) >= len(wanted) - 1 and all(map(_fits, names, wanted[:-1]))
    return len(names) == len(wanted) and all(map(_fits, names, wanted))


def _fits(name: str, wanted: str) -> bool:
    return wanted in ("*", name)


def edges_of(graph: ImportGraph) -> Iterator[Edge]:
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            yield importer, imported


class _ByModule(Contract):
    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        broken = sorted(self.find_broken(graph))
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def find_broken(self, graph: ImportGraph) -> Iterable[str]:
        raise NotImplementedError

    def render_broken_contract(self, check: ContractCheck) -> None:
        for sentence in check.metadata["broken"]:
            output.print_error(f"- {sentence}")


class ModuleLayersContract(_ByModule):
    """Imports go down: each line of `layers` is `name: pattern pattern …`, the highest first. A module belongs to the
    line with the most specific pattern for it, and there must be one."""

    type_name = "module_layers"
    layers: Any = fields.ListField(subfield=fields.StringField())
    ignore: Any = fields.ListField(subfield=fields.StringField(), required=False)

    def find_broken(self, graph: ImportGraph) -> Iterable[str]:
        layers = [(name, patterns.split()) for name, _, patterns in (line.partition(":") for line in self.layers)]
        ignored = {tuple(line.split(" -> ")) for line in self.ignore or ()}
        yield from (f"{' -> '.join(pair)} is ignored and no longer there" for pair in ignored - set(edges_of(graph)))
        rank = {module: layer_of(module, layers) for module in graph.modules}
        yield from (f"{module} is in no layer" for module, found in rank.items() if found is None)
        for importer, imported in edges_of(graph):
            above, below = rank[importer], rank[imported]
            if above is not None and below is not None and above > below and (importer, imported) not in ignored:
                yield f"{importer} ({layers[above][0]}) imports {imported} ({layers[below][0]})"


def layer_of(module: str, layers: list[tuple[str, list[str]]]) -> int | None:
    """The number of its layer, counted from the top."""
    found = [
        (len(pattern.split(".")), not pattern.endswith("**"), number)
        for number, (_, patterns) in enumerate(layers)
        for pattern in patterns
        if matches(module, pattern)
    ]
    return max(found)[2] if found else None


class FeatureImportsContract(_ByModule):
    """Features do not import each other, except for `models` and the named pairs. `spanning` features work on the whole
    instance and may import any; `shared` ones may be imported by any; so may modules that match `outside` import any:
    routes and commands show what several features know."""

    type_name = "feature_imports"
    features: Any = fields.ListField(subfield=fields.StringField())
    spanning: Any = fields.ListField(subfield=fields.StringField())
    shared: Any = fields.ListField(subfield=fields.StringField())
    outside: Any = fields.ListField(subfield=fields.StringField())
    allowed: Any = fields.ListField(subfield=fields.StringField())

    def find_broken(self, graph: ImportGraph) -> Iterable[str]:
        features, allowed, used = set(self.features), set(self.allowed), set()
        for importer, imported in edges_of(graph):
            of, to = importer.split(".")[1:2], imported.split(".")[1:2]
            if of == to or not of or not to or not {*of, *to} <= features:
                continue
            if of[0] in self.spanning or to[0] in self.shared:
                continue
            if any(matches(importer, each) for each in self.outside) or imported.endswith(".models"):
                continue
            pair = f"{of[0]} -> {to[0]}"
            used.add(pair)
            if pair not in allowed:
                yield f"{importer} imports {imported}"
        yield from (f"{pair} is allowed and no longer needed" for pair in allowed - used)


class NoCyclesContract(_ByModule):
    """No module imports itself by way of others. `ignore` has imports for type checkers only."""

    type_name = "no_cycles"
    ignore: Any = fields.ListField(subfield=fields.StringField(), required=False)

    def find_broken(self, graph: ImportGraph) -> Iterable[str]:
        left = {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}
        for importer, imported in (line.split(" -> ") for line in self.ignore or ()):
            left[importer].discard(imported)
        while free := [module for module, imported in left.items() if not imported & left.keys()]:
            for module in free:
                del left[module]
        importers = {imported for each in left for imported in left[each] if imported in left}
        yield from (f"{module} is part of a cycle" for module in left if module in importers)
