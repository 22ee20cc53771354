"""The code: what an arm is, how it is trained, and how it is evaluated."""

from sections.experiments.subject import Shown
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, shown: Shown) -> None:
    """The code excerpts, each collapsed at first."""
    from minibert.experiments.catalogue import Pretraining
    from minibert.experiments.finetuning import finetuning_settings
    from minibert.experiments.results import doubt_about, paired_difference, share_of_way, verdict
    from minibert.heads import TaskHead
    from minibert.objectives import NextToken
    from minibert.relatives.left_to_right import earlier_tokens
    from minibert.toy.tasks import gaps_of

    lesson.show("The code", level=3)
    show_source(Pretraining, label=_("An arm's pre-training: one field differs"))
    show_source(earlier_tokens, find="causal_mask", label=_("Left-to-right: the same encoder under a causal mask"))
    show_source(NextToken, find="next_tokens", label=_("Left-to-right: the next token is asked at every position"))
    show_source(finetuning_settings, find="bilstm", label=_("How an arm is fine-tuned"))
    show_source(TaskHead.read, find="self.bilstm", label=_("What is put on top in fine-tuning"))
    show_source(gaps_of, label=_("The toy world’s task: who or what is meant"))
    show_source(paired_difference, label=_("The interval of a difference"))
    show_source(share_of_way, label=_("How far an arm has come"))
    show_source(doubt_about, label=_("When the scores cannot test a claim"))
    show_source(verdict, label=_("When a direction agrees, and when no verdict can be had"))
