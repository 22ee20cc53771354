"""What is said of an input is a sentence, however long the input is that it quotes."""

LONGEST = 400  # characters


def shortened(text: str, most: int = LONGEST) -> str:
    """The beginning, which says where something is wrong, and the end, which mostly says what."""
    end = most // 3
    return text if len(text) <= most else f"{text[: most - end - 3]} … {text[-end:]}"


class ShortError(ValueError):
    """An error that is shown to who gave the input."""

    def __init__(self, message: object):
        super().__init__(shortened(str(message)))
