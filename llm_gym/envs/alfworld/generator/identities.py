"""Ids in the shape of the official ones: a kind and where the thing is, a location and how one stands there."""

from __future__ import annotations

from llm_gym.envs.alfworld.generator.geometry import Spot, Stand

_HIGH, _LOW = 150, 50


class Identities:
    """Gives out ids of things, and never one twice."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self._taken = set(taken)

    def take(self, kind: str, spot: Spot) -> str:
        """The id of a thing at a point; a centimetre higher for as long as another of its kind is there."""
        identity = "_bar_".join([kind.lower(), *map(_coordinate, spot)])
        if identity in self._taken:
            return self.take(kind, spot._replace(y=spot.y + 1))
        self._taken.add(identity)
        return identity


def location_id(stand: Stand, height: int) -> str:
    """The location where one looks from a stand at something so high, in centimetres."""
    gaze = -30 if height > _HIGH else 45 if height > _LOW else 60
    return "_bar_".join(["loc", *(str(part).replace("-", "_minus_") for part in (*stand, gaze))])


def _coordinate(centimetres: int) -> str:
    """Metres and centimetres as they stand in an id.

    >>> _coordinate(-140), _coordinate(5)
    ('_minus_01_dot_40', '_plus_00_dot_05')
    """
    metres, rest = divmod(abs(centimetres), 100)
    return f"{'_minus_' if centimetres < 0 else '_plus_'}{metres:02}_dot_{rest:02}"
