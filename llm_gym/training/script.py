"""How the scripts in `train/` are started: arguments, log, and one sentence where something is wrong."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import tyro
from rich.console import Console

from llm_gym.errors import LLMGymError

_QUIET = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
_WRONG, _INTERRUPTED = 2, 130

A = TypeVar("A")


def is_first_process() -> bool:
    """Whether this process writes and speaks, of the several that `accelerate launch` may have started."""
    return os.environ.get("RANK", "0") == "0"


def run(main: Callable[[A], Path], arguments: type[A], description: str | None) -> None:
    """Read the command line, train, and say where the result is; the process ends with 0, 2 or 130 as `llm-gym` does.

    Args:
        main: the script.
        arguments: a dataclass, one argument of the command line a field.
        description: for `--help`.
    """
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    for name in ("__main__", "llm_gym"):
        logging.getLogger(name).setLevel(logging.INFO if is_first_process() else logging.WARNING)
    try:
        folder = main(tyro.cli(arguments, description=description, config=(tyro.conf.FlagCreatePairsOff,)))
    except KeyboardInterrupt as interrupt:
        console.print(str(interrupt) or "Interrupted.", markup=False)
        sys.exit(_INTERRUPTED)
    except (LLMGymError, OSError) as error:
        console.print(f"error: {error}", markup=False)
        sys.exit(_WRONG)
    if is_first_process():
        console.print(f"{folder} is ready.", markup=False)
