"""The diff: a relative's lines against BERT's."""

from sections.what_to_hide.subject import Inputs
from ui.code_diff import CodeChange, show_diff
from ui.inputs import choice
from ui.lesson import Lesson
from ui.source import show_source
from ui.translations import _


def show(lesson: Lesson, inputs: Inputs) -> None:
    from minibert.corruption import draw_tokens, draw_words
    from minibert.masking import similar_words, units
    from minibert.model import BertForPreTraining, Embeddings, MlmHead
    from minibert.objectives import MaskedLanguageModel, WithoutPairs
    from minibert.relatives import ernie, macbert, roberta, spanbert
    from minibert.relatives.parts import span_boundary as spans
    from minibert.text import byte_tokenizer
    from minibert.text.segment_pairs import packed_sentences, segment_pairs
    from minibert.text.word_lists import names_in
    from minibert.tokenizer import Tokenizer

    lesson.show("The difference as a diff", title=False)
    changes = {
        "roberta": [
            CodeChange(_("Positions from behind the padding"), Embeddings, roberta.CountedPositions),
            CodeChange(_("Full sentences"), segment_pairs, packed_sentences),
            CodeChange(_("No loss on pairs"), MaskedLanguageModel, WithoutPairs),
            CodeChange(_("Pieces of bytes"), Tokenizer.wordpiece, byte_tokenizer.ByteTokenizer.merged),
        ],
        "wwm": [CodeChange(_("Words in the place of tokens"), draw_tokens, draw_words)],
        "ernie": [
            CodeChange(_("What is hidden grows"), MaskedLanguageModel.hide, ernie.KnowledgeMasking.hide),
            CodeChange(_("Stages"), None, ernie.KnowledgeMasking.after),
            CodeChange(_("Phrases"), None, units.phrase_units),
            CodeChange(_("Entities"), None, units.entity_units),
        ],
        "spanbert": [
            CodeChange(_("Spans"), draw_tokens, spans.draw_spans),
            CodeChange(_("The boundaries’ head"), MlmHead, spans.SpanBoundary),
            CodeChange(_("Two predictions for each token"), BertForPreTraining.forward, spans.SpanLm.forward),
        ],
        "macbert": [
            CodeChange(_("N-grams, and similar words"), MaskedLanguageModel, macbert.MlmAsCorrection),
            CodeChange(_("Which words are alike"), None, similar_words.SimilarWords),
        ],
    }
    titles = {"roberta": "RoBERTa", "wwm": "BERT-wwm", "ernie": "ERNIE"}
    titles |= {"spanbert": "SpanBERT", "macbert": "MacBERT"}
    chosen = choice("diff", _("The relative"), titles, wrap=True)
    show_diff(changes[chosen])
    files = {"roberta": roberta, "ernie": ernie, "spanbert": spanbert, "macbert": macbert}
    if chosen in files:
        where = f"minibert/relatives/{chosen}.py"
        show_source(files[chosen], find="RELATIVE = ", label=_("All of the relative: `{file}`").format(file=where))
    if chosen == "ernie":
        show_source(names_in, label=_("Which names it knows"))
