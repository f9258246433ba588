"""Request bodies."""

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """A request body. An unknown field is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, hide_input_in_errors=True)
