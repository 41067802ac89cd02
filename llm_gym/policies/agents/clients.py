"""The client that an agent asks, from what its constructor was told."""

from __future__ import annotations

from llm_gym.errors import InvalidSetting
from llm_gym.llm import ChatClient, Counted, OpenAICompatible, Retrying
from llm_gym.policies.agents.scripted_model import ScriptedModel

SCRIPTED = "scripted"


def client_of(model: ChatClient | str, base_url: str | None, key_variable: str | None) -> ChatClient:
    """A client as it is; for a name a model behind an endpoint, asked again where that helps, and priced.

    Raises:
        InvalidSetting: it is neither.
    """
    if model == SCRIPTED:
        return ScriptedModel()
    if isinstance(model, str):
        return Counted(Retrying(OpenAICompatible(model, base_url, key_variable)))
    if not hasattr(model, "complete"):
        raise InvalidSetting(f'model is a chat client, the name of a model, or "{SCRIPTED}", not {model!r}.')
    return model
