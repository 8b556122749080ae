"""What every part of the config is made of: a frozen section that refuses unknown keys, and its kinds of numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Logit = Annotated[float, Field(ge=-50, le=50)]
Seconds = Annotated[float, Field(gt=0, le=3600)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=100_000)]


class Section(BaseModel):
    """A part of the config: an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class LimitsSection(Section):
    """How much is answered; a persona may have its own."""

    per_member_per_hour: Count = 20
    per_topic_per_hour: Count = 30
    per_trust_level: dict[int, int] = {0: 5, 1: 10}
    replies_in_a_row: Count = 3
    question_characters: Count = 8000
