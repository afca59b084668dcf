"""Where datasets are: local paths and URIs as small values, opened on any machine, and files that appear whole.

A location names a place and never carries a secret: credentials are found where it is opened, in the usual
environment of the filesystem (for S3: ``AWS_ACCESS_KEY_ID``, profiles, instance roles). What a file holds is not known
here.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import time
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TypeVar
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from pddl_eval.datasets.stores import AZURE, EXTRA_OF, OBJECT_STORES, WEB, open_store
from pddl_eval.errors import TRY_AGAIN, RunError, UserError, how_to_install
from pddl_eval.unchanged import digest_of_file

S3_ATTEMPTS = 6
"""Attempts at one request inside the S3 client, with growing pauses."""

STORE_ATTEMPTS = 5
"""Attempts at what a store refuses or fails, each after the client's own have failed and with credentials read anew."""

PAUSE_SECONDS = 1.0
"""Pause before the second attempt; each later one is twice as long."""

ONE_PUT_BYTES = 5 * 2**20
"""Larger objects may be uploaded in parts. A client that fails between two parts leaves an object of the first ones."""

SPOOL_BYTES = 64 * 2**20
"""Part of an object that is held in memory before its upload. The rest is on the local disk."""

TEMPORARY = re.compile(r"\..*\.[0-9a-f]{32}\.tmp")
"""Names of files that are not yet renamed."""

SECRET = re.compile(r"(?i)(?:^|[&-])(?:sig|signature|[a-z_-]*token|[a-z_-]*secret|password|credential|key)=")
"""Found in the query of a signed URL."""

PASSING = (errno.EIO, errno.ENOTCONN, errno.ESTALE, errno.ETIMEDOUT)
"""Errors of a network filesystem, or of its disk, that need not be there at the next start."""

LASTING = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError)
"""Errors of a store that will be there; all others may pass."""

LASTING_CODES = (
    "NO_SUCH_BUCKET",
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "InvalidToken",
    "Forbidden",
    "AuthorizationFailure",
    "AuthorizationPermissionMismatch",
)
"""Refusals of S3, Google Cloud Storage and Azure that will be there. Not among them is what renewed credentials or a
clock that is set mend: ExpiredToken, TokenRefreshRequired, RequestExpired, RequestTimeTooSkewed, and so on."""

LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?")
"""S3 endpoints without a scheme that mean plain HTTP."""


Result = TypeVar("Result")


class DatasetError(UserError):
    """An input or output cannot be used."""


class Unavailable(DatasetError):
    """An input or output cannot be used now: the same command may succeed later."""

    exit_code = TRY_AGAIN


class OutputError(RunError):
    """Nothing more can be written to the output."""


class OutputUnavailable(OutputError):
    """Nothing can be written to the output now: the same command may succeed later."""

    exit_code = TRY_AGAIN


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder: its ``path`` in a store (absolute for the local filesystem, ``bucket/key`` for object stores).

    ``root`` is empty for the local filesystem, else the URI's scheme, with its authority where that is no bucket.
    ``endpoint`` and ``region`` are S3's, taken from the environment where the run was started, so that workers
    elsewhere talk to the same store; the ``endpoint`` of Azure is the account's host, if the URI names it.
    """

    path: str
    root: str = ""
    endpoint: str = ""
    region: str = ""

    def __truediv__(self, name: str) -> Location:
        return Location(f"{self.path.rstrip('/')}/{name}", self.root, self.endpoint, self.region)

    def __str__(self) -> str:
        """As a person would write it: ``/data/pairs`` or ``s3://bucket/pairs``."""
        if self.endpoint and self.scheme in AZURE:
            container, _, rest = self.path.partition("/")
            return f"{self.root}{container}@{self.endpoint}/{rest}"
        return self.root + self.path

    @property
    def name(self) -> str:
        """The last part of the path, of a URL without its query."""
        path = self.path.partition("?")[0] if self.scheme in WEB else self.path
        return path.rpartition("/")[2]

    @property
    def parent(self) -> Location:
        """The folder that it is in."""
        return replace(self, path=self.path.rpartition("/")[0])

    @property
    def scheme(self) -> str:
        return self.root.partition("://")[0]

    @property
    def has_buckets(self) -> bool:
        """True where the first part of a path is a bucket."""
        return self.scheme in OBJECT_STORES

    @property
    def is_local(self) -> bool:
        return not self.root

    @property
    def filesystem(self) -> fs.FileSystem:
        """The opened filesystem; one for each store and process."""
        return _open_filesystem(self.root, self.endpoint, self.region)

    def within(self, folder: Location) -> bool:
        """True for the folder itself and everything below it."""
        same_store = replace(self, path=folder.path) == folder
        return same_store and f"{self.path}/".startswith(f"{folder.path.rstrip('/')}/")


def locate(place: str | os.PathLike[str]) -> Location:
    """The location that a path or URI names.

    Raises ``DatasetError`` for an empty text and for ``-``, for a URI that no filesystem understands or whose client is
    not installed, and for one that carries a password, which would end up in manifests and logs.

    >>> str(locate("/data/runs/../pairs"))
    '/data/pairs'
    """
    text = os.fspath(place)
    if text in ("", "-"):
        raise DatasetError(f"{text or 'An empty text'} is no place: name a file, a folder or a URI.")
    scheme, _, rest = text.partition("://") if "://" in text else ("", "", text)
    scheme = scheme.lower()
    if scheme in ("", "file"):
        path = unquote(urlsplit(text).path) if scheme else text
        # Not resolve(): a link's own name says more than that of its target (Hugging Face's cache is all links).
        return Location(os.path.abspath(Path(path).expanduser()))  # noqa: PTH100
    authority, _, path = rest.partition("/")
    container, at, account = authority.rpartition("@")
    if (at and (scheme not in AZURE or ":" in container)) or (scheme in WEB and SECRET.search(path.partition("?")[2])):
        raise DatasetError(
            f"{scheme}://…{at}{account} carries credentials, which would end up in logs: "
            "leave them to the environment (AWS_ACCESS_KEY_ID, a profile or a role)."
        )
    if scheme == "s3":
        if not authority:
            raise DatasetError(f"{text} names no bucket: write s3://bucket/folder.")
        return _s3_location(rest.strip("/"))
    if scheme in EXTRA_OF:
        return _store_location(scheme, authority, path)
    try:
        _, path = fs.FileSystem.from_uri(text)
    except (pa.ArrowException, ValueError, OSError, ImportError) as error:
        raise DatasetError(f"No filesystem opens {text}: {one_line(error)}.") from None
    return Location(path.rstrip("/"), f"{scheme}://{authority}")


def read_bytes(location: Location) -> bytes:
    """The content of a small file; raises ``DatasetError`` where it cannot be read."""

    def read() -> bytes:
        with location.filesystem.open_input_stream(location.path) as stream:
            return bytes(stream.read())

    with dataset_errors(location, "read"):
        return persistently(location, read)


def content_of(location: Location) -> str:
    """A digest of the bytes of a file; raises ``DatasetError`` where it cannot be read."""

    def read() -> str:
        with location.filesystem.open_input_stream(location.path) as stream:
            return digest_of_file(stream)

    with dataset_errors(location, "read"):
        return persistently(location, read)


def read_text(file: str) -> str:
    """The text of a PDDL file, or a plan's; ``-`` is standard input.

    Raises ``DatasetError`` where it cannot be read, or is in UTF-16 or UTF-32.
    """
    content = sys.stdin.buffer.read() if file == "-" else read_bytes(locate(file))
    start = content[:200]  # without a mark at its start, every other byte is 0
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or 3 * start.count(0) > len(start):
        raise DatasetError(f"{file} is in UTF-16 or UTF-32: save it as UTF-8.")
    return content.decode("utf-8", "replace")


def put_bytes(location: Location, content: bytes | memoryview, appears: Callable[[], Location] | None = None) -> None:
    """Write a small file, whole or not at all; as ``new_file``."""
    with new_file(location, appears) as file:
        file.write(content)


@contextmanager
def new_parquet(
    location: Location, schema: pa.Schema, appears: Callable[[], Location] | None = None
) -> Iterator[pq.ParquetWriter]:
    """The writer of a Parquet file that appears whole, when the block ends without an error; as ``new_file``."""
    with (
        new_file(location, appears) as file,
        pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        yield writer


@contextmanager
def new_file(location: Location, appears: Callable[[], Location] | None = None) -> Iterator[IO[bytes]]:
    """An open file that appears at the location, whole, when the block ends without an error.

    ``appears`` says then under which name of the same folder, if not under that one; it raises where the file may not
    appear any more.

    On a filesystem it is written under a hidden name, flushed to the disk where that is local, and renamed; to an
    object store it is one upload, tried again when it fails. There ``appears`` is asked before and after each attempt:
    an object may have been on its way for minutes. Raises ``OutputError``, and leaves nothing half-written.
    """
    if location.scheme in EXTRA_OF and not location.has_buckets:
        raise DatasetError(f"{location.root} can only be read: name another place for {location}.")
    write = _uploaded if location.has_buckets else _renamed
    with dataset_errors(location, "write"), write(location, appears or (lambda: location)) as file:
        yield file


def list_files(folder: Location) -> dict[str, int]:
    """The files directly in a folder and their sizes in bytes; none where there is no folder yet."""
    return {info.base_name: info.size for info in _infos(folder)}


def times_written(folder: Location) -> dict[str, float]:
    """When the files directly in a folder were written, in seconds since 1970 on the clock of their store."""
    return {info.base_name: info.mtime_ns / 1e9 for info in _infos(folder)}


def list_folders(folder: Location) -> list[str]:
    """The names of the folders directly in a folder, sorted; none where there is no folder yet."""
    return sorted(info.base_name for info in _infos(folder, fs.FileType.Directory))


def _infos(folder: Location, kind: fs.FileType = fs.FileType.File) -> list[fs.FileInfo]:
    selector = fs.FileSelector(folder.path, allow_not_found=True)
    with dataset_errors(folder, "read"):
        infos = persistently(folder, lambda: folder.filesystem.get_file_info(selector))
    here = folder.path.strip("/")  # Some clients of fsspec (adlfs) list what is in deeper folders as well.
    return [info for info in infos if info.type == kind and info.path.strip("/").rpartition("/")[0] == here]


def remove_folder(folder: Location) -> None:
    """Delete a folder with all that is in it, if it is there; raises ``OutputError``."""
    with dataset_errors(folder, "write"), suppress(FileNotFoundError):
        persistently(folder, lambda: folder.filesystem.delete_dir(folder.path))


def has_file(location: Location) -> bool:
    """Whether there is such a file, asked for alone; raises ``DatasetError`` where the store does not answer."""
    with dataset_errors(location, "read"):
        info = persistently(location, lambda: location.filesystem.get_file_info(location.path))
        return bool(info.type == fs.FileType.File)


def remove_file(location: Location) -> None:
    """Delete a file if it is there; raises ``OutputError``."""
    with dataset_errors(location, "write"), suppress(FileNotFoundError):
        persistently(location, lambda: location.filesystem.delete_file(location.path))


def remove_temporary_files(folder: Location, name: str = "") -> None:
    """Delete what killed writers left of a file, or of any file, in a folder of the local filesystem."""
    for path in Path(folder.path).glob(f".{name}*.tmp") if folder.is_local else ():
        if TEMPORARY.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


@contextmanager
def dataset_errors(location: Location, doing: str) -> Iterator[None]:
    """Turn what a filesystem or the Parquet reader raises into one sentence that names the location.

    ``doing`` is ``"read"`` or ``"write"``; a failed write is an ``OutputError``, a failed read a ``DatasetError``, both
    of the kind that may pass where the store does not answer or credentials have expired.
    """
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        kinds = (OutputError, OutputUnavailable) if doing == "write" else (DatasetError, Unavailable)
        said = _with_code(error, location)
        raise kinds[_may_pass(said, location)](f"Cannot {doing} {location}: {_why(said, location)}.") from None


def _with_code(error: Exception, location: Location) -> Exception:
    """What S3 says to a request whose answer has a body: that to HEAD has none, nor a code for expired credentials."""
    if "HeadObject" in str(error) and ("ACCESS_DENIED" in str(error) or "HTTP status 400" in str(error)):
        try:
            location.filesystem.get_file_info(fs.FileSelector(location.parent.path or location.path))
        except OSError as told:
            return told
    return error


def one_line(error: BaseException) -> str:
    """The error's message, or the name of its class: on one line, cut, without a full stop."""
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__


def _may_pass(error: Exception, location: Location) -> bool:
    if location.is_local or not isinstance(error, OSError):
        return getattr(error, "errno", None) in PASSING
    return not isinstance(error, LASTING) and not any(code in str(error) for code in LASTING_CODES)


def _why(error: Exception, location: Location) -> str:
    endpoint = location.endpoint or location.scheme
    for code, reason in (
        ("NO_SUCH_BUCKET", f"there is no bucket {location.path.partition('/')[0]} at {endpoint}"),
        ("ACCESS_DENIED", "permission denied"),
        ("ExpiredToken", "the credentials have expired"),
        ("REQUEST_TIME_TOO_SKEWED", "this machine's clock is wrong"),
        ("NETWORK_CONNECTION", f"the object store at {endpoint} does not answer"),
    ):
        if code in str(error):
            return reason
    if isinstance(error, (NotADirectoryError, FileExistsError)):
        return "a part of this path is a file and not a folder"
    number = getattr(error, "errno", None)
    return os.strerror(number) if number and number > 0 else one_line(error)  # Resolvers have numbers below 0.


@contextmanager
def _renamed(location: Location, appears: Callable[[], Location]) -> Iterator[IO[bytes]]:
    filesystem = location.filesystem
    folder, _, name = location.path.rpartition("/")
    aside = f"{folder}/.{name[:150]}.{uuid4().hex}.tmp"
    filesystem.create_dir(folder or "/", recursive=True)
    try:
        with filesystem.open_output_stream(aside) as file:
            yield file
        if location.is_local:
            _flush(aside)
        filesystem.move(aside, appears().path)
    except BaseException:
        with suppress(OSError):
            filesystem.delete_file(aside)
        raise
    if location.is_local:
        with suppress(OSError):  # Some network filesystems cannot flush a folder.
            _flush(folder)


def _flush(path: str) -> None:
    """Make the content of a file, or the names in a folder, outlast a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _uploaded(location: Location, appears: Callable[[], Location]) -> Iterator[IO[bytes]]:
    with SpooledTemporaryFile(SPOOL_BYTES, prefix="pddl-eval-") as spool:
        yield spool
        upload = _upload if spool.tell() <= ONE_PUT_BYTES else _upload_aside

        def attempt() -> None:
            upload(appears(), spool)
            appears()

        persistently(location, attempt)


def _upload(location: Location, content: IO[bytes]) -> None:
    content.seek(0)
    with location.filesystem.open_output_stream(location.path) as stream:
        shutil.copyfileobj(content, stream)


def _upload_aside(location: Location, content: IO[bytes]) -> None:
    aside = location.parent / f".{location.name[:150]}.{uuid4().hex}.tmp"
    try:
        _upload(aside, content)
        location.filesystem.move(aside.path, location.path)
    except BaseException:
        with suppress(OSError):
            location.filesystem.delete_file(aside.path)
        raise


def persistently(location: Location, action: Callable[[], Result]) -> Result:
    """What the action returns; where its store refuses or fails, it is tried again for some seconds.

    Each time the store is opened anew: a client keeps the credentials that it found, also when they have expired.
    """
    for attempt in range(1, STORE_ATTEMPTS + 1):
        try:
            return action()
        except OSError as error:
            # A client of ``stores`` that gave up has waited long enough.
            final = location.is_local or isinstance(error, (FileNotFoundError, TimeoutError))
            final = final or "NO_SUCH_BUCKET" in str(error)
            if final or attempt == STORE_ATTEMPTS:
                raise
            pause_before(attempt + 1)
    raise AssertionError("the last attempt returns or raises")


def pause_before(attempt: int) -> None:
    """Wait before that attempt at a request, and forget the credentials of the last one."""
    _open_filesystem.cache_clear()
    time.sleep(PAUSE_SECONDS * 2 ** (attempt - 2))


@lru_cache(maxsize=16)
def _open_filesystem(root: str, endpoint: str, region: str) -> fs.FileSystem:
    if not root:
        return fs.LocalFileSystem()
    scheme = root.partition("://")[0]
    if scheme in EXTRA_OF:
        return open_store(scheme, root, endpoint)
    if root != "s3://":
        return fs.FileSystem.from_uri(f"{root}/")[0]
    scheme, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        endpoint_override=host or None,
        scheme=scheme or "https",
        region=region or None,
        # A partition is smaller than one part of a multipart upload, so a delayed open makes it a single PUT.
        allow_delayed_open=True,
        background_writes=False,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=S3_ATTEMPTS),
    )


def _store_location(scheme: str, authority: str, path: str) -> Location:
    if command := how_to_install(EXTRA_OF[scheme]):
        raise DatasetError(f"{scheme}:// needs an extra that is not installed: {command}.")
    if not authority:
        raise DatasetError(f"{scheme}:// names nothing: write {scheme}://{'host' if scheme in WEB else 'bucket'}/path.")
    path = path.rstrip("/")
    if scheme in WEB:
        return Location(f"/{path}", f"{scheme}://{authority}")
    container, _, account = authority.rpartition("@")
    return Location(f"{container or account}/{path}".rstrip("/"), f"{scheme}://", account if container else "")


def _s3_location(path: str) -> Location:
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint and "://" not in endpoint:
        endpoint = f"{'http' if LOOPBACK.fullmatch(endpoint) else 'https'}://{endpoint}"
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    region = region or ("us-east-1" if endpoint else _region_of_bucket(path.partition("/")[0]))
    return Location(path, "s3://", endpoint.rstrip("/"), region)


@lru_cache(maxsize=64)
def _region_of_bucket(bucket: str) -> str:
    with suppress(OSError):
        return str(fs.resolve_s3_region(bucket))
    return ""
