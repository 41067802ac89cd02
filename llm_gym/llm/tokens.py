"""How many tokens a text has, for a model.

With the package tiktoken, and its data for the model in `$TIKTOKEN_CACHE_DIR` (or in the folder where tiktoken keeps
what it has downloaded), they are counted as OpenAI's models count them. Nothing is downloaded: for all other models,
and where tiktoken or its data is lacking, a token is 4 bytes of UTF-8, rounded up for each text. That is near the truth
for English prose, and too few for rare names and code.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from llm_gym.extras import installed, require
from llm_gym.llm.chat import Message

ESTIMATE = "4 bytes a token"
PER_MESSAGE, PER_CONVERSATION = 3, 3
"""Tokens around each message, and before the answer, in OpenAI's chat format; used for all models."""

_DATA = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""Encoding → name of its file in tiktoken's folder, and the SHA-256 of that; another file would be downloaded again."""


def count_tokens(messages: Sequence[Message], model: str) -> int:
    """Tokens of a conversation, with the names and arguments of calls; an answer's own are not known."""
    if not messages:
        return 0
    count = text_counter(counter_name(model))
    texts = [text for message in messages for text in _texts(message)]
    return PER_CONVERSATION + PER_MESSAGE * len(messages) + sum(map(count, texts))


def count_text(text: str, model: str) -> int:
    """Tokens of a text by itself."""
    return text_counter(counter_name(model))(text)


@functools.cache
def counter_name(model: str) -> str:
    """How tokens are counted for a model on this machine: an encoding of tiktoken, or `4 bytes a token`.

    Prompts that are cut to a budget depend on it.
    """
    if not installed("tiktoken"):
        return ESTIMATE
    try:
        encoding: str = require("tiktoken", "llm").encoding_name_for_model(model)
    except KeyError:
        return ESTIMATE
    return encoding if encoding in _DATA and _is_here(*_DATA[encoding]) else ESTIMATE


@functools.cache
def text_counter(name: str) -> Callable[[str], int]:
    """The function that counts the tokens of a text, by the name of the counter."""
    if name == ESTIMATE:
        return lambda text: math.ceil(len(text.encode("utf-8", "replace")) / 4)
    encoding = require("tiktoken", "llm").get_encoding(name)
    return lambda text: len(encoding.encode_ordinary(text))


def _texts(message: Message) -> list[str]:
    calls = [text for call in message.tool_calls for text in (call.name, call.arguments)]
    return [message.content, message.role, *calls]


def _is_here(file: str, digest: str) -> bool:
    chosen = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR"))
    folder = Path(tempfile.gettempdir()) / "data-gym-cache" if chosen is None else Path(chosen)
    try:
        return bool(chosen != "") and hashlib.sha256((folder / file).read_bytes()).hexdigest() == digest
    except OSError:
        return False
