"""What worker processes do in tests of engines: here, because a worker imports the module of its function."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def half(number: int) -> int:
    """Half of an even number; an odd one raises, 98 ends its process."""
    if number % 2:
        raise ArithmeticError(f"{number} is odd")
    if number == 98:
        os._exit(7)
    time.sleep(0.05 * (number == 0))
    return number // 2


def pandas_is_there(_number: int) -> tuple[bool, int]:
    """Whether pandas is imported already, and the rows of a frame of it."""
    import pyarrow as pa

    table = pa.table({"number": [1, 2]})
    return "pandas" in sys.modules, len(table.to_pandas())


def work_in_a_folder(place: str) -> None:
    """What a planner's task does: a folder of its own, and a process that outlives its parent."""
    if not place:
        return
    with tempfile.TemporaryDirectory(dir=place) as folder:
        process = subprocess.Popen(["sleep", "60"], start_new_session=True)
        try:
            Path(folder, "pid").write_text(str(process.pid))
            process.wait()
        finally:
            process.kill()
            process.wait()


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KilledWhileUnpickled:
    """What a worker gets that is killed before it begins."""

    def __reduce__(self) -> tuple[object, ...]:
        return _killed, ()


def place_or_end(mark: str) -> tuple[int, str]:
    """The process that works and what it has of that name in its ``sys``; for ``end``, it is killed."""
    if mark == "end":
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), getattr(sys, mark, "")
