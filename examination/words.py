"""The examination's texts in the user's language. It does not know the UI: a page sets the translation functions."""

from collections.abc import Callable

_say: Callable[[str], str] = str
_say_counted: Callable[[str, str, int], str] = lambda singular, plural, n: singular if n == 1 else plural  # noqa: E731


def set_translations(gettext: Callable[[str], str], ngettext: Callable[[str, str, int], str]) -> None:
    """Set the translation functions; each call of them decides on the language."""
    global _say, _say_counted
    _say, _say_counted = gettext, ngettext


def _(message: str) -> str:
    return _say(message)


def ngettext(singular: str, plural: str, n: int) -> str:
    return _say_counted(singular, plural, n)
