"""Demonstrations: recorded, generated, read from the official files, and kept in one format."""

from llm_gym.demonstrations.files import (
    Demonstrations,
    Header,
    check_world,
    read_demonstrations,
    write_demonstrations,
)
from llm_gym.demonstrations.record import Demonstration, DemonstrationStep
from llm_gym.demonstrations.recorder import Recorded, Recorder, Selection, record

__all__ = [
    "Demonstration",
    "DemonstrationStep",
    "Demonstrations",
    "Header",
    "Recorded",
    "Recorder",
    "Selection",
    "check_world",
    "read_demonstrations",
    "record",
    "write_demonstrations",
]
