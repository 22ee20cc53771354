"""Class: the teacher's view of the room, and the controls."""
