"""Keep libraries of models from writing to the terminal while they load."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["quiet"]


@contextmanager
def quiet() -> Iterator[None]:
    """Show no progress bars and no log below errors; all is as before afterwards.

    What the log would say of missing weights, the loader checks itself.
    """
    logging = _logging()
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    _show_bars(shown=False)
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            _show_bars(shown=True)


def _show_bars(*, shown: bool) -> None:
    logging = _logging()
    with warnings.catch_warnings():
        # It warns where the environment has decided already: HF_HUB_DISABLE_PROGRESS_BARS.
        warnings.simplefilter("ignore", UserWarning)
        if shown:
            logging.enable_progress_bar()
        else:
            logging.disable_progress_bar()


def _logging() -> Any:  # noqa: ANN401  half of it has no types
    return import_module("transformers.utils.logging")  # a second to import
