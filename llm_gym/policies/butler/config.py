"""What a text agent is made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting

_OF_EVERY_CHECKPOINT = {"format", "kind", "precision"}


@dataclass(frozen=True)
class ButlerConfig:
    """Sizes of the model; the defaults are those of arXiv:2010.03768, but for the embeddings' own width."""

    width: int = 64
    """Of every layer."""
    embedding_width: int = 384
    """Of the frozen word embeddings: MiniLM's; DistilBERT's, which the paper takes, have 768."""
    convolutions: int = 5
    """Of the encoder's block."""
    kernel: int = 5
    """Tokens that a convolution looks at; odd."""
    longest: int = 512
    """A longer text is cut into segments, which are encoded one by one."""
    segment: int = 500
    """Tokens of a segment."""
    target_tokens: int = 20
    """Of a command, its end included."""
    observations: int = 3
    """Different observations that are read beside the first one."""
    skip: float = 0.1
    """Of so great a share of the updates the deepest layer is left out; of those before it proportionally fewer."""

    def __post_init__(self) -> None:
        for place in fields(self):
            value = getattr(self, place.name)
            if place.name != "skip" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise InvalidSetting(f"{place.name} of a text agent must be a positive number, got {value!r}.")
        if self.kernel % 2 == 0:
            raise InvalidSetting(f"kernel must be odd, so that it has a middle, got {self.kernel}.")
        if self.width % 2:
            raise InvalidSetting(f"width must be even, for sines and cosines, got {self.width}.")
        if self.segment > self.longest:
            raise InvalidSetting(f"A segment of {self.segment} tokens is longer than the longest text, {self.longest}.")
        if isinstance(self.skip, bool) or not isinstance(self.skip, int | float) or not 0 <= self.skip < 1:
            raise InvalidSetting(f"skip must be from 0 to below 1, got {self.skip!r}.")

    def to_json(self) -> dict[str, Any]:
        """For a checkpoint; `from_json` reads it back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any], where: str) -> ButlerConfig:
        """The settings in a checkpoint, whose own entries are passed over.

        Args:
            values: the parsed object.
            where: the file, for the message.

        Raises:
            BadRecord: a setting is missing, or has a value that cannot be.
            DataMismatch: there is a setting that this version does not know.
        """
        settings = {name: value for name, value in values.items() if name not in _OF_EVERY_CHECKPOINT}
        known = {place.name for place in fields(cls)}
        if unknown := sorted(settings.keys() - known):
            raise DataMismatch(f"{where}: this version of llm_gym knows no setting {unknown[0]!r}.")
        if missing := sorted(known - settings.keys()):
            raise BadRecord(f"{where}: the setting {missing[0]!r} is missing.")
        try:
            return cls(**settings)
        except InvalidSetting as error:
            raise BadRecord(f"{where}: {error}") from error
