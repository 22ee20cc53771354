"""A model of random weights, always the same one."""

import torch

from minibert.model import BertForPreTraining
from minibert.relatives import build


def random_model(config, spread: float = 0.0, seed: int = 0) -> BertForPreTraining:
    """`spread`: how far biases and the weights of norms lie apart, where a forgotten one must show."""
    torch.manual_seed(seed)
    model = build(config, BertForPreTraining).eval()
    with torch.no_grad():
        for vector in model.parameters():
            if vector.dim() == 1:
                vector.add_(spread * torch.randn(vector.shape))
    return model
