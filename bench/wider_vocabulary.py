"""Add pieces to a checkpoint's vocabulary before pre-training it on other text: digits and Latin letters, say, for one
trained on classical books only.

    python -m bench.wider_vocabulary --model checkpoints/mini-zh --texts FOLDER --size 8192 --out OUT

Existing entries keep their ids and weights. The new ones are the most frequent that `learn_fast` finds in the texts and
the model lacks; their embeddings are the mean of all others plus a little noise, so that they start neutral, and their
output bias is the lowest of all.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from minibert import checkpoint
from minibert.model import BertForPreTraining
from minibert.text.documents import read_documents
from minibert.text.vocab import learn_fast
from minibert.tokenizer import Tokenizer


def widened(model: BertForPreTraining, size: int, noise: float = 0.02) -> BertForPreTraining:
    """The same model with `size` entries, the first ones unchanged. Raises ValueError unless `size` is larger."""
    known = model.config.vocab_size
    if size <= known:
        raise ValueError(f"{size} entries are no more than the {known} there are")
    wider = BertForPreTraining(replace(model.config, vocab_size=size))
    weights = model.state_dict()
    vectors, bias = weights["bert.embeddings.token.weight"], weights["mlm.decoder.bias"]
    new = vectors.mean(0) + noise * torch.randn(
        size - known, vectors.size(1), generator=torch.Generator().manual_seed(0)
    )
    vectors = torch.cat([vectors, new])
    bias = torch.cat([bias, bias.min().expand(size - known)])
    names = {"bert.embeddings.token.weight": vectors, "mlm.decoder.weight": vectors, "mlm.decoder.bias": bias}
    wider.load_state_dict({**weights, **names})
    return wider


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--texts", type=Path, required=True, help="a folder of .txt files")
    parser.add_argument("--size", type=int, required=True, help="entries there are to be")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    tokenizer = checkpoint.load_tokenizer(options.model)
    texts = sorted(options.texts.glob("*.txt"))
    lines = (line for document in read_documents(texts, []) for line in document)
    known = set(tokenizer.vocab)
    found = [piece for piece in learn_fast(lines, options.size) if piece not in known]
    vocabulary = [*tokenizer.vocab, *found][: options.size]
    model = widened(checkpoint.load(options.model, kind=BertForPreTraining), len(vocabulary))
    checkpoint.save(options.out, model, Tokenizer(vocabulary), dtype=torch.float32)
    print(f"{len(vocabulary) - len(known)} new entries: {' '.join(vocabulary[len(known) :][:40])} …")


if __name__ == "__main__":
    main()
