"""Where datasets live: local paths and URIs as small values that a worker on another machine can open again.

A location names a place and never carries a secret: credentials are found where it is opened, in the usual
environment of the filesystem (for S3: ``AWS_ACCESS_KEY_ID``, profiles, instance roles). Whatever goes wrong here
is a ``DatasetError`` that says in one sentence what and where.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pyarrow as pa
from pyarrow import fs

from pddl_eval.errors import RunError, UserError

S3_ATTEMPTS = 6
"""Tries of one request inside the S3 client, with growing pauses."""

PUT_ATTEMPTS = 4
"""Tries of one whole PUT, after the client's own have failed, a second and more apart."""

OBJECT_STORES = ("s3", "gs", "gcs", "abfs", "abfss")
"""Schemes of stores where a written object appears when it is complete; elsewhere it takes a rename."""

TEMPORARY = re.compile(r"\..*\.[0-9a-f]{32}\.tmp")
"""The names under which objects are written aside before they are renamed."""


class DatasetError(UserError):
    """What is wrong with an input, an output or a run, in one sentence for a person."""


class OutputError(RunError):
    """Nothing more can be written to the output, so going on is in vain."""


@dataclass(frozen=True, slots=True)
class Store:
    """A filesystem by name: ``root`` is empty for the local one, else a URI's scheme and authority.

    ``endpoint`` and ``region`` are S3's, taken from the environment where the run was started, so that workers
    elsewhere talk to the same one.
    """

    root: str = ""
    endpoint: str = ""
    region: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder: its store and its path there (absolute for the local filesystem, ``bucket/key`` for S3)."""

    store: Store
    path: str

    def __truediv__(self, name: str) -> Location:
        return replace(self, path=f"{self.path.rstrip('/')}/{name}")

    def __str__(self) -> str:
        """As a person would write it: ``/data/pairs`` or ``s3://bucket/pairs``."""
        scheme = self.store.root.partition("://")[0]
        if not scheme or scheme in ("s3", "gs", "gcs"):
            return f"{scheme}://{self.path}" if scheme else self.path
        return self.store.root + self.path

    @property
    def is_local(self) -> bool:
        return not self.store.root

    @property
    def filesystem(self) -> fs.FileSystem:
        """The opened filesystem; one for each store and process."""
        return _open_filesystem(self.store)

    def within(self, folder: Location) -> bool:
        """True for the folder itself and everything below it."""
        return self.store == folder.store and f"{self.path}/".startswith(f"{folder.path.rstrip('/')}/")


def locate(place: str | os.PathLike[str]) -> Location:
    """The location that a path or URI names.

    Raises ``DatasetError`` for a URI that no filesystem understands, and for one that carries a password: it would
    end up in manifests and logs.

    >>> str(locate("/data/runs/../pairs"))
    '/data/pairs'
    """
    text = os.fspath(place)
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    if scheme in ("", "file"):
        path = unquote(urlsplit(text).path) if scheme else text
        # Not resolve(): a link's own name says more than that of what it points to (Hugging Face's cache is all links).
        return Location(Store(), os.path.abspath(Path(path).expanduser()))  # noqa: PTH100
    authority = text.partition("://")[2].partition("/")[0]
    if "@" in authority:
        bare = authority.rpartition("@")[2]
        raise DatasetError(
            f"{scheme}://…@{bare} carries credentials, which would end up in logs: "
            "leave them to the environment (AWS_ACCESS_KEY_ID, a profile or a role)."
        )
    if scheme == "s3":
        path = text.partition("://")[2].strip("/")
        if not path:
            raise DatasetError(f"{text} names no bucket: write s3://bucket/folder.")
        return Location(_s3_store(path.partition("/")[0]), path)
    try:
        _, path = fs.FileSystem.from_uri(text)
    except (pa.ArrowException, ValueError, OSError, ImportError) as error:
        raise DatasetError(f"No filesystem opens {text}: {_first_sentence(error)}") from None
    return Location(Store(f"{scheme}://{authority}"), path.rstrip("/"))


def read_bytes(location: Location) -> bytes:
    """The content of a small file; ``DatasetError`` where it cannot be read."""
    with dataset_errors(location, "read"), location.filesystem.open_input_stream(location.path) as stream:
        return stream.read()


def put_bytes(location: Location, content: bytes | pa.Buffer) -> None:
    """Write a file that appears whole or not at all.

    On a filesystem it is written aside under a hidden name (on the local one: and flushed to the disk) and renamed;
    on an object store it is one PUT, tried again when it fails. Raises ``OutputError``, and leaves nothing
    half-written behind.
    """
    with dataset_errors(location, "write"):
        if location.is_local:
            _put_local(Path(location.path), content)
        else:
            _put_remote(location, content)


def list_files(folder: Location) -> dict[str, int]:
    """The files directly in a folder and their sizes in bytes; none where there is no folder yet."""
    with dataset_errors(folder, "read"):
        infos = folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True))
    return {info.base_name: info.size for info in infos if info.type == fs.FileType.File}


def remove_file(location: Location) -> None:
    """Delete a file if it is there; raises ``OutputError``."""
    with dataset_errors(location, "write"), suppress(FileNotFoundError):
        location.filesystem.delete_file(location.path)


def remove_temporary_files(folder: Location) -> None:
    """Delete what a killed writer left aside under hidden names; only the local filesystem has such files."""
    if folder.is_local:
        for path in Path(folder.path).glob(".*.tmp"):
            if TEMPORARY.fullmatch(path.name):
                with suppress(OSError):
                    path.unlink()


@contextmanager
def dataset_errors(location: Location, doing: str) -> Iterator[None]:
    """Turn what a filesystem or the Parquet reader raises into the sentence a person needs.

    ``doing`` is ``"read"`` or ``"write"``; a failed write is an ``OutputError``.
    """
    try:
        yield
    except DatasetError:
        raise
    except (OSError, pa.ArrowException) as error:
        kind = OutputError if doing == "write" else DatasetError
        raise kind(_what_failed(error, location, doing)) from None


def _what_failed(error: Exception, location: Location, doing: str) -> str:
    text = str(error)
    code = getattr(error, "errno", None)
    bucket = location.path.partition("/")[0]
    if "NO_SUCH_BUCKET" in text:
        return f"There is no bucket {bucket} at {location.store.endpoint or 'S3'}: cannot {doing} {location}."
    if isinstance(error, PermissionError) or "ACCESS_DENIED" in text:
        return f"Permission denied: cannot {doing} {location}."
    if code == errno.ENOSPC:
        return f"No space is left on the device: cannot {doing} {location}; free some and start the run again."
    if code == errno.EROFS:
        return f"The filesystem is read-only: cannot {doing} {location}."
    if isinstance(error, FileNotFoundError):
        return f"There is no {location}."
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return f"Cannot {doing} {location}: a part of this path is a file and not a folder."
    if "NETWORK_CONNECTION" in text:
        return f"The object store at {location.store.endpoint or 'S3'} does not answer: cannot {doing} {location}."
    return f"Cannot {doing} {location}: {_first_sentence(error)}"


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:300].rstrip(".") + "."


def _aside(name: str) -> str:
    return f".{name[:150]}.{uuid4().hex}.tmp"


def _put_local(path: Path, content: bytes | pa.Buffer) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(_aside(path.name))
    try:
        with aside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    # Makes the new name outlast a power cut; some network filesystems know no such call.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


def _put_remote(location: Location, content: bytes | pa.Buffer) -> None:
    for attempt in range(1, PUT_ATTEMPTS + 1):
        try:
            if location.store.root.partition("://")[0] in OBJECT_STORES:
                _write(location.filesystem, location.path, content)
            else:
                _write_and_rename(location.filesystem, location.path, content)
            return
        except OSError as error:
            if attempt == PUT_ATTEMPTS or "NO_SUCH_BUCKET" in str(error) or "ACCESS_DENIED" in str(error):
                raise
            time.sleep(2 ** (attempt - 1))


def _write(filesystem: fs.FileSystem, path: str, content: bytes | pa.Buffer) -> None:
    with filesystem.open_output_stream(path) as stream:
        stream.write(content)


def _write_and_rename(filesystem: fs.FileSystem, path: str, content: bytes | pa.Buffer) -> None:
    folder, _, name = path.rpartition("/")
    aside = f"{folder}/{_aside(name)}"
    filesystem.create_dir(folder, recursive=True)
    try:
        _write(filesystem, aside, content)
        filesystem.move(aside, path)
    except BaseException:
        with suppress(OSError):
            filesystem.delete_file(aside)
        raise


@lru_cache(maxsize=16)
def _open_filesystem(store: Store) -> fs.FileSystem:
    if not store.root:
        return fs.LocalFileSystem()
    if not store.root.startswith("s3://"):
        return fs.FileSystem.from_uri(f"{store.root}/")[0]
    scheme, _, endpoint = store.endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=endpoint or None,
        scheme=scheme or "https",
        region=store.region or None,
        # A partition is smaller than one part of a multipart upload, so a delayed open makes it a single PUT.
        allow_delayed_open=True,
        background_writes=False,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=S3_ATTEMPTS),
    )


def _s3_store(bucket: str) -> Store:
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint and "://" not in endpoint:
        endpoint = f"{'http' if _is_loopback(endpoint) else 'https'}://{endpoint}"
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    if endpoint and not region:
        region = "us-east-1"
    elif not region:
        region = _region_of_bucket(bucket)
    return Store("s3://", endpoint.rstrip("/"), region)


@lru_cache(maxsize=64)
def _region_of_bucket(bucket: str) -> str:
    try:
        return fs.resolve_s3_region(bucket)
    except OSError:
        return ""


def _is_loopback(endpoint: str) -> bool:
    host = urlsplit(f"//{endpoint}").hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
