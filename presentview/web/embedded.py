"""Images that stand in a session itself, as `data:` addresses."""

from __future__ import annotations

import base64
import binascii
from typing import Final, NamedTuple

from presentview.limits import ATTACHMENT_BYTES
from presentview.web.attachments import image_type_of

__all__ = ["Embedded", "embedded_image", "is_embedded"]

_MARK: Final = ";base64,"
_HEAD_CHARS: Final = 64  # of base64: enough to tell an image from anything else


class Embedded(NamedTuple):
    """An image: its media type, as its first bytes tell it, and its bytes."""

    media_type: str
    content: bytes


def is_embedded(address: str) -> bool:
    """Whether an address carries what it stands for."""
    return address[:5].lower() == "data:"


def embedded_image(address: str, *, whole: bool = True) -> Embedded | None:
    """The image in a `data:` address, without `whole` only its beginning; None if it holds none
    that may be shown, or a larger one than an attachment may be.
    """
    head, mark, data = address.partition(_MARK)
    if not is_embedded(head) or not mark or len(data) > ATTACHMENT_BYTES * 4 // 3:
        return None
    try:
        content = base64.b64decode(data if whole else data[:_HEAD_CHARS])
    except (binascii.Error, ValueError):
        return None
    media_type = image_type_of(content)
    return Embedded(media_type, content) if media_type else None
