"""Smaller models: what is recorded, what is measured on the spot, and students that learn from a teacher."""
