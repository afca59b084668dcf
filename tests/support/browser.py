"""Chromium without a window, driven over its own pipe (DevTools protocol): no driver and no library is needed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

SECONDS = 60.0
"""How long a page may take: machines of tests are slow."""


class Navigated(Exception):
    """Another page came while JavaScript was run."""


class Browser:
    """A tab: ``open`` an address, ``run`` JavaScript in it, ``press`` a key."""

    def __init__(self, commands: int, events: int) -> None:
        self._commands, self._events, self._number, self._rest = commands, events, 0, b""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        session = {"sessionId": self._session} if hasattr(self, "_session") else {}
        sent = {"id": self._number, "method": method, "params": parameters, **session}
        os.write(self._commands, json.dumps(sent).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                self._rest += os.read(self._events, 1 << 20)
            said, _, self._rest = self._rest.partition(b"\0")
            found = json.loads(said)
            if found.get("id") == self._number:
                if "navigated" in found.get("error", {}).get("message", ""):
                    raise Navigated
                assert "error" not in found, found
                return found["result"]

    def run(self, script: str) -> Any:
        """The value of an expression."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, address: str) -> None:
        self._call("Page.navigate", url="about:blank")  # Else another fragment of the same page loads nothing.
        self._call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        end = time.monotonic() + SECONDS
        while True:
            with suppress(Navigated):
                if self.run(condition):
                    return
            assert time.monotonic() < end, condition
            time.sleep(0.05)

    def follow(self, script: str) -> str:
        """Do what leads to another page, and wait for it; returns its address without the fragment."""
        before = self.run("location.href")
        with suppress(Navigated):
            self.run(f"{script}; 0")
        self.wait(f"location.href !== {json.dumps(before)} && document.readyState === 'complete'")
        return str(self.run("location.href.split('#')[0]"))

    def press(self, key: str) -> str:
        """Press a key that leads to another page."""
        return self.follow(
            f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
        )


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A tab of a new Chromium; ``PROGRAM`` says whether there is one."""
    assert PROGRAM
    (commands_in, commands), (events, events_out) = os.pipe(), os.pipe()
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}")
    # The pipe has to be 3 and 4 in Chromium.
    start = ["bash", "-c", f'exec "$@" 3<&{commands_in} 4>&{events_out}', "bash", PROGRAM, *flags]
    process = subprocess.Popen(start, pass_fds=(commands_in, events_out), stderr=subprocess.DEVNULL)
    os.close(commands_in)
    os.close(events_out)
    try:
        yield Browser(commands, events)
    finally:
        process.kill()
        process.wait()
        os.close(commands)
        os.close(events)
