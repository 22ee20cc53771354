"""Parsing Python while other threads parse, too."""

from collections.abc import Callable


def undisturbed(parse: Callable, source, attempts: int = 10):
    """`parse(source)`. Python before 3.11.8 fails to parse now and then where another thread parses, too
    (python/cpython#106905)."""
    try:
        return parse(source)
    except SystemError:
        if attempts == 1:
            raise
        return undisturbed(parse, source, attempts - 1)
