"""XLNet's two streams (Yang et al. 2019, §2.3), computed twice: separately, as in the paper, and as one long row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from minibert.model import Batch, Bert
from minibert.relatives.parts.permutation import content_mask, query_mask, with_queries


@torch.no_grad()
def two_streams(bert: Bert, batch: Batch) -> tuple[Tensor, Tensor]:
    """h and g of the last layer, (B, T, H) each, for a batch with an `order`. With the same weights, the content stream
    h attends to itself; the query stream g has a vector for each place, and attends to h."""
    if batch.order is None:
        raise ValueError("two streams need an order of the tokens")
    kwargs = bert.attention_kwargs(batch)
    of_content = content_mask(batch.order, batch.padding)[:, None]  # (B, 1, T, T)
    of_query = query_mask(batch.order, batch.padding)[:, None]
    h = bert.embeddings(batch.ids)  # (B, T, H)
    g = bert.embeddings(torch.full_like(batch.ids, bert.config.vocab_size))  # w at every place
    for block in bert.blocks:
        attention: Any = block.attn
        k, v = (attention.split(project(h)) for project in (attention.key, attention.value))  # (B, A, T, D)

        def stream(x: Tensor, mask: Tensor, block=block, k=k, v=v) -> Tensor:
            q = block.attn.split(block.attn.query(x))
            mixed = block.attn.merge(block.attn.attend(q, k, v, mask, **kwargs))
            x = block.attn_norm(x + block.attn.output(mixed))
            return block.mlp_norm(x + block.mlp(x))

        h, g = stream(h, of_content), stream(g, of_query)
    return h, g


@torch.no_grad()
def double_length(bert: Bert, batch: Batch) -> Tensor:
    """Both in one pass of the plain network over rows of 2·T: the tokens, then a query for each. → (B, 2·T, H)"""
    everywhere = replace(batch, labels=batch.ids)
    longer, mask, _ = with_queries(everywhere, bert.config.vocab_size)
    return bert(longer, mask=mask)[0]
