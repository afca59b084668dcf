"""Stores that fsspec opens: Hugging Face, Google Cloud Storage, Azure and web servers, as a filesystem of Arrow.

Each has a client of its own, with waits and errors of its own. Here every request ends within a bounded time and when
the command is told to stop, and every error is an ``OSError``. Credentials are found by the clients, in their usual
environment (``HF_TOKEN``; Google's default credentials; ``AZURE_STORAGE_ACCOUNT_KEY`` and its relatives).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import IO, Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import fs

from pddl_eval.errors import told_to_stop

ANSWER_SECONDS = 45
"""Time that a store has for one answer: a listing, a range of bytes."""

WRITE_SECONDS = 300
"""Time that a store has to take a piece of an upload."""

STOP_SECONDS = 0.2
"""How often a thread that waits looks whether the command is told to stop."""

Result = TypeVar("Result")


class Store(NamedTuple):
    """How a scheme is opened: ``extra`` is that of this project which installs its client.

    ``has_buckets``: the first part of a path is a bucket (or a container), that may be missing.
    """

    extra: str
    has_buckets: bool = False
    writable: bool = False


_GOOGLE = Store("gcs", has_buckets=True, writable=True)
_AZURE = Store("azure", has_buckets=True, writable=True)
_WEB = Store("http")

STORES: Mapping[str, Store] = {
    "hf": Store("hf"),
    "gs": _GOOGLE,
    "gcs": _GOOGLE,
    "abfs": _AZURE,
    "abfss": _AZURE,
    "az": _AZURE,
    "http": _WEB,
    "https": _WEB,
}


def open_store(scheme: str, root: str, account: str) -> fs.FileSystem:
    """The store of a scheme; ``root`` is a web server's URL, ``account`` the host of an Azure account, if named."""
    import fsspec

    # Else gcsfs asks a second service for the kind of each bucket, and warns where that does not answer.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    settings: dict[str, Any] = {}
    if account:
        name, _, domain = account.partition(".")
        settings = {"account_name": name, "account_host": f"{name}.{domain.replace('dfs.', 'blob.', 1)}"}
    elif scheme in ("http", "https"):
        import aiohttp

        waits = aiohttp.ClientTimeout(total=None, sock_connect=ANSWER_SECONDS, sock_read=ANSWER_SECONDS)
        settings = {"client_kwargs": {"timeout": waits}}
    client = _answer(lambda: fsspec.filesystem(scheme, **settings))
    return fs.PyFileSystem(_Handler(client, root if scheme in ("http", "https") else ""))


def version_in_store(filesystem: fs.FileSystem, path: str) -> str | None:
    """What a store says that changes with a file's content: a digest, a generation or a time; None if it says none."""
    handler = getattr(filesystem, "handler", None)
    if not isinstance(handler, _Handler):
        return None
    info = _answer(lambda: handler.fs.info(handler.prefix + path))
    names = ("etag", "ETag", "md5Hash", "blob_id", "generation", "Last-Modified", "last_modified", "mtime")
    return next((f"{name}:{info[name]}" for name in names if info.get(name)), None)


def _answer(request: Callable[[], Result], seconds: float = ANSWER_SECONDS) -> Result:
    """The result of a request; raises ``OSError`` if it fails or takes too long.

    It runs in a thread of its own, because some clients wait where no signal is heard.
    """
    outcome: list[tuple[Result | None, BaseException | None]] = []
    done = threading.Event()

    def run() -> None:
        try:
            outcome.append((request(), None))
        except BaseException as error:
            outcome.append((None, error))
        done.set()

    threading.Thread(target=run, daemon=True, name="pddl-eval-store").start()
    waited = 0.0
    while not done.wait(STOP_SECONDS):
        waited += STOP_SECONDS
        if told_to_stop.is_set():
            raise KeyboardInterrupt
        if waited >= seconds:
            raise TimeoutError(f"the store does not answer within {seconds:.0f} seconds")
    result, error = outcome[0]
    if error is None:
        return result  # type: ignore[return-value]
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
        error = cause  # A server that is not there is no missing file.
    if isinstance(error, OSError):
        raise error
    raise OSError(f"{type(error).__name__}: {error}") from None


class _Handler(fs.FSSpecHandler):  # type: ignore[misc]
    """Arrow's view of a client of fsspec; ``prefix`` stands before every path."""

    def __init__(self, client: Any, prefix: str) -> None:
        super().__init__(client)
        self.prefix = prefix

    def get_file_info(self, paths: Iterable[str]) -> list[fs.FileInfo]:
        return [self._info(path) for path in paths]

    def _info(self, path: str) -> fs.FileInfo:
        try:
            info = _answer(lambda: self.fs.info(self.prefix + path))
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)
        return self._create_file_info(path, info)

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        if self.prefix:
            return []  # A web server has no listings.
        listed = super().get_file_info_selector
        infos: list[fs.FileInfo] = _answer(lambda: listed(selector))
        return infos

    def create_dir(self, path: str, recursive: bool) -> None:
        _answer(lambda: super(_Handler, self).create_dir(path, recursive))

    def delete_file(self, path: str) -> None:
        _answer(lambda: super(_Handler, self).delete_file(path))

    def move(self, src: str, dest: str) -> None:
        _answer(lambda: super(_Handler, self).move(src, dest), WRITE_SECONDS)

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> pa.PythonFile:
        # Arrow reads in large pieces, of several columns by turns: reading ahead would only read twice.
        file = _answer(lambda: self.fs.open(self.prefix + path, "rb", cache_type="none"))
        return pa.PythonFile(_File(file, ANSWER_SECONDS), "r")

    def open_output_stream(self, path: str, _metadata: Any) -> pa.PythonFile:
        file = _answer(lambda: self.fs.open(self.prefix + path, "wb"))
        return pa.PythonFile(_File(file, WRITE_SECONDS), "w")


class _File:
    """A file of fsspec whose reads and writes end in time."""

    def __init__(self, file: IO[bytes], seconds: float) -> None:
        self._file = file
        self._seconds = seconds

    @property
    def closed(self) -> bool:
        return self._file.closed

    def read(self, size: int = -1) -> bytes:
        return _answer(lambda: self._file.read(size), self._seconds)

    def write(self, content: bytes) -> int:
        # A copy, because Arrow may free its bytes while a thread that took too long still has them.
        kept = bytes(content)
        return _answer(lambda: self._file.write(kept), self._seconds)

    def seek(self, place: int, whence: int = 0) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()

    def flush(self) -> None:
        """Nothing: what an object store has taken is seen when the file is closed."""

    def readable(self) -> bool:
        return self._file.readable()

    def writable(self) -> bool:
        return self._file.writable()

    def seekable(self) -> bool:
        return self._file.seekable()

    def close(self) -> None:
        with suppress(ValueError):  # Closed already.
            _answer(self._file.close, self._seconds)
