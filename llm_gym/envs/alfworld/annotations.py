"""What people wrote who saw a video of the solution: goals in their own words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from llm_gym.envs.alfworld.sources import ANNOTATION_FILE, find_files
from llm_gym.errors import BadRecord

Annotations = dict[tuple[str, str], tuple[str, ...]]
"""Split and task id → goals in people's words."""


def read_annotations(source: Path) -> Annotations:
    """The goals in every `traj_data.json` of a folder or an archive; empty where there is none.

    Raises:
        MissingData, DataError, BadRecord: the source or a file cannot be read; the message names it.
    """
    files = find_files(source, ANNOTATION_FILE)
    return {(file.split, file.task_id): descriptions(file.content, file.where) for file in files}


def descriptions(content: bytes, where: str) -> tuple[str, ...]:
    """What people wrote in a `traj_data.json`, as goals; empty descriptions are left out.

    Raises:
        BadRecord: the file breaks the format.
    """
    try:
        data: Any = orjson.loads(content)
        texts = [annotation["task_desc"] for annotation in data["turk_annotations"]["anns"]]
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{where} is no JSON: {error}.") from error
    except (KeyError, TypeError) as error:
        raise BadRecord(f"{where} holds no turk_annotations with a task_desc each.") from error
    if not all(isinstance(text, str) for text in texts):
        raise BadRecord(f"{where}: a task_desc is no text.")
    return tuple(as_goal(text) for text in texts if text.strip(" .\n\t"))


def as_goal(description: str) -> str:
    """A description as the goal of a game: its words, one blank between them, and one full stop.

    The original cleans nothing. It puts what people typed into the sentence of its grammar,
    `grammar_str.replace("UNKNOWN GOAL", task_desc)` with `Your task is to: UNKNOWN GOAL.`, so that more than half of
    its goals end in two full stops, a seventh have blanks before the last one, and one with a line break cannot be
    loaded. Words and case are the same here.

    >>> as_goal(" Put a clean cup  on the table. ")
    'Put a clean cup on the table.'
    """
    return " ".join(description.split()).rstrip(". ") + "."
