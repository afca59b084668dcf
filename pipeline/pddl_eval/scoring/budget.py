"""The last resort: the processor time of a row, for what no count bounds.

The clock is the thread's own, so rows that are scored in several threads have a budget each, and what else the machine
does costs a row nothing. No signal is sent and nothing outside the thread is changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pddl_eval.definition.budget import OutOfBudgetError, looked_after
from pddl_eval.definition.kept import keeping
from pddl_eval.kernel import LEAST_SECONDS
from pddl_eval.kernel.states import by_kernel
from pddl_eval.scoring.kept import KEPT

try:
    from time import thread_time
except ImportError:  # A browser has no clock of threads, and Python there has one thread.
    from time import process_time as thread_time


@contextmanager
def row_budget(seconds: float) -> Iterator[None]:
    """Give what runs inside that many seconds of this thread's processor time; inside another budget nothing changes.

    >>> from pddl_eval.definition.budget import or_undecided, spend
    >>> with row_budget(0):
    ...     or_undecided(lambda: spend(1_000_000))
    Undecided(reason='the row has used up its budget of 0 seconds')
    """
    end = thread_time() + seconds

    def look() -> None:
        if thread_time() >= end:
            raise OutOfBudgetError(f"the row has used up its budget of {seconds:g} seconds")

    # The kernel's limits are counts: where a row has little time the definition lists its states.
    with looked_after(look), keeping(KEPT if seconds < LEAST_SECONDS else by_kernel(KEPT)):
        yield
