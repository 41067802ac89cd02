"""Fetching a file over HTTP. It goes on where it stopped, and is there only when it is whole and right."""

from __future__ import annotations

import contextlib
import fcntl
import http.client
import json
import logging
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, NoReturn

from llm_gym.data import sha256_of, write_atomically
from llm_gym.errors import DataMismatch, InvalidSetting, MissingData

Progress = Callable[[int, int | None], None]
"""Bytes that are there, bytes in all (None: the server does not say)."""

_BLOCK_BYTES = 1 << 16
_LONGEST_PAUSE_S = 30.0
_PASSING = {408, 425, 429, 500, 502, 503, 504}
"""Answers that may be another one a little later."""
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")

_log = logging.getLogger(__name__)


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None,
    max_bytes: int,
    attempts: int = 5,
    timeout_s: float = 30.0,
    progress: Progress | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Path:
    """Fetch a file, unless it is there.

    What arrives lies in `<target>.part` until all of it has come. A call that finds such a beginning asks for the rest,
    and begins anew if the file has changed in the meantime.

    Args:
        url: `http:` or `https:`. Redirections are followed.
        target: where the file appears, whole.
        sha256: hexadecimal digest that it must have; None takes what comes.
        max_bytes: a longer file is refused, so that no server can fill the disk.
        attempts: how often a connection that breaks, or a server out of order, is asked.
        timeout_s: so long may a server be silent.
        progress: called as bytes arrive.
        pause: waits before another attempt; gets seconds.

    Returns:
        `target`.

    Raises:
        InvalidSetting: the address is no HTTP address, or another process is fetching the file.
        MissingData: the file is not there, or the server cannot be reached. What has arrived is kept.
        DataMismatch: it is too long, or its content is another one. It was removed.
    """
    _refuse_other_addresses(url)
    if target.is_file() and (sha256 is None or sha256_of(target) == sha256):
        return target
    with _Partial.opened(target) as partial:
        request = _Request(url, max_bytes, timeout_s, progress or _no_progress)
        for attempt in range(attempts):
            try:
                request.fetch_rest(partial)
                break
            except _Broken as broken:
                reason = str(broken)
            if attempt + 1 < attempts:
                seconds = min(_LONGEST_PAUSE_S, 2.0**attempt)
                _log.warning("%s: %s. Trying again in %g s", url, reason, seconds)
                pause(seconds)
        else:
            kept = f" {partial.size:,} bytes have arrived and are kept: the next call goes on there." * bool(
                partial.size
            )
            raise MissingData(f"{url} cannot be fetched: {reason}. Check the network and try again.{kept}")
        partial.become(target, url, sha256)
    return target


class _Broken(Exception):
    """An attempt came to nothing; another one may not."""


@dataclass(frozen=True, slots=True)
class _Origin:
    """Which file a beginning is of: its address, the mark that changes with its content, its length."""

    url: str
    validator: str | None
    length: int | None


class _Partial:
    """The beginning of a file, in `<target>.part`; what it is of stands in `<target>.part.json`."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self._note = path.with_name(f"{path.name}.json")

    @classmethod
    @contextlib.contextmanager
    def opened(cls, target: Path) -> Iterator[_Partial]:
        """The beginning beside `target`, which one process at a time may write."""
        target.parent.mkdir(parents=True, exist_ok=True)
        path = target.with_name(f"{target.name}.part")
        with path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InvalidSetting(f"Another process is fetching {target}. Wait until it is done.") from None
            partial = cls(path, file)
            try:
                yield partial
            finally:
                if not partial.size:
                    partial.forget()
                    path.unlink(missing_ok=True)

    @property
    def size(self) -> int:
        return os.fstat(self._file.fileno()).st_size

    def origin(self, url: str) -> _Origin | None:
        """What the beginning is of; None when there is nothing to go on from."""
        try:
            origin = _Origin(**json.loads(self._note.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return origin if self.size and origin.url == url and origin.validator else None

    def restart(self, origin: _Origin) -> None:
        self._file.truncate(0)
        write_atomically(self._note, json.dumps(asdict(origin)).encode())

    def append(self, block: bytes) -> None:
        self._file.write(block)
        self._file.flush()  # a kill loses nothing that has arrived

    def forget(self) -> None:
        self._file.truncate(0)
        self._note.unlink(missing_ok=True)

    def become(self, target: Path, url: str, sha256: str | None) -> None:
        """Take the place of `target`, if the content is right."""
        if sha256 is not None and (found := sha256_of(self._path)) != sha256:
            self.forget()
            raise DataMismatch(
                f"{url} has another content than expected: SHA-256 {found} instead of {sha256}. "
                "What had arrived was removed."
            )
        os.fsync(self._file.fileno())
        self._path.replace(target)
        self._note.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Request:
    """A file that is wanted, and how to ask for it."""

    url: str
    max_bytes: int
    timeout_s: float
    progress: Progress

    def fetch_rest(self, partial: _Partial) -> None:
        """Ask once for what is still missing, and keep what comes.

        Raises:
            _Broken: it did not come to its end. MissingData, DataMismatch: there is no use in asking again.
        """
        known = partial.origin(self.url)
        if known is not None and known.length == partial.size:
            return
        with self._answer(partial, known) as response:
            if response.status == http.HTTPStatus.PARTIAL_CONTENT:
                origin = self._going_on(partial, known, response)
            else:
                origin = _origin_of(self.url, response)
                self._refuse_long(partial, origin.length or 0)
                partial.restart(origin)
            self.progress(partial.size, origin.length)
            for block in _blocks(response):
                self._refuse_long(partial, partial.size + len(block))
                partial.append(block)
                self.progress(partial.size, origin.length)
        if origin.length is not None and partial.size != origin.length:
            raise _Broken(f"the connection ended after {partial.size:,} of {origin.length:,} bytes")

    def _answer(self, partial: _Partial, known: _Origin | None) -> http.client.HTTPResponse:
        headers = {"User-Agent": "llm-gym", "Accept-Encoding": "identity"}
        if known is not None:
            headers |= {"Range": f"bytes={partial.size}-", "If-Range": str(known.validator)}
        try:
            response = _OPENER.open(urllib.request.Request(self.url, headers=headers), timeout=self.timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                self._refused(partial, error.code, error.reason)
        except urllib.error.URLError as error:
            raise _Broken(str(error.reason)) from error
        except (OSError, http.client.HTTPException) as error:
            raise _Broken(_told(error)) from error
        assert isinstance(response, http.client.HTTPResponse)
        if response.status not in (http.HTTPStatus.OK, http.HTTPStatus.PARTIAL_CONTENT):
            with response:
                self._refused(partial, response.status, response.reason)
        return response

    def _refused(self, partial: _Partial, status: int, reason: str) -> NoReturn:
        answer = f"the server answers {status} {reason}"
        if status == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and partial.size:
            partial.forget()
            raise _Broken(f"{answer}: the file has changed")
        if status in _PASSING:
            raise _Broken(answer)
        raise MissingData(f"{self.url} is not to be had: {answer}.")

    def _going_on(self, partial: _Partial, known: _Origin | None, response: http.client.HTTPResponse) -> _Origin:
        """The same file, from where the beginning ends; anything else spoils it."""
        span = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if known and span and int(span[1]) == partial.size and known.length in (None, int(span[2])):
            return known
        partial.forget()
        raise _Broken("the server sends another part of the file than it was asked for")

    def _refuse_long(self, partial: _Partial, size: int) -> None:
        if size > self.max_bytes:
            partial.forget()
            raise DataMismatch(f"{self.url} is longer than the {self.max_bytes:,} bytes that it may have.")


def _origin_of(url: str, response: http.client.HTTPResponse) -> _Origin:
    headers = response.headers
    tag = headers.get("ETag", "")
    strong = tag if tag and not tag.startswith("W/") else None  # a weak one does not promise equal bytes
    length = headers.get("Content-Length", "")
    return _Origin(url, strong or headers.get("Last-Modified"), int(length) if length.isdecimal() else None)


def _blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while block := response.read(_BLOCK_BYTES):
            yield block
    except (OSError, http.client.HTTPException) as error:
        raise _Broken(_told(error)) from error


def _told(error: Exception) -> str:
    return str(error) or type(error).__name__


def _no_progress(there: int, total: int | None) -> None:
    """Nobody watches."""


def _refuse_other_addresses(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and url.isascii() and " " not in url
    except ValueError:
        right = False
    if not right or not url.isprintable():
        raise InvalidSetting(f"An address begins with https:// or http://, got {url!r}.")


def _opener() -> urllib.request.OpenerDirector:
    """HTTP only: the standard one would read `file:` and `ftp:` too, also when a server redirects there."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


_OPENER = _opener()
