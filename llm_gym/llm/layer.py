"""What all clients around a client have in common."""

from __future__ import annotations

from typing import Any

from llm_gym.llm.chat import ChatClient, Completion, Request


class Layer:
    """A client around a client. It does not change what is answered, and so has no settings of its own."""

    def __init__(self, client: ChatClient) -> None:
        self.client = client

    @property
    def model(self) -> str:
        return self.client.model

    def settings(self) -> dict[str, Any]:
        return self.client.settings()

    def complete(self, request: Request) -> Completion:
        return self.client.complete(request)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.client!r})"
