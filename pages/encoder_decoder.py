"""Encoder and decoder: both at work, the block, three masks, a Transformer trained live, and generation by BERT."""

from sections.encoder_decoder import block, masks, subject, training, whole, writing
from ui.lesson import Lesson
from ui.page import open_part, show_parts
from ui.translations import _

lesson = Lesson("encoder_decoder")
lesson.open()
parts = {
    _("Read and write"): whole,
    _("The block"): block,
    _("Three masks"): masks,
    _("Train a Transformer"): training,
    _("Can BERT write?"): writing,
}
opened = open_part(parts)
of_bert = opened in (block, writing) or (opened is whole and whole.lit() == "encoder")
inputs = subject.read(lesson, of_bert)  # the user's sentence; in the drawer: examples and model
show_parts(parts, lesson, inputs)
lesson.close()
