"""What a script prints must not depend on the order in which sets are iterated."""

from __future__ import annotations

import os
import subprocess
import sys


def outputs_with_two_seeds(script: str) -> tuple[bytes, bytes]:
    """What the script prints with two values of ``PYTHONHASHSEED``, each in a Python of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", script], env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    )
    return first, second
