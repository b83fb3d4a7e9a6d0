"""Topic models by ``tomotopy``, fitted so that nothing but the texts and the seed matters."""

from __future__ import annotations

import os
import platform
import sys
import time
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

# HDP as Teh et al. (2006) set it up for texts; LDA with tomotopy's own priors, of which it learns
# the one over topics as it goes.
_HDP = {"initial_k": 10, "gamma": 1.0, "alpha": 0.1, "eta": 0.05}
_LDA = {"alpha": 0.1, "eta": 0.01}
_STEPS = 10
_ISA = "TOMOTOPY_ISA"
_X86 = frozenset({"amd64", "i386", "i686", "x86_64"})


def processor() -> str:
    """Return the kind of instructions tomotopy computes with; its sums differ a little by kind.

    Raises:
        ConfigError: tomotopy is not installed.
    """
    return str(_tomotopy().isa)


def vocabulary(
    groups: Iterable[Iterable[Sequence[str]]], *, min_df: int, max_df: float
) -> frozenset[str]:
    """Return the words that can tell topics apart.

    Args:
        groups: the texts of each question, as words.
        min_df: a word must be in at least as many texts.
        max_df: and in the texts of at most this share of the questions.
    """
    texts: Counter[str] = Counter()
    questions: Counter[str] = Counter()
    number = 0
    for group in groups:
        distinct = [set(text) for text in group]
        for words in distinct:
            texts.update(words)
        questions.update(set().union(*distinct))
        number += 1
    most = max_df * number
    return frozenset(
        word for word, count in texts.items() if count >= min_df and questions[word] <= most
    )


def fitted_topics(
    texts: Sequence[tuple[str, ...]], *, topics: int | None, iterations: int, seed: int
) -> dict[tuple[str, ...], NDArray[np.float64]]:
    """Fit a model to *texts* and return the topics of each distinct one, as a vector of length 1.

    Neither the order of the texts nor anything but the seed matters. Equal texts have equal topics:
    the mean of what the sampler found for each.

    Args:
        texts: as words, none empty.
        topics: how many topics LDA has; None for HDP, which finds out itself.
        iterations: of Gibbs sampling.
        seed: of the sampler.

    Raises:
        ConfigError: tomotopy is not installed.
    """
    import numpy as np  # noqa: PLC0415  loading a metric must stay cheap

    tomotopy = _tomotopy()
    if topics is None:
        model = tomotopy.HDPModel(**_HDP, seed=seed)
    else:
        model = tomotopy.LDAModel(k=topics, **_LDA, seed=seed)
    counts = Counter(texts)
    distinct = sorted(counts)
    for text in distinct:
        for _ in range(counts[text]):
            model.add_doc(text)
    _train(model, iterations)
    shares = np.array([each.get_topic_dist() for each in model.docs], dtype=np.float64)
    if topics is None:
        shares = shares[:, [topic for topic in range(model.k) if model.is_live_topic(topic)]]
    starts = np.cumsum([0, *(counts[text] for text in distinct[:-1])])
    means = np.add.reduceat(shares, starts, axis=0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return dict(zip(distinct, means, strict=True))


def _train(model: Any, iterations: int) -> None:  # noqa: ANN401  tomotopy has no annotations
    """Train in short steps: tomotopy lets no other thread run meanwhile."""
    done = 0
    while done < iterations:
        step = min(_STEPS, iterations - done)
        # One worker: with more, the same seed gives other topics each time.
        model.train(step, workers=1)
        done += step
        time.sleep(0)


def _tomotopy() -> ModuleType:
    """Import tomotopy with the instructions that all x86 processors have.

    It would choose the best of each machine, and the same seed then gives other topics elsewhere,
    for a tenth to a third less time.
    """
    if "tomotopy" in sys.modules or platform.machine().lower() not in _X86:
        return _imported()
    before = os.environ.get(_ISA)
    os.environ[_ISA] = "sse2"
    try:
        return _imported()
    finally:
        if before is None:
            del os.environ[_ISA]
        else:
            os.environ[_ISA] = before


def _imported() -> ModuleType:
    try:
        # Its types say not which module they are of: fatal where warnings are errors.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import tomotopy  # noqa: PLC0415  an extra, and 30 MB
    except ImportError as error:
        msg = f"topic metrics need tomotopy: pip install 'pytest-xling[topics]' ({error})"
        raise ConfigError(msg) from error
    module: ModuleType = tomotopy
    return module
