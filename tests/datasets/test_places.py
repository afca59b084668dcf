"""Places that a worker can open again, writes that appear whole or not at all, errors in one sentence."""

from __future__ import annotations

import base64
import errno
import gzip
import io
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pddl_eval import errors, score_dataset
from pddl_eval.datasets import places, stores
from pddl_eval.datasets.inputs import contents, find_source, open_source
from pddl_eval.datasets.named import NAMED, digest_of
from pddl_eval.datasets.places import (
    DatasetError,
    OutputError,
    dataset_errors,
    list_files,
    locate,
    new_parquet,
    put_bytes,
    read_bytes,
    remove_file,
    remove_temporary_files,
)
from pddl_eval.datasets.rows import close_file
from pddl_eval.errors import FAILED, TRY_AGAIN, WRONG_INPUT
from pddl_eval.run.lock import claimed

from tests.datasets.test_forms import as_json_lines, rows_of
from tests.support.parquet_files import numbered
from tests.support.running import run
from tests.support.stand_ins import Files, GoogleStorage, HuggingFace, WebServer, serving


def test_a_local_path_becomes_absolute_and_keeps_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blob").touch()
    (tmp_path / "pairs.parquet").symlink_to(tmp_path / "blob")
    assert locate("a/../pairs.parquet").path == str(tmp_path / "pairs.parquet")
    assert locate(f"file://{tmp_path}/a%20b").path == str(tmp_path / "a b")


def test_the_endpoint_and_the_region_travel_with_a_location_and_credentials_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9000/")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    location = locate("s3://bucket/pairs/")
    assert (location.endpoint, location.region) == ("http://127.0.0.1:9000", "eu-north-1")
    assert str(location) == "s3://bucket/pairs"
    assert b"very-secret" not in pickle.dumps(location)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [("127.0.0.1:9000", "http://127.0.0.1:9000"), ("minio.example:9000", "https://minio.example:9000")],
)
def test_an_endpoint_without_a_scheme_is_plain_http_on_loopback_alone(
    endpoint: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert locate("s3://bucket/x").endpoint == url


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("s3://key:secret@bucket/x", "carries credentials"),
        ("s3://", "names no bucket"),
        ("nosuch://host/x", "No filesystem opens nosuch://host/x"),
    ],
)
def test_places_that_are_refused(place: str, sentence: str) -> None:
    with pytest.raises(DatasetError, match=sentence) as refusal:
        locate(place)
    assert "secret" not in str(refusal.value)


def test_a_folder_is_within_itself_and_not_within_one_whose_name_it_begins_with() -> None:
    assert locate("/data/a").within(locate("/data/a"))
    assert locate("/data/a/b").within(locate("/data/a"))
    assert not locate("/data/ab").within(locate("/data/a"))


def test_a_file_is_replaced_whole_and_nothing_is_left_aside(tmp_path: Path) -> None:
    target = locate(tmp_path / "new" / "x")
    put_bytes(target, b"one")
    put_bytes(target, b"two")
    assert read_bytes(target) == b"two"
    assert list_files(locate(tmp_path / "new")) == {"x": 3}


def test_another_filesystem_is_written_aside_and_renamed_too() -> None:
    target = locate("mock:///folder/x")
    put_bytes(target, b"one")
    put_bytes(target, b"two")
    assert read_bytes(target) == b"two"
    assert list_files(locate("mock:///folder")) == {"x": 3}


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.ENOSPC, "No space left on device"),
        (errno.EROFS, "Read-only file system"),
        (errno.EACCES, "Permission denied"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_write_that_fails_says_why_and_leaves_the_old_file_alone(
    code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = locate(tmp_path / "x")
    put_bytes(target, b"old")

    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(places.os, "fsync", fail)
    with pytest.raises(OutputError, match=sentence) as failure:
        put_bytes(target, b"new")
    assert str(target) in str(failure.value)
    assert "\n" not in str(failure.value)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert read_bytes(target) == b"old"


@pytest.mark.parametrize(
    ("place", "error", "code"),
    [
        ("s3://bucket/in", OSError("AWS Error NETWORK_CONNECTION during HeadObject"), TRY_AGAIN),
        ("s3://bucket/in", OSError("AWS Error SLOW_DOWN during GetObject"), TRY_AGAIN),
        ("s3://bucket/in", OSError("AWS Error ACCESS_DENIED during ListObjectsV2"), WRONG_INPUT),
        ("s3://bucket/in", OSError("AWS Error INVALID_ACCESS_KEY_ID during GetObject"), WRONG_INPUT),
        ("s3://bucket/in", OSError("AWS Error SIGNATURE_DOES_NOT_MATCH during GetObject"), WRONG_INPUT),
        ("s3://bucket/in", OSError("AWS Error UNKNOWN: Unable to parse ExceptionName: ExpiredToken"), TRY_AGAIN),
        ("s3://bucket/in", OSError("AWS Error REQUEST_TIME_TOO_SKEWED during GetObject"), TRY_AGAIN),
        ("gs://bucket/in", OSError("Forbidden: https://storage.googleapis.com/b/in"), WRONG_INPUT),
        ("gs://bucket/in", OSError("RefreshError: ('invalid_grant: Token has been expired or revoked.'"), TRY_AGAIN),
        ("s3://bucket/in", FileNotFoundError("bucket/in"), WRONG_INPUT),
        ("s3://bucket/in", pa.ArrowInvalid("Parquet magic bytes not found in footer"), WRONG_INPUT),
        ("/mnt/in", OSError(errno.ESTALE, "Stale file handle"), TRY_AGAIN),
        ("/mnt/in", OSError(errno.EACCES, "Permission denied"), WRONG_INPUT),
    ],
)
def test_what_cannot_be_read_now_is_told_from_what_never_can(
    place: str, error: Exception, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with pytest.raises(DatasetError) as failure, dataset_errors(locate(place), "read"):
        raise error
    assert failure.value.exit_code == code
    with pytest.raises(OutputError) as unwritten, dataset_errors(locate(place), "write"):
        raise error
    assert unwritten.value.exit_code == {WRONG_INPUT: FAILED}.get(code, code)


def test_a_file_in_the_place_of_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file and not a folder"):
        put_bytes(locate(tmp_path / "file" / "x"), b"")
    with pytest.raises(DatasetError, match="is a file and not a folder"):
        list_files(locate(tmp_path / "file"))


def test_what_a_killed_writer_left_aside_is_removed_and_other_hidden_files_are_not(tmp_path: Path) -> None:
    left = tmp_path / f".x.parquet.{'0' * 32}.tmp"
    other = tmp_path / ".mine.tmp"
    left.touch()
    other.touch()
    remove_temporary_files(locate(tmp_path))
    assert list(tmp_path.iterdir()) == [other]


def test_a_parquet_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2]})
    for folder in (str(tmp_path), "mock:///parquet"):
        place = locate(f"{folder}/x.parquet")
        with pytest.raises(KeyError), new_parquet(place, table.schema) as writer:
            writer.write_table(table)
            raise KeyError
        assert list_files(locate(folder)) == {}
        with new_parquet(place, table.schema) as writer:
            writer.write_table(table)
            writer.write_table(table)
        assert pq.read_table(pa.BufferReader(read_bytes(place)))["n"].to_pylist() == [1, 2, 1, 2]


# --- Stores behind fsspec: found, listed, read, written; bounded waits; no secret in a place; what to install


os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # As ``stores`` does before it imports gcsfs.


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Clients remember which server they talk to."""
    for package in ("fsspec", "aiohttp", "gcsfs", "huggingface_hub"):
        pytest.importorskip(package)
    yield
    close_file()
    forget_clients()


def forget_clients() -> None:
    import fsspec

    places._open_filesystem.cache_clear()
    for name in ("gs", "hf", "http", *(["abfs"] if find_spec("adlfs") else [])):
        fsspec.get_filesystem_class(name).clear_instance_cache()


def use_hub(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``HF_ENDPOINT`` does to a process that has not imported the client yet."""
    import huggingface_hub.constants as hub

    template = hub.HUGGINGFACE_CO_URL_TEMPLATE.replace(hub.ENDPOINT, url)
    monkeypatch.setattr(hub, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(hub, "ENDPOINT", url)


@pytest.fixture
def files() -> Files:
    sink = io.BytesIO()
    pq.write_table(numbered(500), sink, row_group_size=100)
    text = as_json_lines(numbered(500))
    return {
        "in/a.parquet": sink.getvalue(),
        "more/model=x/a.jsonl": text,
        "more/model=y/b.jsonl.gz": gzip.compress(text),
    }


@contextmanager
def azurite(files: Files, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Microsoft's stand-in for Azure (`npm install azurite`), where it is installed."""
    program = shutil.which("azurite-blob")
    if program is None or not find_spec("adlfs"):
        pytest.skip("azurite-blob or adlfs is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    options = ["--blobPort", str(port), "--inMemoryPersistence", "--silent", "--skipApiVersionCheck"]
    account, key = "devstoreaccount1", base64.b64encode(b"key").decode()
    monkeypatch.setenv("AZURITE_ACCOUNTS", f"{account}:{key}")
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as process:
        url = f"http://127.0.0.1:{port}/{account}"
        settings = f"DefaultEndpointsProtocol=http;AccountName={account};AccountKey={key};BlobEndpoint={url};"
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", settings)
        forget_clients()
        try:
            from adlfs import AzureBlobFileSystem

            client = AzureBlobFileSystem(connection_string=settings)
            for _ in range(100):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            client.mkdir("container")
            for name, content in files.items():
                client.pipe(f"container/{name}", content)
            yield f"abfs://container@{account}.dfs.core.windows.net"
        finally:
            process.terminate()


@pytest.fixture(params=["https", "hf", "gs", "abfs"])
def root(request: pytest.FixtureRequest, files: Files, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URI of the files in a store of each kind."""
    if request.param == "https":
        with serving(WebServer, {f"/d/{name}": content for name, content in files.items()}) as url:
            yield f"{url}/d"
    elif request.param == "abfs":
        with azurite(files, monkeypatch) as uri:
            yield uri
    elif request.param == "hf":
        with serving(HuggingFace, files) as url:
            use_hub(url, monkeypatch)
            forget_clients()
            yield "hf://datasets/org/pairs"
    else:
        with serving(GoogleStorage, {f"bucket/{name}": content for name, content in files.items()}) as url:
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", url)
            forget_clients()
            yield "gs://bucket"


def test_every_store_gives_the_rows_and_a_mark_of_their_content(root: str) -> None:
    for name in ("in/a.parquet", "more/model=x/a.jsonl", "more/model=y/b.jsonl.gz"):
        source = open_source(f"{root}/{name}")
        assert rows_of(source, shard_rows=200) == numbered(500).to_pylist()
        (mark,) = contents(find_source(f"{root}/{name}")).values()
        assert mark.partition(":")[0] in ("etag", "ETag", "md5Hash", "blob_id")
    with pytest.raises(DatasetError, match="no file or folder"):
        open_source(f"{root}/none.parquet")
    if not root.startswith("http"):  # A web server has no listings.
        source = open_source(f"{root}/more")
        assert [file.name for file in find_source(f"{root}/more").files] == ["model=x/a.jsonl", "model=y/b.jsonl.gz"]
        assert source.schema.names == ["n", "text", "model"]
        assert [file.name for file in open_source(f"{root}/**/*.parquet").files] == ["in/a.parquet"]


def test_the_published_dataset_of_planetarium_is_scored_as_it_is(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its columns and their types, ``is_placeholder`` as 0 and 1 among them, from the Hub and as JSON Lines and CSV."""
    problem = (
        "(define (problem p) (:domain gripper) (:objects r b c g) (:init (room r) (ball b) (ball c) (at b r) (at c r)"
        " (gripper g) (free g) (at-robby r)) (:goal (and (carry %s g))))"
    )
    table = pl.DataFrame(
        {
            "id": [1, 2],
            "domain": ["gripper", "gripper"],
            "problem_pddl": [problem % "b", problem % "b"],
            "natural_language": ["Hold a ball.", "Hold b."],
            "is_placeholder": [1, 0],
            "answer": [problem % "c", problem % "(nonsense)"],
        }
    )
    sink = io.BytesIO()
    table.write_parquet(sink)
    names = {"reference_problem": "problem_pddl", "generated_problem": "answer"}
    with serving(HuggingFace, {"data/train-00000-of-00001.parquet": sink.getvalue()}) as url:
        use_hub(url, monkeypatch)
        forget_clients()
        table.write_ndjson(tmp_path / "x.jsonl")
        table.write_csv(tmp_path / "x.csv")
        for number, place in enumerate(("hf://datasets/org/pairs/data", tmp_path / "x.jsonl", tmp_path / "x.csv")):
            summary = score_dataset(place, tmp_path / str(number), columns=names)
            assert dict(summary.verdicts) == {"isomorphic": 1, "unparseable": 1}


def test_a_test_set_by_name_is_read_from_the_hub_and_another_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two splits beside what is no data, as Planetarium's are; its digest does not depend on how it is cut."""
    held = "(define (problem p) (:domain blocksworld) (:objects {0}) (:init (holding {0})) (:goal (clear {0})))"
    asked = [{"id": number, "problem_pddl": held.format(name)} for number, name in enumerate("abc")]
    pl.DataFrame(asked).write_parquet(tmp_path / "whole.parquet")
    digest = digest_of(open_source(tmp_path / "whole.parquet"))
    monkeypatch.setitem(NAMED, "held@1", ("hf://datasets/org/pairs", digest))
    answers = pl.DataFrame([{"id": row["id"], "generated_problem": row["problem_pddl"]} for row in asked])
    answers.write_parquet(tmp_path / "answers.parquet")
    files = {"README.md": b"# Held", ".gitattributes": b"*.parquet filter=lfs"}
    for name, rows in (("train", asked[1:]), ("test", asked[:1])):
        sink = io.BytesIO()
        pl.DataFrame(rows).write_parquet(sink)
        files[f"data/{name}-00000-of-00001.parquet"] = sink.getvalue()
    with serving(HuggingFace, files) as url:
        use_hub(url, monkeypatch)
        forget_clients()
        out = run("score", tmp_path / "answers.parquet", tmp_path / "out", "--references", "held@1")
        assert out.exit_code == 0, out.stderr
        assert pq.read_table(tmp_path / "out")["equivalent"].to_pylist() == [True] * 3
        files.pop("data/test-00000-of-00001.parquet")
        forget_clients()
        out = run("score", tmp_path / "answers.parquet", tmp_path / "again", "--references", "held@1")
        assert out.exit_code == WRONG_INPUT and "is not the test set held@1" in out.stderr


@pytest.mark.parametrize("root", ["gs", "abfs"], indirect=True)
def test_a_run_from_store_to_store_is_resumed(root: str) -> None:
    put_bytes(locate(f"{root}/plans.csv"), b"reference_plan,generated_plan\n" + b"(pick a),(pick a)\n" * 30)
    summary = score_dataset(f"{root}/plans.csv", f"{root}/out", shard_rows=10)
    assert (summary.rows, summary.mean("plan_lcs")) == (30, 1.0)
    names = [name for name in list_files(locate(f"{root}/out")) if name.endswith(".parquet")]
    assert len(names) == 3
    remove_file(locate(f"{root}/out/{names[0]}"))
    assert score_dataset(f"{root}/plans.csv", f"{root}/out", shard_rows=10).rows_scored == 10
    assert read_bytes(locate(f"{root}/out/{names[0]}")).startswith(b"PAR1")
    with claimed(locate(f"{root}/locked")), pytest.raises(DatasetError, match=f"process {os.getpid()} "):
        score_dataset(f"{root}/plans.csv", f"{root}/locked")
    assert list_files(locate(f"{root}/locked")) == {}


def test_what_can_only_be_read_is_no_output(tmp_path: Path) -> None:
    (tmp_path / "plans.csv").write_text("reference_plan,generated_plan\n(pick a),(pick a)\n")
    with serving(WebServer, {}) as url, pytest.raises(DatasetError, match="can only be read"):
        score_dataset(tmp_path / "plans.csv", f"{url}/out")


@pytest.mark.parametrize("scheme", ["hf", "gs", "abfs", "https"])
def test_a_client_that_is_missing_is_named_with_its_extra(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    extra = stores.EXTRA_OF[scheme]
    monkeypatch.setitem(errors.EXTRAS, extra, ("a_package_that_nobody_has",))
    with pytest.raises(DatasetError, match=rf"pip install 'pddl-eval\[{extra}\]'"):
        locate(f"{scheme}://bucket/x")


def test_an_account_is_no_secret_and_a_signature_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for extra in errors.EXTRAS:
        monkeypatch.setitem(errors.EXTRAS, extra, ("fsspec",))
    for uri in (
        "abfs://container@account.dfs.core.windows.net/a/b",
        "az://container/a/b",
        "gs://bucket/a",
        "hf://datasets/org/name@refs%2Fpr%2F1/x.jsonl",
        "https://host:8080/a/b.jsonl?download=true",
        "https://host/a?keyboard=1",
    ):
        assert str(locate(uri)) == uri
    account = locate("abfs://container@account.dfs.core.windows.net/a/b")
    assert (account.path, account.parent.path, account.name) == ("container/a/b", "container/a", "b")
    for uri in (
        "abfs://user:secret@account.dfs.core.windows.net/a",
        "gs://user:secret@bucket/a",
        "https://user:secret@host/a",
        "https://host/a?X-Amz-Signature=secret",
        "https://host/a?sv=1&sig=secret",
        "https://host/a?access_token=secret",
    ):
        with pytest.raises(DatasetError, match="carries credentials") as refusal:
            locate(uri)
        assert "secret" not in str(refusal.value)


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that takes requests and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_store_that_does_not_answer_is_not_waited_for(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "ANSWER_SECONDS", 0.5)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", silent)
    use_hub(silent, monkeypatch)
    forget_clients()
    for place in (f"{silent}/x.jsonl", "gs://bucket/x", "hf://datasets/org/pairs/x"):
        started = time.monotonic()
        with pytest.raises(DatasetError, match="does not answer"):
            open_source(place)
        assert time.monotonic() - started < 10


def test_a_server_that_is_not_there_is_no_missing_file() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(DatasetError, match="refused"):
        open_source(f"http://127.0.0.1:{port}/x.jsonl")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.slow
def test_a_command_that_waits_for_a_store_stops_when_told(number: int, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pddl_eval", "score", "gs://bucket/x", str(tmp_path / "out")]
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        with subprocess.Popen(command, env={**os.environ, "STORAGE_EMULATOR_HOST": address}) as process:
            server.settimeout(60)
            request, _ = server.accept()  # It waits for an answer now.
            with request:
                process.send_signal(number)
                assert process.wait(timeout=120) == code  # Two minutes, because the machine may be busy.
