"""Numerals of a column: decimal point or comma, thousands, and what is no number at all.

`0,02` never becomes 2: a comma followed by three digits after a whole number (`1,234`) can be both, and
is an error unless another value of the column, or a declaration, decides.
"""

import re
from collections.abc import Iterable
from decimal import Decimal

_COMMA = re.compile(r"[+-]?\d*,\d+")
_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_BOTH = re.compile(r"[+-]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:,\d{3})+\.\d+)")


def find_decimal_mark(texts: Iterable[str]) -> str | None:
    """Return the decimal mark of a column of numerals; None where it can't be told.

    >>> find_decimal_mark(["0,813", "1,204"]), find_decimal_mark(["1,204", "2,119"])
    (',', None)
    """
    commas = [text for text in texts if _COMMA.fullmatch(text)]
    if not commas or any(_is_decimal_point(text) for text in texts):
        return "."
    return "," if any(not _EITHER.fullmatch(text) for text in commas) else None


def _is_decimal_point(text: str) -> bool:
    return "." in text and bool(_POINT.fullmatch(text)) and not _EITHER.fullmatch(text)


def has_thousands(text: str) -> bool:
    """Return whether a numeral has both marks, so that one separates thousands."""
    return bool(_BOTH.fullmatch(text))


def is_ambiguous(text: str) -> bool:
    """Return whether a numeral's mark can be a decimal mark or one of thousands."""
    return bool(_EITHER.fullmatch(text))


def plain_numeral(text: str) -> str:
    """Return a numeral with a decimal point and nothing else.

    >>> plain_numeral("1.234,5"), plain_numeral("1,234.5"), plain_numeral("0,02")
    ('1234.5', '1234.5', '0.02')
    """
    if has_thousands(text):
        last = max(text.rfind(","), text.rfind("."))
        return re.sub(r"[.,]", "", text[:last]) + "." + text[last + 1 :]
    return text.replace(",", ".")


def parse_number(text: str) -> Decimal | None:
    """Return the number of a plain numeral; None for anything else, infinity and NaN included."""
    return Decimal(text) if _POINT.fullmatch(text) else None


def to_seconds(text: str, unit: str) -> str:
    """Return a plain numeral in seconds, exactly, every digit kept.

    >>> to_seconds("812.50", "ms"), to_seconds("0.60", "s")
    ('0.81250', '0.60')
    """
    return text if unit == "s" else format(Decimal(text).scaleb(-3), "f")
