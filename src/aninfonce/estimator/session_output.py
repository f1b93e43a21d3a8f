"""What `transform` returns: the precision of X, and one container per session of a list."""

from __future__ import annotations

from functools import wraps
from typing import Any

from aninfonce.estimator.frames import is_list_of_sessions


class SessionOutput:
    """Lets `transform` and `fit_transform` of an estimator give a list for a list of sessions.

    scikit-learn wraps these methods to put their result into one container, such as a data frame, which
    cannot hold a list. So the wrapped methods are called for one session after another.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        transform, fit_transform = (getattr(cls, name) for name in ("transform", "fit_transform"))

        @wraps(transform)
        def each(self: Any, X: Any, *others: Any, **named: Any) -> Any:
            if is_list_of_sessions(X) and named.get("groups") is None:
                return [transform(self, part, *others, **named) for part in X]
            return transform(self, X, *others, **named)

        @wraps(fit_transform)
        def fit_and_each(self: Any, X: Any, y: Any = None, **named: Any) -> Any:
            if is_list_of_sessions(X):
                return self.fit(X, y, **named).transform(X)
            return fit_transform(self, X, y, **named)

        for name, method in (("transform", each), ("fit_transform", fit_and_each)):
            setattr(cls, name, method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
