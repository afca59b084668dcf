"""Where datasets are: local paths and URIs as small values, opened on any machine, and files that appear whole.

A location names a place and never carries a secret: credentials are found where it is opened, in the usual
environment of the filesystem (for S3: ``AWS_ACCESS_KEY_ID``, profiles, instance roles). What a file holds is not known
here.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pddl_eval.errors import RunError, UserError

S3_ATTEMPTS = 6
"""Tries of one request inside the S3 client, with growing pauses."""

PUT_ATTEMPTS = 4
"""Tries of one whole upload, after the client's own have failed, a second and more apart."""

OBJECT_STORES = ("s3", "gs", "gcs", "abfs", "abfss")
"""Schemes of stores where a written object appears when it is complete; elsewhere it takes a rename."""

SPOOL_BYTES = 64 * 2**20
"""Of a file on its way to another machine: what is held in memory. The rest waits on the local disk."""

TEMPORARY = re.compile(r"\..*\.[0-9a-f]{32}\.tmp")
"""The names under which files are written aside before they are renamed."""


class DatasetError(UserError):
    """An input or output that cannot be used, in one sentence."""


class OutputError(RunError):
    """Nothing more can be written to the output, so the run cannot go on."""


@dataclass(frozen=True, slots=True)
class Store:
    """A filesystem by name: ``root`` is empty for the local one, else a URI's scheme and authority.

    ``endpoint`` and ``region`` are S3's, taken from the environment where the run was started, so that workers
    elsewhere talk to the same one.
    """

    root: str = ""
    endpoint: str = ""
    region: str = ""

    @property
    def scheme(self) -> str:
        return self.root.partition("://")[0]


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder: its store and its path there (absolute for the local filesystem, ``bucket/key`` for S3)."""

    store: Store
    path: str

    def __truediv__(self, name: str) -> Location:
        return replace(self, path=f"{self.path.rstrip('/')}/{name}")

    def __str__(self) -> str:
        """As a person would write it: ``/data/pairs`` or ``s3://bucket/pairs``."""
        scheme = self.store.scheme
        return f"{scheme}://{self.path}" if scheme in ("s3", "gs", "gcs") else self.store.root + self.path

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

    Raises ``DatasetError`` for a URI that no filesystem understands, and for one that carries a password, which would
    end up in manifests and logs.

    >>> str(locate("/data/runs/../pairs"))
    '/data/pairs'
    """
    text = os.fspath(place)
    scheme, _, rest = text.partition("://") if "://" in text else ("", "", text)
    scheme = scheme.lower()
    if scheme in ("", "file"):
        path = unquote(urlsplit(text).path) if scheme else text
        # Not resolve(): a link's own name says more than that of its target (Hugging Face's cache is all links).
        return Location(Store(), os.path.abspath(Path(path).expanduser()))  # noqa: PTH100
    authority = rest.partition("/")[0]
    if "@" in authority:
        raise DatasetError(
            f"{scheme}://…@{authority.rpartition('@')[2]} carries credentials, which would end up in logs: "
            "leave them to the environment (AWS_ACCESS_KEY_ID, a profile or a role)."
        )
    if scheme == "s3":
        if not authority:
            raise DatasetError(f"{text} names no bucket: write s3://bucket/folder.")
        return Location(_s3_store(authority), rest.strip("/"))
    try:
        _, path = fs.FileSystem.from_uri(text)
    except (pa.ArrowException, ValueError, OSError, ImportError) as error:
        raise DatasetError(f"No filesystem opens {text}: {_first_sentence(error)}") from None
    return Location(Store(f"{scheme}://{authority}"), path.rstrip("/"))


def read_bytes(location: Location) -> bytes:
    """The content of a small file; raises ``DatasetError`` where it cannot be read."""
    with dataset_errors(location, "read"), location.filesystem.open_input_stream(location.path) as stream:
        return bytes(stream.read())


def put_bytes(location: Location, content: bytes | memoryview) -> None:
    """Write a small file, whole or not at all; raises ``OutputError``."""
    with new_file(location) as file:
        file.write(content)


@contextmanager
def new_parquet(
    location: Location, schema: pa.Schema, metadata: Mapping[str, str] | None = None
) -> Iterator[pq.ParquetWriter]:
    """The writer of a Parquet file that appears whole, when the block ends without an error; raises ``OutputError``."""
    with (
        new_file(location) as file,
        pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield writer
        writer.add_key_value_metadata(dict(metadata or {}))


@contextmanager
def new_file(location: Location) -> Iterator[IO[bytes]]:
    """An open file that appears at the location, whole, when the block ends without an error.

    On a filesystem it is written aside under a hidden name (on the local one: and flushed to the disk) and renamed;
    on an object store it is one upload, tried again when it fails. Raises ``OutputError``, and leaves nothing
    half-written behind.
    """
    with dataset_errors(location, "write"):
        if location.is_local:
            with _new_local_file(Path(location.path)) as file:
                yield file
        else:
            with SpooledTemporaryFile(SPOOL_BYTES, prefix="pddl-eval-") as spool:
                yield spool
                for attempt in range(1, PUT_ATTEMPTS + 1):
                    try:
                        spool.seek(0)
                        _upload(location, spool)
                        break
                    except OSError as error:
                        if attempt == PUT_ATTEMPTS or re.search("NO_SUCH_BUCKET|ACCESS_DENIED", str(error)):
                            raise
                        time.sleep(2 ** (attempt - 1))


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
    for path in Path(folder.path).glob(".*.tmp") if folder.is_local else ():
        if TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


@contextmanager
def dataset_errors(location: Location, doing: str) -> Iterator[None]:
    """Turn what a filesystem or the Parquet reader raises into the sentence a person needs.

    ``doing`` is ``"read"`` or ``"write"``; a failed write is an ``OutputError``, anything else a ``DatasetError``.
    """
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        kind = OutputError if doing == "write" else DatasetError
        raise kind(_what_failed(error, location, doing)) from None


def _what_failed(error: Exception, location: Location, doing: str) -> str:
    text = str(error)
    code = getattr(error, "errno", None)
    endpoint = location.store.endpoint or "S3"
    cannot = f"cannot {doing} {location}"
    if "NO_SUCH_BUCKET" in text:
        return f"There is no bucket {location.path.partition('/')[0]} at {endpoint}: {cannot}."
    if isinstance(error, PermissionError) or "ACCESS_DENIED" in text:
        return f"Permission denied: {cannot}."
    if code == errno.ENOSPC:
        return f"No space is left on the device: {cannot}; free some and start the run again."
    if code == errno.EROFS:
        return f"The filesystem is read-only: {cannot}."
    if isinstance(error, FileNotFoundError):
        return f"There is no {location}."
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return f"C{cannot[1:]}: a part of this path is a file and not a folder."
    if "NETWORK_CONNECTION" in text:
        return f"The object store at {endpoint} does not answer: {cannot}."
    return f"Cannot {doing} {location}: {_first_sentence(error)}"


def _first_sentence(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:300].rstrip(".") + "."


def _aside(name: str) -> str:
    return f".{name[:150]}.{uuid4().hex}.tmp"


@contextmanager
def _new_local_file(path: Path) -> Iterator[IO[bytes]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(_aside(path.name))
    try:
        with aside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    # Makes the new name outlast a power cut; some network filesystems know no such call.
    folder = os.open(path.parent, os.O_RDONLY)
    with suppress(OSError):
        os.fsync(folder)
    os.close(folder)


def _upload(location: Location, content: IO[bytes]) -> None:
    filesystem, path = location.filesystem, location.path
    if location.store.scheme in OBJECT_STORES:
        with filesystem.open_output_stream(path) as stream:
            shutil.copyfileobj(content, stream)
        return
    folder, _, name = path.rpartition("/")
    aside = f"{folder}/{_aside(name)}"
    filesystem.create_dir(folder, recursive=True)
    try:
        with filesystem.open_output_stream(aside) as stream:
            shutil.copyfileobj(content, stream)
        filesystem.move(aside, path)
    except BaseException:
        with suppress(OSError):
            filesystem.delete_file(aside)
        raise


@lru_cache(maxsize=16)
def _open_filesystem(store: Store) -> fs.FileSystem:
    if not store.root:
        return fs.LocalFileSystem()
    if store.scheme != "s3":
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
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return Store("s3://", endpoint.rstrip("/"), region or ("us-east-1" if endpoint else _region_of_bucket(bucket)))


@lru_cache(maxsize=64)
def _region_of_bucket(bucket: str) -> str:
    with suppress(OSError):
        return str(fs.resolve_s3_region(bucket))
    return ""


def _is_loopback(endpoint: str) -> bool:
    host = urlsplit(f"//{endpoint}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
