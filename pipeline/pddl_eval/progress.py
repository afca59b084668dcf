"""Progress: a bar on a terminal (on stderr) or in a notebook, a line now and then elsewhere.

What is counted is up to the caller.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Timer
from typing import TYPE_CHECKING, Any

from pddl_eval.errors import Verbosity, verbosity
from pddl_eval.shown import printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE_SECONDS = 1.0
"""Until the bar appears: shorter work needs none."""

LINE_SECONDS = 10.0
"""Between two lines, where there is no bar."""

SPEED_SECONDS = 300.0
"""The speed is an average over this time, because a shard can take minutes."""


@dataclass(slots=True)
class Progress:
    """What ``progress`` yields: call ``advance`` as work is done."""

    bar: RichProgress
    task: TaskID
    unit: str
    lines: bool
    notebook: bool = False
    spoke_at: float = field(default_factory=time.monotonic)
    cell: Any = None
    """Where the notebook shows the bar, once it does."""

    def begin(self, total: int | None, done: int = 0) -> None:
        """Set the total, and how many were done before, which the speed leaves out."""
        self.bar.reset(self.task, total=total, completed=done, speed=self.unit)
        self.bar.advance(self.task, 0)  # The speed is measured from here.

    def advance(self, count: int) -> None:
        """Count more as done."""
        self.bar.advance(self.task, count)
        speed = self.bar.tasks[0].speed
        if speed:
            self.bar.update(self.task, speed=f"{self.unit}, {speed:,.0f} {self.unit}/s")
        now = time.monotonic()
        if self.notebook and now - self.spoke_at >= PATIENCE_SECONDS:
            self.spoke_at = now
            self.show(f"{self.bar.tasks[0].percentage:3.0f} % {self}")
        elif self.lines and now - self.spoke_at >= LINE_SECONDS:
            self.spoke_at = now
            self.say(str(self))

    def reach(self, done: int) -> None:
        """Count as done what is not counted yet: work that is begun anew takes nothing back."""
        if (more := done - int(self.bar.tasks[0].completed)) > 0:
            self.advance(more)

    def wait(self, seconds: float, why: str = "") -> None:
        """Say that nothing was counted for so long, and what it waits for."""
        nothing = f"nothing new for {seconds:,.0f} s{why and f' ({why})'}"
        self.bar.update(self.task, speed=f"{self.unit}, {nothing}")
        if self.notebook:
            self.show(f"{self}")
        elif self.lines:
            self.say(f"{self}")

    def show(self, sentence: str) -> None:
        """In a notebook, replace the line that it shows. As plain text it is readable in every theme."""
        from IPython.display import display  # there, because this is a notebook

        content = {"text/plain": printable(sentence)}
        if self.cell is None:
            self.cell = display(content, raw=True, display_id=True)
        else:
            self.cell.update(content, raw=True)

    def say(self, sentence: str) -> None:
        """One line, above the bar where there is one."""
        self.bar.console.print(printable(sentence), markup=False, highlight=False, soft_wrap=True)

    def __str__(self) -> str:
        task = self.bar.tasks[0]
        of = f" of {task.total:,.0f}" if task.total is not None else ""
        left = f", {timedelta(seconds=task.time_remaining)} left" if task.time_remaining is not None else ""
        return f"{task.completed:,.0f}{of} {task.fields['speed']}{left}"


@contextmanager
def progress(total: int | None = None, unit: str = "pairs", lines: bool = False) -> Iterator[Progress]:
    """Show progress until the block ends. ``lines``: also where stderr is neither a terminal nor a notebook.

    A command with ``--quiet`` shows none.
    """
    # Here, because worker processes import this file and show nothing.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    quiet = verbosity.get() is Verbosity.QUIET
    console = Console(stderr=True, quiet=quiet)
    # In a notebook, rich would need ipywidgets.
    notebook = console.is_jupyter
    shown = console.is_terminal and not notebook and not quiet
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
    bar = RichProgress(
        *columns, console=console, transient=True, disable=not shown, speed_estimate_period=SPEED_SECONDS
    )
    work = Progress(bar, bar.add_task(""), unit, lines and not shown, notebook)
    work.begin(total)
    # On a thread of its own, because the first thing to count may take long.
    appear = Timer(PATIENCE_SECONDS, bar.start)
    appear.daemon = True
    if shown:
        appear.start()
    try:
        yield work
    finally:
        appear.cancel()
        if shown:
            appear.join()
        bar.stop()
        if work.cell is not None:
            work.show("")
