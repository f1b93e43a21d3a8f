"""What a package built on this one needs beyond what a user calls: checks, seeds, files, pieces of training.

`aninfonce_papers` takes from the library what the public packages list, and what is listed here, nothing
else. A command of such a package joins `aninfonce` through the entry point group `aninfonce.commands`: a
function that is given the `typer.Typer` application.
"""

from aninfonce._lazy import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__)
