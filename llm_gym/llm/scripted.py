"""A model whose answers are known beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from llm_gym.core import Usage
from llm_gym.errors import ChatError, UnusableAnswer
from llm_gym.llm.chat import Completion, Message, Request
from llm_gym.llm.locks import one_at_a_time
from llm_gym.llm.tokens import count_tokens

Answer = str | Completion | ChatError
"""A text is an answer whose tokens are counted; an error is raised."""


class ScriptedClient:
    """Answers from a list, one after the other, or from a function of the request.

    A function of a module can be pickled; a function that depends on the request alone gives the same run whatever is
    asked at the same moment. The copy of a list in another process begins where this one is.
    """

    def __init__(self, answers: Sequence[Answer] | Callable[[Request], Answer], model: str = "scripted") -> None:
        self._answers = answers
        self._model = model
        self._given = 0
        self._lock = one_at_a_time()

    @property
    def model(self) -> str:
        return self._model

    def settings(self) -> dict[str, Any]:
        if callable(self._answers):
            name = getattr(self._answers, "__qualname__", type(self._answers).__qualname__)
        else:
            name = hashlib.sha256(repr(list(self._answers)).encode()).hexdigest()[:16]
        return {"client": "scripted", "model": self._model, "answers": name}

    def complete(self, request: Request) -> Completion:
        answer = self._answers(request) if callable(self._answers) else self._next(self._answers)
        if isinstance(answer, ChatError):
            raise answer
        completion = Completion(answer, model=self._model) if isinstance(answer, str) else answer
        if completion.usage != Usage():
            return completion
        reply = Message("assistant", completion.text, completion.tool_calls)
        counted = Usage(count_tokens(request.messages, self._model), count_tokens([reply], self._model))
        return replace(completion, usage=counted)

    def _next(self, answers: Sequence[Answer]) -> Answer:
        with self._lock:
            if self._given >= len(answers):
                raise UnusableAnswer(f"The script ends after {len(answers)} answers; another was asked for.")
            self._given += 1
            return answers[self._given - 1]
