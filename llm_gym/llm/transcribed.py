"""Prompts that are kept whole, beside a trace that names them."""

from __future__ import annotations

import json
from pathlib import Path

from llm_gym.data import atomic_path
from llm_gym.errors import DataError
from llm_gym.llm.chat import ChatClient, Completion, Request
from llm_gym.llm.key import plain_request, prompt_digest
from llm_gym.llm.layer import Layer


class Transcribed(Layer):
    """Writes every request into a folder before it is asked, as `<digest>.json`; equal ones once.

    The digest is that of `llm_gym.llm.key.prompt_digest`, which the trace of an agent shows. Threads and processes may
    share the folder.
    """

    def __init__(self, client: ChatClient, folder: str | Path) -> None:
        super().__init__(client)
        self.folder = Path(folder)

    def complete(self, request: Request) -> Completion:
        path = self.folder / f"{prompt_digest(request)}.json"
        if not path.exists():
            try:
                with atomic_path(path) as temporary:
                    temporary.write_text(json.dumps(plain_request(request), indent=1, ensure_ascii=False), "utf-8")
            except OSError as error:
                raise DataError(f"The folder of prompts {self.folder} cannot be written: {error}.") from error
        return self.client.complete(request)
