"""What goes between two processes: connections, of which operating systems have several kinds."""

from __future__ import annotations

from typing import Any, Protocol


class Channel(Protocol):
    """One end of a connection."""

    def send(self, obj: Any, /) -> None:
        """Send an object that can be pickled."""
        ...

    def recv(self) -> Any:
        """The next object; raises EOFError when there is nobody to send one."""
        ...

    def poll(self, timeout: float | None = ..., /) -> bool:
        """Whether there is an object, waiting for it for some seconds."""
        ...

    def close(self) -> None:
        """Close this end."""
        ...
