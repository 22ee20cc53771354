"""State of the class: visitors present, the teacher, whether newcomers need a code, guesses and held-back answers."""
