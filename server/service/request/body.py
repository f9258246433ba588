"""What a request sends."""

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """What is sent. A field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, hide_input_in_errors=True)
