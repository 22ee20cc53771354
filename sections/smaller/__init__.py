"""Smaller models: recorded results, live measurements, and students trained by a teacher."""
