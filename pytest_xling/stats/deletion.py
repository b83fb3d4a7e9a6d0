"""Which samples count where some groups lack some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

__all__ = ["listwise"]

K = TypeVar("K", bound="Hashable")


def listwise(groups: Mapping[str, Mapping[K, float]]) -> dict[str, dict[K, float]]:
    """Return *groups* cut down to the samples that all of them have.

    A model may refuse a question in one language only; what is left are the same questions in all,
    in one order. Pairwise deletion is this, done for two groups at a time.

    Args:
        groups: values by sample, by name of the group.
    """
    kept = [values.keys() for values in groups.values()]
    shared = set(kept[0]).intersection(*kept[1:]) if kept else set()
    order = [sample for sample in next(iter(groups.values()), {}) if sample in shared]
    return {name: {key: values[key] for key in order} for name, values in groups.items()}
