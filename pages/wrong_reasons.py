"""Does it understand? Models that are right for the wrong reasons: a planted cue, cues in real data, a checklist."""

from sections.wrong_reasons import advice, checklist, falls, famous, looks_at, real_data, subject
from ui.lesson import Lesson
from ui.page import show_parts
from ui.translations import _

lesson = Lesson("wrong_reasons")
lesson.open()
cue = subject.read()  # stored in the link; in the drawer: checkpoint and seeds

parts = {
    _("Plant a cue"): falls,
    _("What it looks at"): looks_at,
    _("Two famous cases"): famous,
    _("Cues in real data"): real_data,
    _("A checklist"): checklist,
    _("What to do about it"): advice,
}
show_parts(parts, lesson, cue)
lesson.close()
