"""The demonstrations of the WebShop paper: its trajectories, its search queries, and the split that belongs to them.

A goal is told by its text, and its place in `human_goals.json`, from 0, says which part it belongs to: the first 500
are the test set, the next 1,000 the development set. The original trains its search model on every goal from place 500
on, so that its development set is in its training data; here the training part begins at place 1,500.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt
import orjson

from llm_gym.demonstrations.record import Demonstration, DemonstrationStep
from llm_gym.envs.webshop.image_features import FEATURES, write_features
from llm_gym.errors import BadRecord, MissingData
from llm_gym.policies.imitation.text import process_goal

Split = Literal["train", "dev", "test", "unknown"]
SPLITS: tuple[Split, ...] = get_args(Split)
"""`unknown`: of a goal that the list does not hold, or without a list."""

_DEV_FROM, _TRAIN_FROM = 500, 1500
_SEARCH_STEP = -1
_HEADINGS = ("webshop", "amazon shopping game")
_SEARCH_BUTTON = "[button] search [button_]"


@dataclass(frozen=True, slots=True)
class OfficialGoals:
    """The order of the human goals."""

    places: Mapping[str, int]
    """Goal as `process_goal` leaves it → its first place, from 0."""

    @classmethod
    def read(cls, path: str | Path) -> OfficialGoals:
        """Read `human_goals.json`, a list of texts.

        Raises:
            MissingData, BadRecord: it is not there, or no such list.
        """
        texts = _json(Path(path))
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise BadRecord(f"{path}: should be a list of texts, as human_goals.json is.")
        places: dict[str, int] = {}
        for place, text in enumerate(texts):
            places.setdefault(process_goal(text), place)
        return cls(places)

    def split(self, goal: str) -> Split:
        """The part of a goal, given as instruction or as first page of an episode."""
        place = self.places.get(process_goal(goal))
        if place is None:
            return "unknown"
        if place < _DEV_FROM:
            return "test"
        return "dev" if place < _TRAIN_FROM else "train"


NO_GOALS = OfficialGoals({})
"""Knows no goal: every split is unknown."""


@dataclass(frozen=True, slots=True)
class Official:
    """An official demonstration with the part it belongs to."""

    split: Split
    demonstration: Demonstration


class Images(Protocol):
    """Keeps the image features that stand in a file."""

    def add(self, features: npt.NDArray[np.float32]) -> str:
        """The id of these features, (512,); equal ones have one id."""


class KeptImages:
    """Image features until they are written to a store of their own."""

    def __init__(self) -> None:
        self._features: dict[str, npt.NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self._features)

    def add(self, features: npt.NDArray[np.float32]) -> str:
        identity = f"image-{hashlib.sha256(features.tobytes()).hexdigest()[:16]}"
        self._features[identity] = features
        return identity

    def write(self, folder: Path, source: str) -> None:
        """Write a folder that `FeatureStore.open` reads. The ids say nothing of products, which the file does not name.

        Raises:
            InvalidSetting: there is no image, or the folder is there already.
        """
        matrix = np.stack([*self._features.values()]) if self._features else np.zeros((0, FEATURES), np.float32)
        catalogue = {"name": source, "digest": "none: these are pictures of pages, not of a catalogue"}
        write_features(folder, list(self._features), matrix, {"source": source, "catalogue": catalogue})


def read_trajectories(
    path: str | Path, goals: OfficialGoals = NO_GOALS, images: Images | None = None
) -> Iterator[Official]:
    """The trajectories of `il_trajs_finalized_images.jsonl`, one after the other.

    A line holds `states`, `available_actions`, `action_idxs` (-1 where something was searched for), `images` (512
    numbers, or 0 for none; they may be absent) and mostly `actions`, which alone tells what was searched for. A search
    of unknown words is left out, as is a trajectory of which nothing remains.

    Args:
        path: the file.
        goals: for the split.
        images: takes the image features; None drops them.

    Raises:
        MissingData, BadRecord: it is not there, or a line is no trajectory; the message names file and line.
    """
    path = Path(path)
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        row = _object(line, where)
        states = _texts(row, "states", where)
        goal = instruction_of(states[0]) if states else None
        if goal is None:
            raise BadRecord(f"{where}: the first state should be a search page that holds the instruction.")
        steps = tuple(_steps(row, states, images, where))
        if steps:
            demonstration = Demonstration(f"trajectory-{number}", goal, steps, source=path.name)
            yield Official(goals.split(goal), demonstration)


def read_goal_queries(path: str | Path, goals: OfficialGoals = NO_GOALS) -> Iterator[Official]:
    """The goals of `goal_query_map.json`, each with all that people searched for, one step a query.

    Raises:
        MissingData, BadRecord: it is not there, or no object of lists of texts.
    """
    path = Path(path)
    found = _json(path)
    if not isinstance(found, dict):
        raise BadRecord(f"{path}: should be an object of goals, as goal_query_map.json is.")
    for number, (goal, queries) in enumerate(found.items(), start=1):
        if not isinstance(queries, list) or not queries or not all(isinstance(query, str) for query in queries):
            raise BadRecord(f"{path}, goal {number} ({goal:.60}): should have a list of queries, has {queries!r:.80}.")
        page = f"WebShop\nInstruction: \n{goal}\n[button] Search [button_]\n"
        steps = tuple(DemonstrationStep(page, (f"search[{query}]",), 0) for query in queries)
        yield Official(goals.split(goal), Demonstration(f"goal-{number}", goal, steps, source=path.name))


def instruction_of(page: str) -> str | None:
    r"""The instruction of a search page, price clause included; None of any other page.

    >>> instruction_of("Amazon Shopping Game\nInstruction: \ni need a shoe\n[button] Search [button_]")
    'i need a shoe'
    """
    heading, _, rest = page.strip().partition("\n")
    label, colon, text = rest.partition(":")
    text = text.strip()
    if heading.strip().lower() not in _HEADINGS or label.strip().lower() != "instruction" or not colon:
        return None
    if text.lower().endswith(_SEARCH_BUTTON):
        text = text[: -len(_SEARCH_BUTTON)].strip()
    return text or None


def _steps(
    row: Mapping[str, Any], states: Sequence[str], images: Images | None, where: str
) -> Iterator[DemonstrationStep]:
    listed, chosen = (_column(row, name, states, where) for name in ("available_actions", "action_idxs"))
    nothing = [None] * len(states)
    pictures, made = (_column({name: nothing, **row}, name, states, where) for name in ("images", "actions"))
    for number, (state, actions, choice) in enumerate(zip(states, listed, chosen, strict=True)):
        if choice == _SEARCH_STEP:
            search = made[number]
            if isinstance(search, str) and search.startswith("search["):
                yield DemonstrationStep(state, (search,), 0)
            continue
        place = f"{where}, step {number + 1}"
        if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
            raise BadRecord(f"{place}: the available actions should be texts, are {actions!r:.80}.")
        if type(choice) is not int or not 0 <= choice < len(actions):
            raise BadRecord(f"{place}: the action is number {choice!r:.80}, but there are {len(actions)}, from 0.")
        yield DemonstrationStep(state, tuple(actions), choice, _image(pictures[number], images, place))


def _column(row: Mapping[str, Any], name: str, states: Sequence[str], where: str) -> list[Any]:
    column = row.get(name)
    if not isinstance(column, list) or len(column) != len(states):
        raise BadRecord(f'{where}: "{name}" should be a list of {len(states)}, one for each of "states".')
    return column


def _image(image: object, images: Images | None, where: str) -> str | None:
    if image is None or image == 0:
        return None
    if not isinstance(image, list) or len(image) != FEATURES or not all(type(one) in (int, float) for one in image):
        raise BadRecord(f"{where}: an image is 0 or {FEATURES} numbers, not {image!r:.80}.")
    if images is None:
        return None
    with np.errstate(over="ignore"):  # what is too large for the store is refused there
        return images.add(np.asarray(image, dtype=np.float32))


def _texts(row: Mapping[str, Any], name: str, where: str) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise BadRecord(f'{where}: "{name}" should be a list of texts, is {value!r:.80}.')
    return value


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{where}: not JSON in UTF-8 ({error}).") from None
    if not isinstance(row, dict):
        raise BadRecord(f"{where}: a trajectory is a JSON object, not {type(row).__name__}.")
    return row


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise MissingData(f"{path} is no file. The official ones are named in docs/demonstrations.md.") from None


def _json(path: Path) -> Any:
    content = b"".join(line for _, line in _lines(path))
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{path}: not JSON in UTF-8 ({error}).") from None
