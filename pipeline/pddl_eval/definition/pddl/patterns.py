"""Regular expressions as the readers of plans need them: ``re``, or what takes its place where it is wrong.

Before Python 3.11.5, possessive quantifiers over alternatives do not match what they should (python/cpython#106052).
Debian 12 has 3.11.2. There the package ``regex`` takes the place of ``re``: the same language, the same matches.
"""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11, 5):
    import re
else:
    import regex as re  # type: ignore[no-redef]

__all__ = ["re"]
