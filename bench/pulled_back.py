"""A model that read on from another, pulled back towards it: the encoder's weights become share · its own +
(1 − share) · those of the start (as Wortsman et al. 2022, WiSE-FT, do after fine-tuning); its heads stay.

    python -m bench.pulled_back --model READ-ON --start all-MiniLM-L6-v2 --share 0.7 --out OUT

It keeps more of what the start knew, and loses little of what was read, which a short reading afterwards brings back.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn

from minibert import checkpoint
from minibert.command_line.arguments import model_directory
from minibert.model import BertForPreTraining


@torch.no_grad()
def pull_back(model: nn.Module, start: nn.Module, share: float) -> None:
    """Mix the encoder of `model` with that of `start`, in place. Raises ValueError where their weights differ in name
    or shape."""
    theirs = dict(getattr(start, "bert", start).named_parameters())
    ours = dict(model.bert.named_parameters())
    if {name: weight.shape for name, weight in ours.items()} != {n: w.shape for n, w in theirs.items()}:
        raise ValueError("the two encoders are not of one shape")
    for name, weight in ours.items():
        weight.lerp_(theirs[name], 1 - share)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument(
        "--start", type=model_directory, required=True, help="a checkpoint directory, or all-MiniLM-L6-v2"
    )
    parser.add_argument("--share", type=float, default=0.7, help="of what was read (default: 0.7)")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = checkpoint.load(options.model, kind=BertForPreTraining)
    pull_back(model, checkpoint.load(options.start), options.share)
    checkpoint.save(options.out, model, checkpoint.load_tokenizer(options.model), dtype=torch.float32)


if __name__ == "__main__":
    main()
