"""What the examination says, in the reader's language. It knows no screen: a page tells it how to translate."""

from collections.abc import Callable

_say: Callable[[str], str] = str
_say_counted: Callable[[str, str, int], str] = lambda singular, plural, n: singular if n == 1 else plural  # noqa: E731


def speak(gettext: Callable[[str], str], ngettext: Callable[[str, str, int], str]) -> None:
    """From now on, say everything through these; they know whose language it is when they are called."""
    global _say, _say_counted
    _say, _say_counted = gettext, ngettext


def _(message: str) -> str:
    return _say(message)


def ngettext(singular: str, plural: str, n: int) -> str:
    return _say_counted(singular, plural, n)
