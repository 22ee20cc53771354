"""The examination: a bank of questions in lessons/examination, drawn, asked and marked by programs."""
