"""Memory for pages, used again once nothing points into it any more."""

from __future__ import annotations

import sys
import threading

import numpy as np
from numpy.typing import NDArray

#: references to a buffer that nobody uses: this list's, the loop's and that of the asking call
_OWN_REFERENCES = 3
_MOST = 8


class Buffers:
    """A few buffers of bytes; views keep theirs from being given out."""

    def __init__(self) -> None:
        self._buffers: list[NDArray[np.uint8]] = []
        self._lock = threading.Lock()

    def take(self, n_bytes: int) -> NDArray[np.uint8]:
        """A view of exactly so many bytes, whose content is arbitrary."""
        with self._lock:
            for buffer in self._buffers:
                if len(buffer) >= n_bytes and sys.getrefcount(buffer) <= _OWN_REFERENCES:
                    return buffer[:n_bytes]
            fresh = np.empty(n_bytes, np.uint8)
            self._buffers = [each for each in self._buffers[-_MOST + 1 :] if len(each) >= n_bytes]
            self._buffers.append(fresh)
            return fresh[:n_bytes]
