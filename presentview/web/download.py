"""Files that are not shown but saved: their headers, and a sidecar of any size as a stream."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import AsyncIterator
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
    """A file as it is when the download begins, from an open descriptor that is closed then."""

    def __init__(self, fd: int, *, name: str, media_type: str) -> None:
        super().__init__(media_type=media_type)
        self._fd = fd
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        answer = StreamingResponse(
            self._pieces(), media_type=self.media_type, headers=saved_as(self._name)
        )
        try:
            await answer(scope, receive, send)
        finally:
            os.close(self._fd)

    async def _pieces(self) -> AsyncIterator[bytes]:
        offset = 0
        while piece := await anyio.to_thread.run_sync(read_at, self._fd, DOWNLOAD_CHUNK, offset):
            yield piece
            offset += len(piece)
