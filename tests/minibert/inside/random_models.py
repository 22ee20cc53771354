"""A model of random weights, always the same one."""

import torch

from minibert.model import BertForPreTraining


def random_model(config, bias: float = 0.0, seed: int = 0) -> BertForPreTraining:
    """`bias`: how far biases are spread, where a forgotten one must show."""
    torch.manual_seed(seed)
    model = BertForPreTraining(config).eval()
    for name, value in model.named_parameters():
        if bias and name.endswith("bias"):
            torch.nn.init.normal_(value, std=bias)
    return model
