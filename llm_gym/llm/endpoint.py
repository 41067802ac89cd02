"""A server that speaks OpenAI's protocol: its address, its key, and how it fails."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from llm_gym.errors import AccessDenied, EndpointDown, InvalidSetting, UnusableAnswer
from llm_gym.extras import require
from llm_gym.llm.failures import Asked, failure
from llm_gym.llm.locks import one_at_a_time

OPENAI = "https://api.openai.com/v1"
_EXTRA = "llm"
_LARGEST = {"chat": 2**19, "embeddings": 2**26}
"""Bytes of an answer; a longer one is not read to its end."""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class Endpoint:
    """An address to which questions are posted.

    The key is read from the environment when the first question is asked, and is kept in no setting, error or pickle.
    Threads share one connection pool; every process makes its own.
    """

    def __init__(self, base_url: str | None = None, key_variable: str | None = "OPENAI_API_KEY", timeout_s: float = 60):
        """Choose.

        Args:
            base_url: the address before `/chat/completions`; None: OpenAI's.
            key_variable: the environment variable that holds the key; None: no key is sent, as local servers like it.
            timeout_s: for the whole of an answer.

        Raises:
            InvalidSetting: that is no address, or there is a secret in it.
        """
        url = (base_url or OPENAI).rstrip("/")
        try:
            parts, _ = urlsplit(url), urlsplit(url).port
        except ValueError as error:
            raise InvalidSetting(f"base_url is no address ({error}): {base_url!r}.") from error
        if parts.username or parts.password or parts.query:
            raise InvalidSetting("A base_url may hold no password and no query; the key belongs into the environment.")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidSetting(f"base_url must be like http://127.0.0.1:8080/v1, got {base_url!r}.")
        if not timeout_s > 0:
            raise InvalidSetting(f"timeout_s must be more than 0, got {timeout_s}.")
        self.url, self.key_variable, self.timeout_s = url, key_variable, timeout_s
        self._lock = one_at_a_time()
        self._connection: tuple[int, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None}

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"

    def post(
        self, kind: Literal["chat", "embeddings"], body: Mapping[str, Any], extra: Mapping[str, Any], asked: Asked
    ) -> bytes:
        """Ask, and give what is answered with status 200.

        Args:
            kind: what is asked for.
            body: parameters of the protocol.
            extra: further parameters.
            asked: for the sentences of errors.

        Raises:
            ChatError: nothing that is worth reading came back.
        """
        client = self._client()
        resource = client.chat.completions if kind == "chat" else client.embeddings
        headers = {"Authorization": require("openai", _EXTRA).omit} if self.key_variable is None else {}
        deadline = time.monotonic() + self.timeout_s
        with (
            self._failures(asked),
            resource.with_streaming_response.create(**body, extra_body=dict(extra), extra_headers=headers) as response,
        ):
            return self._read(response.iter_bytes(), _LARGEST[kind], deadline, asked)

    def asked(self, model: str) -> Asked:
        """For the sentences of errors.

        Raises:
            AccessDenied: there is no key.
        """
        return Asked(self.url, model, self.key_variable, self._key())

    def _read(self, chunks: Iterator[bytes], largest: int, deadline: float, asked: Asked) -> bytes:
        """All bytes of an answer that is neither endless nor endlessly slow."""
        content = bytearray()
        for chunk in chunks:
            content += chunk
            if len(content) > largest:
                raise UnusableAnswer(f"{asked.endpoint} answered more than {largest:,} bytes; the rest was not read.")
            if time.monotonic() > deadline:
                raise EndpointDown(f"{asked.endpoint} had not answered wholly after {self.timeout_s:g} s.")
        return bytes(content)

    @contextmanager
    def _failures(self, asked: Asked) -> Iterator[None]:
        """Errors of the packages below as errors of this one.

        The originals are not chained, for they hold what the server said, and that may hold the key.
        """
        openai, httpx = require("openai", _EXTRA), require("httpx2", _EXTRA)
        try:
            yield
        except openai.APIStatusError as error:
            raise failure(asked, error.status_code, error.response.headers, error.response.text) from None
        except (openai.APITimeoutError, httpx.TimeoutException):
            raise EndpointDown(f"{asked.endpoint} gave no answer in {self.timeout_s:g} s.") from None
        except openai.APIConnectionError as error:
            cause = asked.quoted(str(error.__cause__ or error))
            raise EndpointDown(f"{asked.endpoint} cannot be reached: {cause} Is the server running?") from None
        except httpx.HTTPError as error:
            raise EndpointDown(f"{asked.endpoint} broke off its answer: {asked.quoted(str(error))}") from None

    def _key(self) -> str:
        """The key; empty where none is sent."""
        if self.key_variable is None:
            return ""
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise AccessDenied(
                f"The environment variable {self.key_variable} holds no key for {self.url}. "
                f"Set it, or give key_variable=None for a server that needs none."
            )
        if not (key.isascii() and key.isprintable()):
            raise AccessDenied(f"The environment variable {self.key_variable} holds characters that no key has.")
        return key

    def _client(self) -> Any:
        with self._lock:
            if self._connection is None or self._connection[0] != os.getpid():
                self._connection = os.getpid(), self._connect()
            return self._connection[1]

    def _connect(self) -> Any:
        openai, key = require("openai", _EXTRA), self._key()
        # What is on this machine is never behind a proxy.
        local = urlsplit(self.url).hostname in _THIS_MACHINE
        client = openai.OpenAI(
            api_key=key or "none",
            base_url=self.url,
            timeout=self.timeout_s,
            max_retries=0,
            http_client=openai.DefaultHttpx2Client(trust_env=False, timeout=self.timeout_s) if local else None,
        )
        weakref.finalize(self, client.close)
        return client
