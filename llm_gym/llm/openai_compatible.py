"""A model behind any server that speaks OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from llm_gym.errors import InvalidSetting, suggestion
from llm_gym.llm.chat import Completion, Request
from llm_gym.llm.endpoint import Endpoint
from llm_gym.llm.protocol import Structure, body_of, completion_of


class OpenAICompatible:
    """A chat model of OpenAI, of another provider's compatible endpoint, of vLLM, Ollama or llama.cpp.

    How a schema is asked for is `structure`:

    - `"schema"`: as `response_format`, and the server keeps to it;
    - `"tools"`: as the arguments of a tool that has to be called;
    - `"text"`: not at all; the prompt has to say it. There are no tool calls then.

    A server that cannot do what is chosen is answered with `RequestRefused`.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_variable: str | None = "OPENAI_API_KEY",
        timeout_s: float = 60.0,
        structure: Structure = "schema",
        parameters: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Choose a model; nothing is asked yet.

        Args:
            model: as the endpoint names it.
            base_url: the address before `/chat/completions`; None: OpenAI's.
            key_variable: the environment variable that holds the key; None: no key is sent, as local servers like it.
            timeout_s: for the whole of an answer.
            structure: how a schema is asked for.
            parameters: sent with every request, over what the request says; None as a value leaves a parameter out
                (`{"max_tokens": None, "max_completion_tokens": 800}`). They are settings, so no secrets.
            name: what settings call the endpoint; None: its address. For servers whose port changes.

        Raises:
            InvalidSetting: one of these cannot work.
        """
        if structure not in get_args(Structure):
            raise InvalidSetting(
                f"Unknown structure {structure!r}. {suggestion(str(structure), [*get_args(Structure)])}"
            )
        if fixed := {"model", "messages", "stream"} & set(parameters or {}):
            raise InvalidSetting(f"parameters may not hold {', '.join(sorted(fixed))}.")
        self._model, self._structure, self._parameters = model, structure, dict(parameters or {})
        self._endpoint = Endpoint(base_url, key_variable, timeout_s)
        self._name = name or self._endpoint.url

    @property
    def model(self) -> str:
        return self._model

    def settings(self) -> dict[str, Any]:
        return {
            "client": "openai-compatible",
            "model": self._model,
            "endpoint": self._name,
            "structure": self._structure,
            "parameters": self._parameters,
        }

    def complete(self, request: Request) -> Completion:
        body = body_of(request, self._model, self._structure)
        sent = {name: value for name, value in body.items() if name not in self._parameters}
        extra = {name: value for name, value in self._parameters.items() if value is not None}
        asked = self._endpoint.asked(self._model)
        return completion_of(self._endpoint.post("chat", sent, extra, asked), request, self._structure, asked)

    def __repr__(self) -> str:
        return f"OpenAICompatible({self._model!r}, {self._name!r})"
