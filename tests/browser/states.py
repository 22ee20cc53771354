"""States of pages that only a link opens, for tests/browser/test_form.py: page, what stands in its link."""

_WORDS = "The man looked at the house."
_LONG = "x" * 99 + " " + "好" * 60

STATES = [
    ("attention", {"step": 5, "sentence": _WORDS}),
    *(
        ("attention", {"part": "Against an RNN", "rnn": view, "sentence": "Anna lost the books. She searched alone."})
        for view in ("forgets", "directions", "bottleneck")
    ),
    ("attention_explorer", {"heads": "all", "row": 3, "sentence": _WORDS}),
    ("attention_explorer", {"part": "Kinds of heads", "by": "word", "model": "mini-en", "relation": 5}),
    ("embeddings", {"own": "He fished from the bank.", "point": 3}),
    ("examination", {"seed": 7, "count": 2}),
    ("input", {"part": "The row", "step": 5}),
    ("output_layer", {"task": "span"}),
    ("output_layer", {"task": "choice"}),
    ("tokenization", {"part": "Step by step", "step": 5, "text": _LONG}),
    ("tokenization", {"text": _LONG}),
    ("training_options", {"option": "dropout"}),
    ("training_options", {"option": "averaging"}),
    ("training_options", {"option": "half"}),
    ("training_options", {"option": "lamb"}),
    ("training_options", {"option": "batches"}),
    *(("to_write", {"unilm": view}) for view in ("answers", "both", "claim")),
    *(("to_write", {"part": "BERT", "bert": view}) for view in ("corrector", "claim")),
    ("to_write", {"part": "BART", "bart": "restores"}),
]
