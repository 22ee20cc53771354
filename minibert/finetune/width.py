"""The learning rate of fine-tuning by a model's width. Needs no torch."""

TUNED_AT = 256  # H of the models that the course's rates were found with


def rate_of_width(rate: float, hidden_size: int) -> float:
    """The learning rate for this hidden size, where `rate` suits one of 256 or less. Wider models know more and are to
    change less: a third of the rate, rounded to one digit."""
    return rate if hidden_size <= TUNED_AT else float(f"{rate / 3:.0e}")
