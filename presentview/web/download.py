"""Files as they are sent: the headers of those that are saved, and any of them as a stream."""

from __future__ import annotations

import math
import os
import urllib.parse
from collections.abc import AsyncIterator, Mapping
from typing import Final

import anyio.to_thread
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from presentview.limits import DOWNLOAD_CHUNK
from presentview.openfile import read_at
from presentview.units import path_text
from presentview.web.render.controls import remove_unseen

__all__ = ["SANDBOX", "Download", "saved_as"]

SANDBOX: Final = "sandbox; default-src 'none'"
"""The content security policy of everything that is not a page of ours."""


def saved_as(name: str) -> dict[str, str]:
    """The headers of a response that is saved as a file of this name and never shown.

    The name may hold anything: characters that a person cannot see are left out of it.
    """
    plain = remove_unseen(path_text(name)).strip() or "file"
    return {
        "Content-Security-Policy": SANDBOX,
        "Content-Disposition": f"attachment; filename*=UTF-8''{urllib.parse.quote(plain, safe='')}",
    }


class Download(Response):
    """A file from an open descriptor, which is closed when it was sent."""

    def __init__(
        self,
        fd: int,
        headers: Mapping[str, str],
        *,
        media_type: str,
        head: bytes = b"",
        most: float = math.inf,
    ) -> None:
        """Send up to `most` bytes of the file; `head` are those that were read already."""
        super().__init__(media_type=media_type)
        self._fd = fd
        self._sent_with = headers
        self._head = head
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        answer = StreamingResponse(
            self._pieces(), media_type=self.media_type, headers=self._sent_with
        )
        try:
            await answer(scope, receive, send)
        finally:
            os.close(self._fd)

    async def _pieces(self) -> AsyncIterator[bytes]:
        piece, offset = self._head or await self._piece(0), 0
        while piece:
            yield piece
            offset += len(piece)
            piece = await self._piece(offset)

    async def _piece(self, offset: int) -> bytes:
        size = int(min(DOWNLOAD_CHUNK, self._most - offset))
        return await anyio.to_thread.run_sync(read_at, self._fd, size, offset) if size > 0 else b""
