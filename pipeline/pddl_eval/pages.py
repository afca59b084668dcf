"""HTML pages from Jinja templates: everything that is filled in is escaped, nothing is loaded from the network.

A template extends ``base.html``, which holds the head, the content policy and the one style sheet. With ``whole``
false it renders the part inside the body, with its style: for a notebook.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from pddl_eval.shown import MOST_CHARACTERS, block, line


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pddl_eval"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, "block": block, "number": "{:,}".format}
    return environment


def render(template: str, *, whole: bool = True, **values: Any) -> str:
    """The page that a template of this package makes of the values; a fragment with its style unless ``whole``."""
    return _environment().get_template(template).render(whole=whole, most=MOST_CHARACTERS, **values)
