"""Results beside the published values: a page for the browser, and Markdown for the docs."""

from aninfonce.extending import attach

__getattr__, __dir__, __all__ = attach(__name__)
