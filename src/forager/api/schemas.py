"""Makes the OpenAPI document one that stock generators of clients understand.

Each rule is here because a generated client went wrong without it: it sent the defaults of a PATCH (and so resumed
paused domains), could not leave out an optional body, and had an enumeration of its own for every parameter.
"""

from collections.abc import Iterator
from typing import Any, get_args

from forager.accounts import schemas as accounts
from forager.alerts import schemas as alerts
from forager.domains import schemas as domains
from forager.domains.routes import domains as domain_routes
from forager.pages import schemas as pages
from forager.products import schemas as products
from forager.stats import overview
from forager.tasks import failure_schemas as errors
from forager.tasks import schemas as tasks

Schema = dict[str, Any]
PREFIX = "#/components/schemas/"
ENUMS: dict[str, Any] = {
    "AlertSeverity": alerts.Severity,
    "AlertStatus": alerts.AlertStatus,
    "BreakerState": domains.Breaker,
    "Category": errors.Category,
    "DomainSort": domain_routes.SortName,
    "DomainStatus": domains.Status,
    "ImageStatus": products.ImageStatus,
    "MetricKind": overview.MetricKind,
    "PageStatus": pages.PageStatus,
    "Role": accounts.RoleName,
    "RunStatus": tasks.RunStatus,
    "TaskKind": tasks.TaskKind,
    "TaskOutcome": tasks.Outcome,
    "TaskStatus": tasks.TaskStatus,
    "TokenScope": accounts.ScopeName,
}
"""What values that occur in several places are called."""


def simplify(document: Schema) -> None:
    """Applies every rule to the document, in place."""
    _name_enums(document)
    _name_generics(document)
    for operations in document["paths"].values():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _without_null(parameter["schema"])
            body = _body_of(operation)
            if body is not None:
                body["schema"] = _without_null(body["schema"])
                if method == "patch":
                    _drop_defaults(document, body["schema"])


def _body_of(operation: Schema) -> Schema | None:
    body: Schema | None = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return body


def _without_null(schema: Schema) -> Schema:
    """What may be left out is left out: a query has no null, and an optional body needs none."""
    options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) != 1 or len(options) == len(schema["anyOf"]):
        return schema
    rest = {name: value for name, value in schema.items() if name not in {"anyOf", "default"}}
    if "$ref" in options[0]:
        rest.pop("title", None)
    option: Schema = options[0]
    return rest | option


def _drop_defaults(document: Schema, schema: Schema) -> None:
    """Only what is sent is changed, so a PATCH has no defaults; a generated client would send them."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(PREFIX)]
    for value in schema.get("properties", {}).values():
        value.pop("default", None)


def _name_enums(document: Schema) -> None:
    names = {get_args(kind): name for name, kind in ENUMS.items()}
    used: dict[str, Schema] = {}

    def refer(schema: Schema) -> None:
        name = names.get(tuple(schema["enum"]))
        if name is not None:
            used[name] = {"type": "string", "enum": schema["enum"], "title": name}
            for key in ("enum", "type", "title", "examples", "example"):
                schema.pop(key, None)
            schema["$ref"] = PREFIX + name

    parts = document["components"]["schemas"]
    unnamed = [part for part in parts.values() if "enum" not in part]
    for schema in list(_enums_in([document["paths"], unnamed])):
        refer(schema)
    parts |= used


def _name_generics(document: Schema) -> None:
    """`Paged[Run]` is called by its title, `RunPage`, and not `Paged_Run_`."""
    parts = document["components"]["schemas"]
    titles = {name: part["title"] for name, part in parts.items() if name.endswith("_")}
    for schema in _refs_in(document):
        name = schema["$ref"].removeprefix(PREFIX)
        schema["$ref"] = PREFIX + titles.get(name, name)
    document["components"]["schemas"] = {titles.get(name, name): part for name, part in parts.items()}


def _enums_in(value: Any) -> Iterator[Schema]:
    return (schema for schema in _objects_in(value) if isinstance(schema.get("enum"), list))


def _refs_in(value: Any) -> Iterator[Schema]:
    return (schema for schema in _objects_in(value) if isinstance(schema.get("$ref"), str))


def _objects_in(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects_in(inner)
