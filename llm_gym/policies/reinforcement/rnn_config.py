"""What a recurrent actor-critic is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting

_OF_EVERY_CHECKPOINT = {"format", "kind", "precision"}
_LARGEST = 100_000


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """Settings of a recurrent actor-critic. The paper's `width` is 512, and its words have vectors of that width too.

    Raises:
        InvalidSetting: a number is not positive or absurdly large, or no room is left beside a page's beginning.
    """

    words: int = 48
    """Width of a word's vector."""
    width: int = 48
    """Of the recurrent networks, in each direction."""
    image: bool = True
    """Whether the picture on a page is read, as one more token of the state."""
    image_width: int = 512
    """Numbers that describe a picture."""
    page_tokens: int = 64
    """Of a page; from a longer one the middle is cut out."""
    head_tokens: int = 48
    """So many of its beginning stay."""
    goal_tokens: int = 32
    """Longer instructions lose their beginning."""
    action_tokens: int = 20
    """Longer actions lose their beginning."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if name != "image" and not 1 <= value <= _LARGEST:
                raise InvalidSetting(f"{name} of a recurrent network must be from 1 to {_LARGEST:,}, got {value}.")
        if self.head_tokens >= self.page_tokens:
            raise InvalidSetting(f"head_tokens must be below page_tokens, {self.page_tokens}, got {self.head_tokens}.")

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], where: str) -> RecurrentConfig:
        """The settings in a checkpoint, whose own entries are passed over.

        Args:
            values: the parsed object.
            where: the file, for the message.

        Raises:
            BadRecord: a setting is missing or cannot be.
            DataMismatch: there is a setting that this version does not know.
        """
        settings = {name: value for name, value in values.items() if name not in _OF_EVERY_CHECKPOINT}
        known = {place.name: bool if place.type == "bool" else int for place in fields(cls)}
        if unknown := sorted(settings.keys() - known.keys()):
            raise DataMismatch(f"{where}: this version of llm_gym knows no setting {unknown[0]!r}.")
        for name, kind in known.items():
            if type(settings.get(name)) is not kind:
                wanted = "true or false" if kind is bool else "a whole number"
                raise BadRecord(f"{where}: {name!r} should be {wanted}, is {settings.get(name)!r:.80}.")
        try:
            return cls(**settings)
        except InvalidSetting as error:
            raise BadRecord(f"{where}: {error}") from error
