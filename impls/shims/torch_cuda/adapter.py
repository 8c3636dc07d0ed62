#!/usr/bin/env python3
"""torch_cuda: the provider itself, as diffusers' get_timestep_embedding runs it with torch on CUDA.

The sequence of diffusers (commit f53d5520, embeddings.py), operation for operation, with flip_sin_to_cos = true,
downscale_freq_shift = 0 and scale = 1; memory of its intermediate results comes from torch's own allocator. The gradient is torch's
autograd over the same sequence. `adapter.py --check` runs a few rows without a judge and prints their bits.
"""
import math
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import assay_shim  # noqa: E402
from assay_shim import Reject, Unavailable, Unsupported  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

SLICE_ELEMENTS = 1 << 28  # of the output at once: the sequence needs some four times that for what lies between


def get_timestep_embedding(timesteps, embedding_dim, max_period):
    half_dim = embedding_dim // 2
    exponent = -math.log(max_period) * torch.arange(start=0, end=half_dim, dtype=torch.float32, device=timesteps.device)
    exponent = exponent / (half_dim - 0)
    emb = torch.exp(exponent)
    emb = timesteps[:, None].float() * emb[None, :]
    emb = 1 * emb
    emb = torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)
    return torch.cat([emb[:, half_dim:], emb[:, :half_dim]], dim=-1)


def require(condition, text):
    if not condition:
        raise Reject(text)


class Memory:
    """Device memory of somebody else, in the form that torch takes without a copy."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


class TorchCuda:
    name = "torch_cuda"
    version = torch.__version__ if torch is not None else "?"
    description = "diffusers' get_timestep_embedding, op for op, in torch on CUDA"
    lineage = "h3-cuda"
    operators = [{"name": "timestep_sinusoid_h3", "forward": True, "backward": True}]

    def __init__(self):
        self.knobs = [{"name": "torch", "requested": "auto", "effective": self.version}]

    def start(self, device):
        if torch is None:
            raise Unavailable("torch_cuda: python3 has no torch")
        if not torch.cuda.is_available():
            raise Unavailable("torch_cuda: torch sees no CUDA device")
        self.types = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
        self.device = torch.device(device)
        torch.cuda.set_device(self.device)
        torch.zeros(1, device=self.device)  # makes the context
        self.own = torch.cuda.Stream()
        self.driver = assay_shim.Driver()
        self.arenas = {}
        self.knobs.append({"name": "cuda", "requested": "auto", "effective": str(torch.version.cuda)})

    def open(self, handle):
        torch.cuda.set_device(self.device)
        torch.zeros(1, device=self.device)
        return self.driver.open(handle)

    def close(self, address):
        self.arenas.pop(address, None)
        self.driver.close(address)

    def tensor(self, arena, wire):
        flat = arena[wire.offset:wire.offset + wire.bytes].view(self.types[wire.dtype])
        return torch.as_strided(flat, wire.shape, wire.strides, flat.storage_offset())

    def checked(self, call, names):
        """Checks everything that the contract forbids but the values. Returns width, period and tensors by name."""
        attrs, wires = call["attrs"], call["inputs"] + call["outputs"]
        width, period = attrs.get("width", 256), attrs.get("max_period", 10000.0)
        require(len(wires) == len(names), "wrong number of tensors")
        require(type(width) is int and width > 0 and width % 2 == 0, "width must be a positive even number")
        require(type(period) in (int, float) and 0 < period < math.inf, "max_period must be finite and positive")
        t = dict(zip(names, wires))
        require(all(x is not None for x in wires), "null tensor")
        step = t["timestep"]
        require(step.dtype in self.types, "timestep must be f32, bf16 or f16")
        require(len(step.shape) == 1 and step.shape[0] >= 1, "timestep must be a vector, not empty")
        rows = step.shape[0]
        for name, x in t.items():
            if name == "grad":
                require(x.dtype == step.dtype and x.shape == [rows], "gradient must be like the timestep")
            elif name != "timestep":
                require(x.dtype == "f32" and x.shape == [rows, width], name + " must be f32 (rows, width)")
        return width, period, t

    def look(self, call, timestep):
        """The range check: one read-back."""
        if call["attrs"].get("check_range", True):
            values = timestep.float()
            require(bool(((values >= 0) & (values <= 1)).all()), "timestep must be finite and in [0, 1]")

    def prepare(self, call, arena):
        """A function that does the work of the call, once its arguments are checked."""
        if call["pass"] == "forward":
            width, period, wires = self.checked(call, ["timestep", "out"])
            t, out = self.tensor(arena, wires["timestep"]), self.tensor(arena, wires["out"])
            rows = max(1, SLICE_ELEMENTS // width)

            def work():
                self.look(call, t)
                for a in range(0, t.shape[0], rows):
                    out[a:a + rows].copy_(get_timestep_embedding(t[a:a + rows], width, period))
            return [t], work
        width, period, wires = self.checked(call, ["upstream", "saved", "timestep", "grad"])
        t, grad = self.tensor(arena, wires["timestep"]), self.tensor(arena, wires["grad"])
        upstream = self.tensor(arena, wires["upstream"])

        def work():
            self.look(call, t)
            leaf = t.detach().clone().requires_grad_(True)
            grad.copy_(torch.autograd.grad(get_timestep_embedding(leaf, width, period), leaf, upstream)[0])
        return [t, upstream, self.tensor(arena, wires["saved"])], work

    def stream(self, kind):
        if kind == "other":
            return torch.cuda.Stream()
        if kind == "legacy":
            return torch.cuda.ExternalStream(1)
        return torch.cuda.ExternalStream(2) if kind == "per_thread" else self.own

    def delay(self, inputs, microseconds, stream):
        """The inputs hold NaN bits now and get their values on the stream, so much later."""
        kept = [x.clone() for x in inputs]
        for x in inputs:
            x.fill_(math.nan)
        stream.synchronize()
        torch.cuda._sleep(microseconds * 2000)
        for x, value in zip(inputs, kept):
            x.copy_(value)

    def run(self, call, address):
        try:
            return self.run_on_device(call, address)
        except torch.OutOfMemoryError as why:
            raise MemoryError(str(why).split(".")[0])
        except torch.AcceleratorError as why:
            raise assay_shim.DeviceLost("CUDA error after the call: " + str(why).splitlines()[0])

    def run_on_device(self, call, address):
        if call.get("graph", 0) > 0 or call.get("apart", False):
            raise Unsupported("the eager sequence is not captured in a graph" if "graph" in call else "no memory of its own")
        torch.cuda.set_device(self.device)
        if address not in self.arenas:
            self.arenas[address] = torch.as_tensor(Memory(address, call["arena_bytes"]), device=self.device)
        inputs, work = self.prepare(call, self.arenas[address])
        stream = self.stream(call.get("stream", "own"))
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        used = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        with torch.cuda.stream(stream):
            if call.get("delay_us", 0) > 0:
                self.delay(inputs, call["delay_us"], stream)
            start = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            begin.record(stream)
            for _ in range(call["repeat"]):
                work()
            end.record(stream)
        stream.synchronize()
        ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - start
        extra = {"ns": ns, "device_ns": int(begin.elapsed_time(end) * 1e6)}
        if call.get("peak", False):
            extra["peak_bytes"] = torch.cuda.max_memory_allocated() - used
        return extra


def check():
    """A few rows without a judge: the bits of t = 0, 1/2 and 1 at width 8."""
    shim = TorchCuda()
    shim.start("cuda:0")
    t = torch.tensor([0.0, 0.5, 1.0], device=shim.device)
    words = get_timestep_embedding(t, 8, 10000.0).view(torch.int32).cpu().tolist()
    print("torch", shim.version, "on", torch.cuda.get_device_name())
    for row in words:
        print(" ".join("%08x" % (w & 0xffffffff) for w in row))


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check()
    else:
        assay_shim.serve(TorchCuda())
