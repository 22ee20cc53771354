"""Home: the road from text to an answer, who may look where, and what this class has trained."""

from ui.lesson import Lesson
from ui.navigation import next_lesson

lesson = Lesson("home")
lesson.show_title()
lesson.show("The road")
lesson.quiz()
next_lesson("home")
