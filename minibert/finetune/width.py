"""What a model's width says about fine-tuning it. Needs no torch."""

TUNED_AT = 256  # H of the models that the course's rates were found with


def rate_of_width(rate: float, hidden_size: int) -> float:
    """The learning rate for a model of this width, where `rate` suits one of H 256 or less. A wider one, which knows
    more, is moved less: a third, in one digit."""
    return rate if hidden_size <= TUNED_AT else float(f"{rate / 3:.0e}")
