"""Error messages of bounded length, however long the input is that they quote."""

LONGEST = 400  # characters


def shortened(text: str, most: int = LONGEST) -> str:
    """A long text cut to its beginning (where something is wrong) and its end (mostly what is wrong)."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 3]} … {text[-end:]}"


class ShortError(ValueError):
    """An error shown to the user who gave the input, with a shortened message."""

    def __init__(self, message: object):
        super().__init__(shortened(str(message)))
