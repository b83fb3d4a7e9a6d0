"""Cache of the arrays an encoder gave last, within a bound of memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy as np
    from numpy.typing import NDArray


class StateCache:
    """Arrays by key, the least recently used dropped first.

    What the current pass put or got is not dropped for more of the same pass: of texts that do not
    all fit, read twice in the same order, the second reading would else find none.

    Args:
        limit_bytes: how much the arrays may take together.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._arrays: OrderedDict[Hashable, tuple[int, NDArray[np.float32]]] = OrderedDict()
        self._bytes = 0
        self._pass = 0

    def begin(self) -> None:
        """Begin a pass."""
        self._pass += 1

    def get(self, key: Hashable) -> NDArray[np.float32] | None:
        """Return the array of *key*, if it is still there."""
        if key not in self._arrays:
            return None
        _, array = self._arrays[key]
        self._arrays[key] = (self._pass, array)
        self._arrays.move_to_end(key)
        return array

    def put(self, key: Hashable, array: NDArray[np.float32]) -> None:
        """Keep *array*, which must not be written to any more, if there is room."""
        if key in self._arrays:
            return
        while self._bytes + array.nbytes > self._limit:
            if not self._arrays or next(iter(self._arrays.values()))[0] == self._pass:
                return
            _, (_, dropped) = self._arrays.popitem(last=False)
            self._bytes -= dropped.nbytes
        self._arrays[key] = (self._pass, array)
        self._bytes += array.nbytes
