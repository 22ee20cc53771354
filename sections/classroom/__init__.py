"""Class: what the teacher sees of the room, and does in it."""
