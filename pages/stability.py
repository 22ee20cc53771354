"""Why runs differ: seeds, epochs, learning rate and bias correction, recorded and live, and how many seeds suffice."""

from sections.stability import first_steps, how_many_seeds, own_grid, recorded_runs, what_came_out
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("stability")
lesson.open()
inputs = recorded_runs.show()
parts = {
    _("Your own grid"): own_grid,
    _("What came out"): what_came_out,
    _("The first steps"): first_steps,
    _("How many seeds"): how_many_seeds,
}
show_parts(parts, lesson, inputs)
lesson.close()
