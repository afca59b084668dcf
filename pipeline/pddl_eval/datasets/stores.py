"""Stores that fsspec opens: Hugging Face, Google Cloud Storage, Azure and web servers, as a filesystem of Arrow.

Each has a client of its own, with its own waits and errors. Here every request ends within a bounded time and when the
command is told to stop, and every error is an ``OSError``. Clients find credentials in their usual environment
(``HF_TOKEN``; Google's default credentials; ``AZURE_STORAGE_ACCOUNT_KEY`` and its relatives).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import fs

from pddl_eval.process import stop_requested

ANSWER_SECONDS = 45
"""Longest wait for one answer: a listing, a range of bytes."""

WRITE_SECONDS = 300
"""Longest wait until a store has taken a piece of an upload, or copied an object."""

STOP_SECONDS = 0.2
"""Interval at which a waiting thread looks whether the command is told to stop."""

MARKS = ("md5Hash", "etag", "ETag", "blob_id", "generation", "Last-Modified", "last_modified", "mtime")
"""What stores say of an object that changes with its content, first what stays when equal bytes are uploaded again.
Google's ``etag`` does not; that of S3 does (from the same program: it depends on the parts of a large upload)."""

OBJECT_STORES = ("s3", "gs", "gcs", "abfs", "abfss", "az")
"""Schemes of stores with buckets, where an object appears when it is complete."""

WEB = ("http", "https")

AZURE = ("abfs", "abfss", "az")

EXTRA_OF: Mapping[str, str] = (
    {"hf": "hf", "gs": "gcs", "gcs": "gcs"} | dict.fromkeys(AZURE, "azure") | dict.fromkeys(WEB, "http")
)
"""The extra of this project that installs a scheme's client. S3 and local files need none: Arrow reads them itself."""

Result = TypeVar("Result")


class Refused(OSError):
    """A store has refused a request, after the attempts of its own client."""


def open_store(scheme: str, root: str, account: str) -> fs.FileSystem:
    """The store of a scheme; ``root`` is a web server's URL, ``account`` the host of an Azure account, if named."""
    import fsspec

    # Else gcsfs asks a second service for the kind of each bucket, and warns where that does not answer.
    os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    settings: dict[str, Any] = {}
    if scheme in WEB:
        import aiohttp

        waits = aiohttp.ClientTimeout(total=None, sock_connect=ANSWER_SECONDS, sock_read=ANSWER_SECONDS)
        settings = {"client_kwargs": {"timeout": waits}}
    elif scheme in OBJECT_STORES:
        # Other processes write there too: a listing must be of now.
        settings = {"use_listings_cache": False}
    if account:
        name, _, domain = account.partition(".")
        settings |= {"account_name": name, "account_host": f"{name}.{domain.replace('dfs.', 'blob.', 1)}"}
    client = _answer(lambda: fsspec.filesystem(scheme, **settings), ANSWER_SECONDS)
    return fs.PyFileSystem(_Handler(_Bounded(client, root if scheme in WEB else ""), has_listings=scheme not in WEB))


def version_in_store(filesystem: fs.FileSystem, path: str) -> str | None:
    """What a store says that changes with a file's content: a digest, a generation or a time; None if it says none."""
    handler = getattr(filesystem, "handler", None)
    if filesystem.type_name == "s3":
        with filesystem.open_input_stream(path) as stream:
            info = {name: value.decode() for name, value in stream.metadata().items()}
    elif isinstance(handler, _Handler):
        info = handler.fs.info(path)
    else:
        return None
    return next((f"{name}:{info[name]}" for name in MARKS if info.get(name)), None)


def _answer(request: Callable[[], Result], seconds: float) -> Result:
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
        if stop_requested.is_set():
            raise KeyboardInterrupt
        if waited >= seconds:
            raise TimeoutError(f"the store does not answer within {seconds:.0f} seconds")
    result, error = outcome[0]
    if error is None:
        return result  # type: ignore[return-value]
    cause = error.__cause__
    if isinstance(error, FileNotFoundError) and isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
        error = cause  # A server that is not there is no missing file.
    if isinstance(error, (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError)):
        raise error
    refused = Refused(str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}")
    refused.errno = getattr(error, "errno", None)
    raise refused from None


class _Bounded:
    """A client of fsspec, or a file of one, whose methods are requests that end in time.

    ``prefix`` stands before every path.
    """

    def __init__(self, inner: Any, prefix: str = "") -> None:
        self._inner = inner
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def request(*arguments: Any, **keywords: Any) -> Any:
            if self._prefix:
                arguments = (self._prefix + arguments[0], *arguments[1:])
            seconds = WRITE_SECONDS if name in ("mv", "write", "close") else ANSWER_SECONDS
            return _answer(lambda: found(*arguments, **keywords), seconds)

        return request


class _Handler(fs.FSSpecHandler):  # type: ignore[misc]
    """Arrow's view of a client of fsspec."""

    def __init__(self, client: _Bounded, has_listings: bool) -> None:
        super().__init__(client)
        self._has_listings = has_listings

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        return super().get_file_info_selector(selector) if self._has_listings else []

    def open_input_stream(self, path: str) -> pa.PythonFile:
        return self.open_input_file(path)

    def open_input_file(self, path: str) -> pa.PythonFile:
        # Arrow reads in large pieces, of several columns by turns: reading ahead would only read twice.
        return pa.PythonFile(_Bounded(self.fs.open(path, "rb", cache_type="none")), "r")

    def open_output_stream(self, path: str, _metadata: Any) -> pa.PythonFile:
        return pa.PythonFile(_Written(self.fs.open(path, "wb")), "w")


class _Written(_Bounded):
    def write(self, content: Any) -> Any:
        # A copy, because Arrow may free its bytes while a thread that took too long still has them.
        kept = bytes(content)
        return _answer(lambda: self._inner.write(kept), WRITE_SECONDS)
