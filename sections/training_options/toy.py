"""The toy world's BERT and stories that it has not read: what is shown of large runs is computed on them."""

from collections.abc import Iterator

import streamlit as st

from minibert.folders import CHECKPOINTS

FOLDER = CHECKPOINTS / "nezha-toy" / "bert"  # it has read rows of at most 32 tokens
STORIES = 5_000_003  # seed of the stories, outside all training data


def version() -> int:
    """Changes with the weights on disk."""
    return (FOLDER / "model.safetensors").stat().st_mtime_ns


@st.cache_resource(show_spinner=False, max_entries=1)
def network(version: int):
    """(model, tokenizer), loaded once per server. Shared: never modify them."""
    from minibert import checkpoint

    return checkpoint.load(FOLDER), checkpoint.load_tokenizer(FOLDER)


def batches(rows: int) -> Iterator:
    """Batches of the stories, 15 % masked as in the paper."""
    from minibert.objectives import MaskedLanguageModel
    from minibert.text.batches import PretrainingBatches
    from minibert.text.store import TokenStore
    from minibert.toy import world

    tokenizer = network(version())[1]
    store = TokenStore.build(world.documents(max(200, 2 * rows), STORIES, "small"), tokenizer)
    options = {"batch_size": rows, "max_length": 32, "seed": 0, "input_format": "doc_sentences"}
    return iter(PretrainingBatches(store, tokenizer, objective=MaskedLanguageModel(second=None), **options))


def name_of(weight: str) -> str:
    """The shortest unambiguous name of a weight."""
    for long, short in (("bert.", ""), (".weight", ""), ("blocks.", "block "), ("embeddings.", ""), (".attn.", " ")):
        weight = weight.replace(long, short)
    parts = weight.split()
    if parts[0] == "block":
        number, _dot, rest = parts[1].partition(".")
        return " ".join([f"block {int(number) + 1}", *([rest] if rest else []), *parts[2:]])
    return weight
