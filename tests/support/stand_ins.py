"""Small stand-ins for stores, on the loopback interface: a web server, the Hugging Face Hub, Google Cloud Storage.

They know what the clients ask of them to find, list, read and write files, and nothing else.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

Files = dict[str, bytes]
"""The content of each path; a test fills it and may change it."""


class _Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files: Files

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""

    def answer(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            with suppress(ConnectionError):  # The client has read enough.
                self.wfile.write(content)

    def answer_json(self, value: Any, status: int = 200) -> None:
        self.answer(json.dumps(value).encode(), status, Content_Type="application/json")

    def answer_file(self, content: bytes, **headers: str) -> None:
        """The content, or the range of it that is asked for."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        headers |= {"Accept-Ranges": "bytes", "ETag": f'"{_digest(content)}"'}
        if not found:
            self.answer(content, **headers)
            return
        first, last = int(found[1]), min(int(found[2] or len(content)), len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        self.answer(content[first : last + 1], 206, **headers)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        raise NotImplementedError


class WebServer(_Server):
    """Files by their path."""

    def do_GET(self) -> None:
        content = self.files.get(urlsplit(self.path).path)
        self.answer_file(content) if content is not None else self.answer(b"", 404)


class HuggingFace(_Server):
    """One dataset, ``org/pairs``, at any revision."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if found := re.fullmatch(r"/datasets/org/pairs/resolve/[^/]+/(.*)", path):
            content = self.files.get(found[1])
            if content is None:
                self.answer(b"", 404, X_Error_Code="EntryNotFound")
            else:
                self.answer_file(content, X_Repo_Commit="c" * 40)
        elif re.fullmatch(r"/api/datasets/org/pairs(/revision/.*)?", path):
            siblings = [{"rfilename": name} for name in self.files]
            self.answer_json({"id": "org/pairs", "sha": "c" * 40, "siblings": siblings})
        elif found := re.fullmatch(r"/api/datasets/org/pairs/tree/[^/]+/?(.*)", path):
            self.answer_json([_entry(name, self.files) for name in _below(found[1], self.files)])
        else:
            self.answer(b"{}", 404, X_Error_Code="RepoNotFound")

    def do_POST(self) -> None:
        body = self.body()
        paths = (
            json.loads(body)["paths"]
            if self.headers["Content-Type"].startswith("application/json")
            else parse_qs(body.decode())["paths"]
        )
        known = {name for each in self.files for name in (each, *_parents(each))}
        self.answer_json([_entry(path, self.files) for path in paths if path in known])


def _parents(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _below(folder: str, files: Files) -> list[str]:
    names = {name for each in files for name in (each, *_parents(each))}
    return sorted(name for name in names if name.startswith(f"{folder}/" if folder else ""))


def _entry(name: str, files: Files) -> dict[str, Any]:
    if name in files:
        return {"type": "file", "path": name, "size": len(files[name]), "oid": _digest(files[name])}
    return {"type": "directory", "path": name, "size": 0, "oid": "d" * 40}


class GoogleStorage(_Server):
    """Objects by ``bucket/key``."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        found = re.fullmatch(r"(/download)?/storage/v1/b/([^/]+)(?:/o(?:/(.+))?)?", url.path)
        assert found, self.path
        bucket, key = found[2], found[3] and unquote(found[3])
        if key is None and not url.path.endswith("/o"):
            known = any(name.startswith(f"{bucket}/") for name in self.files)
            self.answer_json({"name": bucket, "kind": "storage#bucket"}, 200 if known else 404)
        elif key is None:
            prefix = query.get("prefix", "")
            names = [name.partition("/")[2] for name in self.files if name.startswith(f"{bucket}/{prefix}")]
            delimiter = query.get("delimiter")
            folders = {f"{prefix}{n[len(prefix) :].partition('/')[0]}/" for n in names if "/" in n[len(prefix) :]}
            here = [name for name in names if not delimiter or "/" not in name[len(prefix) :]]
            items = [self._object(bucket, name) for name in here]
            self.answer_json({"items": items, "prefixes": sorted(folders) if delimiter else []})
        elif f"{bucket}/{key}" not in self.files:
            self.answer_json({"error": {"code": 404, "message": "not found"}}, 404)
        elif found[1] or query.get("alt") == "media":
            self.answer_file(self.files[f"{bucket}/{key}"])
        else:
            self.answer_json(self._object(bucket, key))

    def do_POST(self) -> None:
        """Begin an upload, or take its whole content."""
        found = re.fullmatch(r"/upload/storage/v1/b/([^/]+)/o", urlsplit(self.path).path)
        if not found:
            _, _, bucket, key = unquote(self.path).split("/", 3)
            self.files[f"{bucket}/{key}"] = self.body()
            self.answer_json(self._object(bucket, key))
            return
        name = json.loads(self.body())["name"]
        address = f"http://{self.headers['Host']}/session/{found[1]}/{quote(name)}"
        self.answer(b"{}", Location=address)

    def do_DELETE(self) -> None:
        _, _, _, _, bucket, _, key = urlsplit(self.path).path.split("/", 6)
        del self.files[f"{bucket}/{unquote(key)}"]
        self.answer(b"", 204)

    def _object(self, bucket: str, name: str) -> dict[str, Any]:
        content = self.files[f"{bucket}/{name}"]
        return {
            "kind": "storage#object",
            "bucket": bucket,
            "name": name,
            "size": str(len(content)),
            "etag": "of this upload",
            "md5Hash": _digest(content),
            "generation": "1",
            "updated": "2026-01-01T00:00:00.000Z",
            "timeCreated": "2026-01-01T00:00:00.000Z",
            "storageClass": "STANDARD",
        }


def _digest(content: bytes) -> str:
    return sha1(content).hexdigest()


@contextmanager
def serving(kind: type[_Server], files: Files) -> Iterator[str]:
    """The URL of a server of that kind, as long as the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type(kind.__name__, (kind,), {"files": files}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
