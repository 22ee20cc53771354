"""Is bfloat16 faster on this machine? Matrix products of the shapes a small BERT trains with, in float32 and bfloat16.

    python -m bench.precision [--threads 1] [--record]

`minibert.training.precision.has_bfloat16` must agree with the result. For each shape the three products of a training
step: forward, and the gradients of inputs and weights. Rounds alternate; the ratio is computed per round, and its
median reported.
"""

from __future__ import annotations

import statistics
import time

import torch

from bench.machine import arguments, record
from minibert.training.precision import best_device, has_bfloat16

ROWS = 32 * 128
LAYERS = {"tiny": (128, 128), "tiny, feed-forward": (128, 512), "mini": (256, 256), "mini, feed-forward": (256, 1024)}
ROUNDS, REPEATS = 15, 4


def main() -> None:
    parser = arguments(__doc__, "precision")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    results = {name: compared(*sizes) for name, sizes in LAYERS.items()}
    for name, figures in results.items():
        print(f"{name:20} float32 {figures['float32']:6.0f}  bfloat16 {figures['bfloat16']:6.0f} GFLOP/s", end="  ")
        print(f"bfloat16 {figures['ratio']:.2f} times as fast")
    print("autocast to bfloat16 is", "on" if has_bfloat16(best_device()) else "off")
    record(options.record, results)


def compared(inputs: int, outputs: int) -> dict[str, float]:
    """Median GFLOP/s of both formats over the rounds, and the median speed-up of bfloat16."""
    rates: dict[torch.dtype, list[float]] = {torch.float32: [], torch.bfloat16: []}
    for _ in range(ROUNDS):
        for dtype, measured in rates.items():
            measured.append(rate(inputs, outputs, dtype))
    ratios = [fast / plain for plain, fast in zip(*rates.values(), strict=True)]
    speeds = {str(dtype).removeprefix("torch."): round(statistics.median(them), 1) for dtype, them in rates.items()}
    return {**speeds, "ratio": round(statistics.median(ratios), 2)}


def rate(inputs: int, outputs: int, dtype: torch.dtype) -> float:
    """GFLOP/s of a linear layer's three products."""
    device = best_device()
    x, weight, gradient = (
        torch.randn(shape, device=device, dtype=dtype) for shape in ((ROWS, inputs), (outputs, inputs), (ROWS, outputs))
    )
    products = (lambda: x @ weight.T, lambda: gradient @ weight, lambda: gradient.T @ x)
    seconds = float("inf")
    for _ in range(REPEATS):
        begun = time.perf_counter()
        for product in products:
            product()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = min(seconds, time.perf_counter() - begun)
    return 3 * 2 * ROWS * inputs * outputs / seconds / 1e9


if __name__ == "__main__":
    main()
