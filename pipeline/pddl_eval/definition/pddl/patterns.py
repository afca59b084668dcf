"""Regular expressions as the readers of plans need them: ``re``, or what takes its place where it is wrong.

Before Python 3.11.5, possessive quantifiers over alternatives do not match what they should (python/cpython#106052).
Debian 12 has 3.11.2. There the package ``regex`` takes the place of ``re``: the same language, the same matches.
"""

from __future__ import annotations

import sys
from typing import Any, cast

if sys.version_info >= (3, 11, 5):
    import re
else:
    import regex as re  # type: ignore[no-redef]

__all__ = ["deferred", "re"]


def deferred(text: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used: an import compiles none of a hundred.

    >>> deferred("a+", re.IGNORECASE).fullmatch("aA")[0]
    'aA'
    """
    return cast("re.Pattern[str]", _Pattern(text, flags))


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._asked = text, flags

    def __getattr__(self, name: str) -> Any:  # only where the attribute is not there yet
        if name.startswith("__"):  # asked by copy and pickle
            raise AttributeError(name)
        compiled = re.compile(*self._asked)
        for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
