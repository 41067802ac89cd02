"""What a choice model is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting

_OF_EVERY_CHECKPOINT = {"format", "kind", "precision"}
_SHORTEST_TEXT = 3
"""One token between the two that every text begins and ends with."""


@dataclass(frozen=True)
class ChoiceConfig:
    """Settings of a choice model; the defaults are the paper's."""

    encoder: Mapping[str, Any] = field(default_factory=dict)
    """The encoder's configuration as transformers has it, with its `model_type`; `ChoiceModel.create` fills it in."""
    image: bool = True
    """Whether the picture on a page is read, as one more token of the state."""
    image_width: int = 512
    """Numbers that describe a picture."""
    legacy: bool = False
    """Keep the original's defect: an action's score depends on how far it was padded (see `BiAttention`)."""
    state_tokens: int = 512
    """Longer states lose their beginning."""
    head_tokens: int = 0
    """But so many of the beginning stay, where the instruction stands; 0, as in the original, may lose it."""
    action_tokens: int = 128
    """Longer actions lose their beginning."""
    observations: int = 0
    """Earlier observations put before the state."""
    actions: int = 0
    """Earlier actions put before the state."""

    def __post_init__(self) -> None:
        for name in ("state_tokens", "action_tokens"):
            if getattr(self, name) < _SHORTEST_TEXT:
                raise InvalidSetting(f"{name} must be at least {_SHORTEST_TEXT}, got {getattr(self, name)}.")
        if not 0 <= self.head_tokens < self.state_tokens:
            raise InvalidSetting(f"head_tokens must be from 0 to below {self.state_tokens}, got {self.head_tokens}.")
        if self.image_width < 1:
            raise InvalidSetting(f"image_width must be at least 1, got {self.image_width}.")
        if self.observations < 0 or self.actions < 0:
            raise InvalidSetting(
                f"observations and actions must be 0 or more, got {self.observations} and {self.actions}."
            )

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], where: str) -> ChoiceConfig:
        """The settings in a checkpoint, whose own entries are passed over.

        Args:
            values: the parsed object.
            where: the file, for the message.

        Raises:
            BadRecord: a setting is missing or of another type.
            DataMismatch: there is a setting that this version does not know.
        """
        settings = {name: value for name, value in values.items() if name not in _OF_EVERY_CHECKPOINT}
        known = {place.name: place.type for place in fields(cls)}
        if unknown := sorted(settings.keys() - known.keys()):
            raise DataMismatch(f"{where}: this version of llm_gym knows no setting {unknown[0]!r}.")
        for name, kind in known.items():
            if not _fits(settings.get(name), str(kind)):
                raise BadRecord(f"{where}: {name!r} should be {_KINDS[str(kind)]}, is {settings.get(name)!r:.80}.")
        try:
            return cls(**settings)
        except InvalidSetting as error:
            raise BadRecord(f"{where}: {error}") from error


_KINDS = {"bool": "true or false", "int": "a whole number", "Mapping[str, Any]": "an object"}


def _fits(value: object, kind: str) -> bool:
    if kind == "bool" or isinstance(value, bool):
        return kind == "bool" and isinstance(value, bool)
    return isinstance(value, int if kind == "int" else Mapping)
