"""What external adapters of Python libraries share: the protocol of harness/PROTOCOL.md with tensors in CUDA memory.

A shim defines a class with `name`, `version`, `description`, `lineage`, `operators` and `knobs`, and with the methods

    start(device)             takes the GPU, e.g. "cuda:0"; raises Unavailable when it cannot
    open(handle) -> address   opens the judge's arena; close(address) gives it back
    run(call, address) -> dict    makes one call; returns the extra keys of a result (device_ns, peak_bytes)

and calls serve(shim). Nothing but the standard library is imported here, so that a missing library is told in one line.
"""
import ctypes
import json
import math
import os
import socket
import sys
import threading
import time

MAX_LINE = 65536
SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
ITEM_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "f64": 8, "i32": 4, "i64": 8, "u8": 1}


class Unavailable(Exception):
    """Why this adapter cannot serve at all."""


class Reject(Exception):
    """An input that the contract forbids."""


class Unsupported(Exception):
    """Something that the contract allows and this shim does not offer."""


class DeviceLost(Exception):
    """The GPU context of this process is unusable: only a fresh process can go on."""


class Wire:
    """A tensor of a call: dtype, shape, strides in elements, arena offset of element 0 and its span in bytes."""

    def __init__(self, wire):
        self.dtype, self.shape, self.strides = wire["dtype"], wire["shape"], wire["strides"]
        self.offset = wire["offset"]
        elements = 0 if 0 in self.shape else 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        self.bytes = elements * ITEM_BYTES[self.dtype]
        if self.offset + self.bytes > sum(wire["segment"]):
            raise Reject("tensor leaves its segment")


class Driver:
    """The two functions of the CUDA driver that open memory of another process. The context must be current."""

    class Handle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_ubyte * 64)]

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.library.cuIpcOpenMemHandle_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), Driver.Handle, ctypes.c_uint]

    def open(self, handle):
        address = ctypes.c_uint64(0)
        wire = Driver.Handle((ctypes.c_ubyte * 64)(*bytes.fromhex(handle)))
        status = self.library.cuIpcOpenMemHandle_v2(ctypes.byref(address), wire, 1)
        if status != 0:
            raise DeviceLost("opening the judge's arena: CUDA error %d" % status)
        return address.value

    def close(self, address):
        self.library.cuIpcCloseMemHandle(ctypes.c_uint64(address))


class Session:
    """The arena that is open, and one call after the other."""

    def __init__(self, shim):
        self.shim, self.handle, self.address = shim, None, 0

    def bind(self, call):
        if "arena" not in call:
            raise Unsupported("only tensors in CUDA memory")
        if call["arena"] != self.handle:
            if self.handle is not None:
                self.handle = None
                self.shim.close(self.address)
            self.address = self.shim.open(call["arena"])
            self.handle = call["arena"]

    def run(self, call, result):
        start = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        try:
            self.bind(call)
            for key in ("inputs", "outputs"):
                call[key] = [None if wire is None else Wire(wire) for wire in call[key]]
            for name, value in call["attrs"].items():
                if isinstance(value, dict):  # JSON has no NaN and no infinities
                    call["attrs"][name] = SPECIAL[value["float"]]
            start = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            result.update(self.shim.run(call, self.address) or {})
            result.update(status="ok", message="")
        except Reject as why:
            result.update(status="invalid_argument", message=str(why))
        except Unsupported as why:
            result.update(status="unsupported", message=str(why))
        except MemoryError as why:
            result.update(status="out_of_memory", message=str(why)[:200])
        except DeviceLost as why:
            print(str(why), file=sys.stderr, flush=True)
            os._exit(5)
        except Exception as why:
            result.update(status="internal", message=repr(why)[:200])
        result.setdefault("ns", time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - start)

    def answer(self, call):
        result = {"type": "result", "id": call["id"]}
        if call["op"] not in [o["name"] for o in self.shim.operators]:
            return dict(result, status="unsupported", message="no such operator", ns=0)
        if call["other_thread"]:
            thread = threading.Thread(target=self.run, args=(call, result))
            thread.start()
            thread.join()
        else:
            self.run(call, result)
        return result


def hello_of(shim, judge):
    """The answer to the judge's hello: who the shim is, or why it cannot serve."""
    hello = {"type": "hello", "role": "worker", "protocol": 1}
    if judge.get("type") != "hello" or judge.get("protocol") != 1:
        return dict(hello, error="speaks protocol 1 only")
    if "device" not in judge:
        return dict(hello, error="wants CUDA memory: use --device cuda:N")
    try:
        shim.start(judge["device"])
    except Unavailable as why:
        return dict(hello, error=" ".join(str(why).split())[:500])
    return dict(hello, name=shim.name, version=shim.version, description=shim.description, lineage=shim.lineage,
                memory="cuda", guards=False, operators=shim.operators, knobs=shim.knobs)


def serve(shim):
    if "ASSAY_SOCKET_FD" not in os.environ:
        sys.exit("%s: started by assay only" % shim.name)
    peer = socket.socket(fileno=int(os.environ["ASSAY_SOCKET_FD"]))
    lines = peer.makefile("rb")

    def send(message):
        peer.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    hello = hello_of(shim, json.loads(lines.readline(MAX_LINE)))
    send(hello)
    if "error" in hello:
        return
    session = Session(shim)
    while True:
        line = lines.readline(MAX_LINE)
        message = json.loads(line) if line else {"type": "exit"}
        if message["type"] == "call":
            send(session.answer(message))
        elif message["type"] == "ping":
            send({"type": "pong", "id": message["id"]})
        else:
            os._exit(0)
