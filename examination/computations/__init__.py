"""Computations by their name in the bank. Each computes its numbers with minibert's own functions."""

from examination.computations import attention, bert, family, training, transformer
from examination.computations.base import COMPUTATIONS, DrawnComputation, Field, Given

__all__ = [
    "COMPUTATIONS",
    "DrawnComputation",
    "Field",
    "Given",
    "attention",
    "bert",
    "family",
    "training",
    "transformer",
]
