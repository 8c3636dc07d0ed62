#!/usr/bin/python3
"""Rate of the diffusers op sequence on one CPU thread of torch, in outputs per second, on stdout.

usage: bench_torch.py WIDTH ROWS SECONDS; exit status 3 when torch is missing.
"""
import math
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(3)


def embedding(timestep, width):
    half = width // 2
    exponent = -math.log(10000.0) * torch.arange(0, half, dtype=torch.float32)
    exponent = exponent / half
    emb = torch.exp(exponent)
    emb = timestep[:, None].float() * emb[None, :]
    return torch.cat([torch.cos(emb), torch.sin(emb)], dim=-1)


def main():
    width, rows, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    torch.set_num_threads(1)
    timestep = torch.rand(rows, generator=torch.Generator().manual_seed(1))
    embedding(timestep, width)
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or best == math.inf:
        start = time.perf_counter()
        embedding(timestep, width)
        best = min(best, time.perf_counter() - start)
    print(f"{rows * width / best:.6e}")


main()
