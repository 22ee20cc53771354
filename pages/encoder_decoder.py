"""Encoder and decoder: drawn whole and writing, the block, three masks, a Transformer trained live, BERT's limit."""

from sections.encoder_decoder import block, masks, subject, training, whole, writing
from ui.lesson import Lesson
from ui.parts import opened
from ui.translations import _

lesson = Lesson("encoder_decoder")
lesson.open()
seen = subject.read(lesson)  # the class's sentence; in a drawer the examples and the model
parts = {
    _("Read and write"): whole,
    _("The block"): block,
    _("Three masks"): masks,
    _("Train a Transformer"): training,
    _("Can BERT write?"): writing,
}
about = {  # what a link without a part holds → what it is about; in older ones the block came first
    _("Read and write"): ("half",),
    _("The block"): ("sentence", "model", "layer", "token", "step", "number"),
}
for tab, part in opened(parts, about):
    with tab:
        part.show(lesson, seen)
lesson.close()
