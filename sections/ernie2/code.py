"""The diff against ERNIE 1 and BERT, and the code of the four tasks."""

from sections.ernie2.stages import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.model import Embeddings
    from minibert.relatives import ernie, ernie2
    from minibert.relatives.parts import continual_tasks as parts

    lesson.show("The fourth embedding", title=False)
    changes = [
        CodeChange(_("A fourth embedding"), Embeddings, parts.TaskEmbeddings),
        CodeChange(_("Each row’s own task"), None, parts.task_tap),
        CodeChange(_("One task a batch"), ernie.KnowledgeMasking, ernie2.ContinualTasks),
    ]
    show_diff(changes)
    where = _("All of the relative: `{file}`").format(file="minibert/relatives/ernie2.py")
    show_source(ernie2, find="RELATIVE = ", label=where)


def show_tasks(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.toy import continual

    lesson.show("The four tasks", title=False)
    show_source(continual, find="def words", label=_("The four questions: `{file}`").format(file="continual.py"))
