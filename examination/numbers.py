"""Numbers as students type them."""

import re

_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:([ ,.'_\u00a0\u202f])[0-9]{3})(?:\1[0-9]{3})*")
_PLAIN = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
_FRACTION = re.compile(r"([+-]?[0-9]{1,9})\s*/\s*([0-9]{1,9})")
LONGEST = 40  # maximum characters of a number


def parse_number(text: str, *, whole: bool = False) -> float | None:
    """Parse a number; None if it is none. `0,35`, `−0.35`, `7/20`, and for integers grouped digits: `110 106 428`."""
    text = text.strip().replace("−", "-").replace("–", "-")
    if len(text) > LONGEST:
        return None
    if whole and _GROUPS.fullmatch(text):
        return float(re.sub("[^0-9+-]", "", text))
    if fraction := _FRACTION.fullmatch(text):
        return int(fraction[1]) / int(fraction[2]) if int(fraction[2]) else None
    if _PLAIN.fullmatch(text) and text.isascii():
        return float(text.replace(",", "."))
    return None


def number_text(value: float, decimals: int) -> str:
    """Format with this number of decimals and a true minus sign; never −0.00."""
    text = f"{value:,.{decimals}f}" if decimals == 0 else f"{value:.{decimals}f}"
    return text.lstrip("-") if not re.search("[1-9]", text) else text.replace("-", "−")
