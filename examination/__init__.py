"""The examination: draws questions from a bank in lessons/examination, asks and marks them."""
