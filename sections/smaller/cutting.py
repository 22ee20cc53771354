"""The class's classifier and its pruned versions: computed once for all sessions with the same choice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ui.classifiers import classifier_named, predictor_of
from ui.model_cache import load_predictor
from ui.task_data import shipped

if TYPE_CHECKING:
    from minibert.finetune.predictor import Predictor
    from minibert.inside.costs.cost import Cost
    from minibert.pruning.importance import Importance
    from minibert.pruning.keep import Keep

DATA = "reviews"
HONEST = 96  # reviews for the loss without each head
WHOLE, CUT, ZEROS = "whole", "cut", "zeros"
REPEATS = 5


@dataclass(frozen=True)
class CutChoice:
    """What to prune from which run. heads: further (layer, head), chosen by hand."""

    run: str
    directory: str
    what: str
    share: float
    heads: tuple[tuple[int, int], ...] = ()

    @property
    def pruning(self):
        from minibert.pruning.run import Pruning

        return Pruning(self.what, self.share, self.heads if self.what != "weights" else ())


def classifier():
    """The run of the class's classifier; None, after showing what to do, while there is none."""
    run = classifier_named(DATA)
    if run is not None:
        predictor_of(run)
    return run


@st.cache_resource(show_spinner=False, max_entries=4)
def worth(run: str, directory: str) -> "Importance":
    from minibert.pruning.importance import batches_of, importance
    from minibert.pruning.run import importance_examples

    known = load_predictor(run, directory)
    return importance(known.model, batches_of(known, importance_examples(shipped(DATA).train.examples)))


@st.cache_data(show_spinner=False, max_entries=4)
def honest(run: str, directory: str) -> list[list[float]]:
    """The rise of the loss without each head."""
    from minibert.pruning.importance import batches_of, losses_without_heads
    from minibert.pruning.run import importance_examples

    known = load_predictor(run, directory)
    return losses_without_heads(
        known.model, batches_of(known, importance_examples(shipped(DATA).train.examples)[:HONEST])
    )


@st.cache_resource(show_spinner=False, max_entries=8)
def left_of(selection: CutChoice) -> "tuple[Keep, dict[str, Predictor]]":
    """(what is kept; name → the whole model, the pruned one, the whole one with as many of its weights set to 0)."""
    from dataclasses import replace

    from minibert.pruning.cut import cut
    from minibert.pruning.magnitude import magnitude_masks, pruned_weights, zeroed
    from minibert.pruning.run import parts_to_keep

    known = load_predictor(selection.run, selection.directory)
    keep = parts_to_keep(
        known, selection.pruning, shipped(DATA).train.examples, worth(selection.run, selection.directory)
    )
    results, share = {WHOLE: known}, selection.share
    if selection.what != "weights":
        results[CUT] = replace(known, model=cut(known.model, keep))
        numbers = [sum(x.numel() for x in pruned_weights(results[name].model).values()) for name in (WHOLE, CUT)]
        share = 1 - numbers[1] / numbers[0]
    results[ZEROS] = replace(known, model=zeroed(known.model, magnitude_masks(known.model, share)))
    return keep, results


@st.cache_data(show_spinner=False, max_entries=64)
def on_dev(selection: CutChoice) -> dict[str, dict[str, float]]:
    """For each model: accuracy on the dev reviews, and megabytes of its file, plain and compressed."""
    from minibert.finetune.evaluation import evaluate
    from minibert.pruning.magnitude import file_bytes

    measured = {}
    for name, known in left_of(selection)[1].items():
        plain, compressed = file_bytes(known.model)
        right = evaluate(known, shipped(DATA).dev).metrics["accuracy"]
        measured[name] = {"accuracy": right, "megabytes": plain / 1e6, "compressed": compressed / 1e6}
    return measured


@st.cache_data(show_spinner=False, max_entries=200)
def on_text(selection: CutChoice, text: str) -> "dict[str, tuple[Cost, str, float]]":
    """For each model: the cost of reading the text, and its label and probability."""
    from minibert.inside.costs.cost import measure

    models = left_of(selection)[1]
    costs = measure({name: (known.model, known.tokenizer) for name, known in models.items()}, [text], REPEATS)
    predictions = {name: known.predict([{"text": text}])[0] for name, known in models.items()}
    return {
        name: (costs[name], predictions[name]["label"], predictions[name]["probabilities"][predictions[name]["label"]])
        for name in models
    }
