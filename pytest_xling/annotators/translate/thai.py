"""Thai sentences by PyThaiNLP: Thai has no full stop, and sentencex hardly splits it."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.text.clean import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["thai_sentences", "thai_splitter"]

_PACKAGES = ("pythainlp", "python-crfsuite")
_READ_ONLY = ("PYTHAINLP_READ_ONLY", "PYTHAINLP_READ_MODE")


def thai_splitter() -> Mapping[str, str]:
    """Return the versions of the packages that split.

    Raises:
        ConfigError: one of them is not installed.
    """
    try:
        return {package: version(package) for package in _PACKAGES}
    except PackageNotFoundError as error:
        msg = (
            f"translate: thai = 'pythainlp' needs the package {error.name}: "
            "pip install 'pytest-xling[thai]'"
        )
        raise ConfigError(msg) from error


def thai_sentences(text: str) -> list[str]:
    """Return the sentences of *text*, stripped, in order, none empty.

    Raises:
        ConfigError: PyThaiNLP is not installed.
    """
    thai_splitter()
    if not any(name in os.environ for name in _READ_ONLY):
        os.environ[_READ_ONLY[0]] = "1"  # else importing it makes a directory in the user's home
    from pythainlp.tokenize import sent_tokenize  # noqa: PLC0415  an extra

    split = sent_tokenize(clean(text), engine="crfcut")
    return [stripped for sentence in split if (stripped := str(sentence).strip())]
