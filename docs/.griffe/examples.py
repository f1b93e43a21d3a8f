"""Lets the site show `Example:` parts and bare doctests of docstrings as code."""

import re
from typing import Any

import griffe

# A block of lines from the first `>>>` to the next blank line, at the margin of the docstring.
_BARE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class DoctestExamples(griffe.Extension):
    """Rewrites docstrings on their way to the site; the sources keep the shorter form."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Turn doctests into the section that the site's parser knows."""
        if obj.docstring is None:
            return
        text = obj.docstring.value.replace("Example:\n", "Examples:\n")
        obj.docstring.value = _BARE.sub(
            lambda found: "Examples:\n    " + found[0].replace("\n", "\n    "), text
        )
