"""At most so many questions at once."""

from __future__ import annotations

from llm_gym.errors import InvalidSetting
from llm_gym.llm.chat import ChatClient, Completion, Request
from llm_gym.llm.layer import Layer
from llm_gym.llm.locks import Slots


class Limited(Layer):
    """Lets at most `concurrency` calls be in flight; the others wait for their turn. Every process counts its own."""

    def __init__(self, client: ChatClient, concurrency: int) -> None:
        super().__init__(client)
        if concurrency < 1:
            raise InvalidSetting(f"concurrency must be 1 or more, got {concurrency}.")
        self._slots = Slots(concurrency)

    def complete(self, request: Request) -> Completion:
        with self._slots:
            return self.client.complete(request)
