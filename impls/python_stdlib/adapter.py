#!/usr/bin/env python3
"""An external adapter: timestep_sinusoid_h3 in plain Python, speaking harness/PROTOCOL.md itself.

Nothing but the standard library. Slow, honest, and short enough to be the example of how to write one in any language.
Arithmetic order, per row t and k < half = width / 2, rn = one rounding to FP32:

    c = rn(-ln(max_period)), inv = rn(1 / half), f[k] = rn(exp(rn(rn(c * k) * inv))), a = rn(t * f[k])
    out[k] = rn(cos(a)), out[half + k] = rn(sin(a))

    gradient: p[k] = rn(rn(-rn(g[k] * out[half+k])) * f[k]), p[half+k] = rn(rn(g[half+k] * out[k]) * f[k]), zero-padded to a
    power of two; while more than one: p[i] = rn(p[i] + p[i + n/2]).

exp, cos and sin are the double functions of the C library, rounded once. It claims no provider's bits.
"""
import json
import math
import mmap
import os
import socket
import struct
import threading
import time
from array import array

OPERATOR = "timestep_sinusoid_h3"
MAX_LINE = 65536
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Reject(Exception):
    """An input that the contract forbids; the text becomes the call's message."""


def f32(x):
    """Rounds a double to FP32."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def load_bf16(half):
    return struct.unpack("<f", struct.pack("<I", half << 16))[0]


def store_bf16(x):
    if x != x:
        return 0x7FC0
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 & 0xFFFF


def load_f16(half):
    return struct.unpack("<e", struct.pack("<H", half))[0]


def store_f16(x):
    try:
        return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError:
        return 0xFC00 if x < 0 else 0x7C00


def same(x):
    return x


# dtype: (bytes, memoryview format, load to float, store from an FP32 value)
FLOATS = {"f32": (4, "f", same, same), "bf16": (2, "H", load_bf16, store_bf16), "f16": (2, "H", load_f16, store_f16)}


class Tensor:
    """A tensor of a call: a view of the arena, indexed by element."""

    def __init__(self, arena, wire):
        self.dtype, self.shape, self.strides = wire["dtype"], wire["shape"], wire["strides"]
        self.view = None
        if self.dtype in FLOATS:
            size, code, self.load, self.store = FLOATS[self.dtype]
            count = 0 if 0 in self.shape else 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
            begin = wire["offset"]
            if begin + count * size > sum(wire["segment"]):
                raise Reject("tensor leaves its segment")
            self.view = memoryview(arena)[begin:begin + count * size].cast(code)

    def vector(self):
        step = self.strides[0]
        return [self.load(self.view[i * step]) for i in range(self.shape[0])]

    def write_vector(self, values):
        for i, x in enumerate(values):
            self.view[i * self.strides[0]] = self.store(x)

    def row(self, i):
        rows, columns = self.strides
        return [self.view[i * rows + j * columns] for j in range(self.shape[1])]

    def write_row(self, i, values):
        rows, columns = self.strides
        if columns == 1:
            self.view[i * rows:i * rows + len(values)] = memoryview(values)
        else:
            for j, x in enumerate(values):
                self.view[i * rows + j * columns] = x


def require(condition, text):
    if not condition:
        raise Reject(text)


def checked(call, names_in, names_out):
    """Checks everything that the contract forbids. Returns (width, max_period, tensors by name)."""
    attrs = call["attrs"]
    width, period = attrs.get("width", 256), attrs.get("max_period", 10000.0)
    inputs, outputs = call["inputs"], call["outputs"]
    require(len(inputs) == len(names_in) and len(outputs) == len(names_out), "wrong number of tensors")
    require(type(width) is int and width > 0 and width % 2 == 0, "width must be a positive even number")
    require(type(period) in (int, float) and 0 < period < math.inf, "max_period must be finite and positive")
    t = dict(zip(names_in + names_out, inputs + outputs))
    require(all(x is not None for x in t.values()), "null tensor")
    step = t["timestep"]
    require(step.dtype in FLOATS, "timestep must be f32, bf16 or f16")
    require(len(step.shape) == 1 and step.shape[0] >= 1, "timestep must be a vector, not empty")
    rows = step.shape[0]
    for name, x in t.items():
        if name == "grad":
            require(x.dtype == step.dtype and x.shape == [rows], "gradient must be like the timestep")
        elif name != "timestep":
            require(x.dtype == "f32" and x.shape == [rows, width], name + " must be f32 (rows, width)")
    if attrs.get("check_range", True):
        require(all(0.0 <= x <= 1.0 for x in step.vector()), "timestep must be finite and in [0, 1]")
    return width, period, t


def frequencies(width, period):
    half = width // 2
    c, inv = f32(-math.log(period)), f32(1.0 / half)
    return [f32(math.exp(f32(f32(c * k) * inv))) for k in range(half)]


def forward(call):
    width, period, t = checked(call, ["timestep"], ["out"])
    freq = frequencies(width, period)
    for i, x in enumerate(t["timestep"].vector()):
        args = array("f", [x * f for f in freq])  # array("f") rounds each product once
        cos, sin = (math.cos, math.sin)
        row = array("f", [cos(a) if math.isfinite(a) else math.nan for a in args])
        row.extend(array("f", [sin(a) if math.isfinite(a) else math.nan for a in args]))
        t["out"].write_row(i, row)


def backward(call):
    width, period, t = checked(call, ["upstream", "saved", "timestep"], ["grad"])
    half, freq = width // 2, frequencies(width, period)
    gradients = []
    for i in range(t["timestep"].shape[0]):
        g, y = t["upstream"].row(i), t["saved"].row(i)
        inner = array("f", [-(g[k] * y[half + k]) for k in range(half)] + [g[half + k] * y[k] for k in range(half)])
        tree = array("f", [p * freq[k % half] for k, p in enumerate(inner)])
        size = 1 << (width - 1).bit_length()
        tree.extend([0.0] * (size - width))
        while size > 1:
            size //= 2
            tree = array("f", [tree[k] + tree[k + size] for k in range(size)])
        gradients.append(tree[0])
    t["grad"].write_vector(gradients)


PASSES = {"forward": forward, "backward": backward}


def timed(function, call, result):
    """Runs the call as often as asked and fills result with status, message and ns."""
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    try:
        for _ in range(call["repeat"]):
            function(call)
        result.update(status="ok", message="")
    except Reject as why:
        result.update(status="invalid_argument", message=str(why))
    except MemoryError:
        result.update(status="out_of_memory", message="no memory")
    except Exception as why:
        result.update(status="internal", message=repr(why)[:200])
    result["ns"] = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - start


def answer(call, arena):
    result = {"type": "result", "id": call["id"], "status": "unsupported", "message": "only " + OPERATOR, "ns": 0}
    if call["op"] != OPERATOR:
        return result
    try:
        for key in ("inputs", "outputs"):
            call[key] = [None if wire is None else Tensor(arena, wire) for wire in call[key]]
    except Reject as why:
        result.update(status="invalid_argument", message=str(why))
        return result
    for name, value in call["attrs"].items():
        if isinstance(value, dict):  # JSON has no NaN and no infinities
            call["attrs"][name] = SPECIAL[value["float"]]
    arguments = (PASSES[call["pass"]], call, result)
    if call["other_thread"]:
        thread = threading.Thread(target=timed, args=arguments)
        thread.start()
        thread.join()
    else:
        timed(*arguments)
    return result


def main():
    peer = socket.socket(fileno=int(os.environ["ASSAY_SOCKET_FD"]))
    lines = peer.makefile("rb")

    def send(message):
        peer.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    hello = json.loads(lines.readline(MAX_LINE))
    if hello["type"] != "hello" or hello["protocol"] != 1:
        send({"type": "hello", "role": "worker", "protocol": 1, "error": "speaks protocol 1 only"})
        return
    arena = mmap.mmap(int(os.environ["ASSAY_ARENA_FD"]), hello["arena_bytes"])
    send({"type": "hello", "role": "worker", "protocol": 1, "name": "python_stdlib", "version": "1",
          "description": "plain Python over the protocol, standard library only", "lineage": "", "memory": "host",
          "guards": False, "operators": [{"name": OPERATOR, "forward": True, "backward": True}], "knobs": []})
    while True:
        line = lines.readline(MAX_LINE)
        message = json.loads(line) if line else {"type": "exit"}
        if message["type"] == "call":
            send(answer(message, arena))
        elif message["type"] == "ping":
            send({"type": "pong", "id": message["id"]})
        else:
            return


if __name__ == "__main__":
    main()
