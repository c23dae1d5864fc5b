"""Text and JSON values as Go's standard library trims and spells them."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final

from presentview.compact import go_escapes, json_bytes

__all__ = ["byte_count", "is_data_url", "normalized", "spelled", "trim"]

# Python counts more characters as white space than Unicode's property, which Go goes by.
_WHITE: Final = (
    "".join(map(chr, (*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))))
    + "\u2028\u2029\u202f\u205f\u3000"
)
_FIRST_EXPONENT: Final = 1e21
_LAST_EXPONENT: Final = 1e-6


def trim(text: str) -> str:
    """`text` without the white space around it."""
    return text.strip(_WHITE)


def byte_count(text: str) -> int:
    """How many bytes `text` has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def is_data_url(text: str) -> bool:
    """Whether `text` holds its content in itself, as a `data:` URL does."""
    return trim(text).startswith("data:")


def normalized(raw: bytes) -> str:
    """JSON with its keys sorted and its numbers as Go spells 64-bit floats, to be compared.

    What is no JSON, or nested too deep to be parsed, is only trimmed.
    """
    text = raw.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_int=_float, parse_float=_float, parse_constant=_refused)
        return go_escapes(spelled(value).encode()).decode()
    except (ValueError, RecursionError):
        return trim(text)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(digits)
    return value


def _refused(constant: str) -> float:
    raise ValueError(constant)


def spelled(value: Any) -> str:
    """A parsed JSON value as text: keys sorted, floats as Go spells them. The five characters that
    Go escapes stay as they are.
    """
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list):
        return "[" + ",".join(map(spelled, value)) + "]"
    if isinstance(value, dict):
        items = sorted(value.items(), key=itemgetter(0))
        return "{" + ",".join(f"{spelled(key)}:{spelled(inner)}" for key, inner in items) + "}"
    return json_bytes(value).decode()


def _number(value: float) -> str:
    """`value` in the fewest digits, with an exponent only where it is very large or small."""
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    if _LAST_EXPONENT <= abs(value) < _FIRST_EXPONENT:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    sign, digits = exponent[0], exponent[1:].lstrip("0")
    return f"{mantissa}e{sign}{digits}"
