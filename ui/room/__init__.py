"""The room: who is there, who is the teacher, whether the door is open, what is guessed and held back."""
