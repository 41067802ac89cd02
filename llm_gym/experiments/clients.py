"""The models of an experiment: asked again where that helps, written down, and asked every question once."""

from __future__ import annotations

from pathlib import Path

from llm_gym.errors import EndpointDown, InvalidSetting
from llm_gym.experiments.ledger import Ledger
from llm_gym.llm import Cached, ChatClient, Completion, OpenAICompatible, Prices, Request, Retrying, Transcribed
from llm_gym.llm.layer import Layer
from llm_gym.policies.agents.clients import SCRIPTED
from llm_gym.policies.agents.scripted_model import ScriptedModel

ANSWERS, CALLS, PROMPTS = "answers", "calls.jsonl", "prompts"
"""Below the folder of an experiment: the cache, the list of what was paid for, and what the model was asked."""


class Reached(Layer):
    """Until a model has answered once, an endpoint that cannot be reached is a wrong setting: waiting is no help."""

    def __init__(self, client: ChatClient) -> None:
        super().__init__(client)
        self._reached = False

    def complete(self, request: Request) -> Completion:
        try:
            completion = self.client.complete(request)
        except EndpointDown as error:
            if self._reached:
                raise
            raise InvalidSetting(str(error)) from error
        self._reached = True
        return completion


def named(
    model: str, base_url: str | None = None, key_variable: str | None = None, timeout_s: float = 60
) -> ChatClient:
    """A model by its name: "scripted", or one behind an endpoint; the arguments are those of `OpenAICompatible`."""
    if model == SCRIPTED:
        return ScriptedModel()
    return Retrying(Reached(OpenAICompatible(model, base_url, key_variable, timeout_s)))


def kept(client: ChatClient, out: Path, prices: Prices, budget_usd: float | None = None) -> ChatClient:
    """A client that shares the cache, the list of calls and the prompts of the experiment in a folder."""
    return Transcribed(Cached(Ledger(client, out / CALLS, prices, budget_usd), out / ANSWERS), out / PROMPTS)
