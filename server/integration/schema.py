"""The JSON Schema of ``integration.toml``, every field with its docstring."""

from typing import Any

import msgspec

from server.integration.config import Destination, IntegrationConfig
from server.integration.registry import kinds, registered
from server.integration.secret import Secret
from server.table.schema import describe


def integration_schema() -> dict[str, Any]:
    """Return the schema; its definitions contain each kind's settings."""
    schema = msgspec.json.schema(IntegrationConfig)
    definitions: dict[str, Any] = schema["$defs"]
    describe(definitions, (IntegrationConfig, Destination))
    for kind in kinds():
        settings = registered(kind).settings
        _, found = msgspec.json.schema_components([settings])
        parts = (settings, Secret) if "Secret" in found else (settings,)
        describe(found, parts)
        definitions[f"settings of {kind}"] = found.pop(settings.__name__)
        definitions |= found
    return schema
