#!/usr/bin/env python3
"""assay_shim without a GPU: a shim over a bytearray, through a socket pair, message by message."""
import json
import os
import socket
import struct
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import assay_shim  # noqa: E402


class Doubler:
    """out = 2 * x, both f32 vectors in memory called "address" 7."""
    name, version, description, lineage = "doubler", "1", "a test", ""
    operators = [{"name": "double", "forward": True, "backward": False}]
    knobs = []

    def __init__(self):
        self.memory = bytearray(4096)
        self.opened, self.closed, self.started = [], [], None

    def start(self, device):
        if device == "cuda:9":
            raise assay_shim.Unavailable("no such\nGPU")
        self.started = device

    def open(self, handle):
        self.opened.append(handle)
        return 7

    def close(self, address):
        self.closed.append(address)

    def run(self, call, address):
        x, out = call["inputs"][0], call["outputs"][0]
        if address != 7 or x is None:
            raise assay_shim.Reject("null tensor")
        if call["attrs"].get("how") == "graph":
            raise assay_shim.Unsupported("no graph")
        if call["attrs"].get("how") == "memory":
            raise MemoryError("all taken")
        if call["attrs"].get("how") == "bug":
            raise KeyError("bug")
        for i in range(x.shape[0]):
            value, = struct.unpack_from("<f", self.memory, x.offset + 4 * i * x.strides[0])
            struct.pack_into("<f", self.memory, out.offset + 4 * i * out.strides[0], 2 * value)
        return {"device_ns": 5}


def tensor(offset, n, stride=1, segment=(0, 4096)):
    return {"dtype": "f32", "shape": [n], "strides": [stride], "offset": offset, "segment": list(segment)}


def call(**changes):
    message = {"type": "call", "id": "0123456789abcdef", "op": "double", "pass": "forward", "attrs": {}, "repeat": 1,
               "inputs": [tensor(256, 3)], "outputs": [tensor(1024, 3, 2)], "other_thread": False, "arena": "00" * 64,
               "arena_bytes": 4096}
    message.update(changes)
    return message


class Session(unittest.TestCase):
    def setUp(self):
        self.shim = Doubler()
        self.session = assay_shim.Session(self.shim)
        struct.pack_into("<3f", self.shim.memory, 256, 1.0, 2.5, -3.0)

    def test_computes_into_strided_output(self):
        for other in (False, True):
            result = self.session.answer(call(other_thread=other))
            self.assertEqual((result["status"], result["id"], result["device_ns"]), ("ok", "0123456789abcdef", 5))
            self.assertGreaterEqual(result["ns"], 0)
            self.assertEqual(struct.unpack_from("<5f", self.shim.memory, 1024), (2.0, 0.0, 5.0, 0.0, -6.0))

    def test_opens_an_arena_once_and_the_next_one_after_closing(self):
        for handle in ("00" * 64, "00" * 64, "ab" * 64):
            self.session.answer(call(arena=handle))
        self.assertEqual((self.shim.opened, self.shim.closed), (["00" * 64, "ab" * 64], [7]))

    def test_statuses(self):
        self.assertEqual(self.session.answer(call(op="other"))["status"], "unsupported")
        self.assertEqual(self.session.answer(call(inputs=[None]))["status"], "invalid_argument")
        self.assertEqual(self.session.answer(call(inputs=[tensor(4092, 2)]))["status"], "invalid_argument")
        for how, status in (("graph", "unsupported"), ("memory", "out_of_memory"), ("bug", "internal")):
            self.assertEqual(self.session.answer(call(attrs={"how": how}))["status"], status)
        host = call()
        del host["arena"]
        self.assertEqual(self.session.answer(host)["status"], "unsupported")

    def test_spans(self):
        self.assertEqual(assay_shim.Wire(tensor(0, 3, 5)).bytes, 4 * 11)
        self.assertEqual(assay_shim.Wire(tensor(0, 0, 5)).bytes, 0)

    def test_non_finite_attributes(self):
        attrs = {"a": {"float": "nan"}, "b": {"float": "-inf"}, "c": 2}
        message = call(attrs=attrs)
        self.assertEqual(self.session.answer(message)["status"], "ok")
        self.assertNotEqual(message["attrs"]["a"], message["attrs"]["a"])
        self.assertEqual(message["attrs"]["b"], float("-inf"))


class Hello(unittest.TestCase):
    judge = {"type": "hello", "role": "judge", "protocol": 1, "arena_bytes": 4096, "page_bytes": 4096}

    def test_refusals_are_one_line(self):
        for judge, text in ((self.judge, "use --device cuda:N"), (dict(self.judge, protocol=2), "protocol 1"),
                            (dict(self.judge, device="cuda:9"), "no such GPU")):
            hello = assay_shim.hello_of(Doubler(), judge)
            self.assertIn(text, hello["error"])
            self.assertNotIn("\n", hello["error"])

    def test_serves_over_a_socket(self):
        here, there = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            here.close()
            os.environ["ASSAY_SOCKET_FD"] = str(there.fileno())
            assay_shim.serve(Doubler())
            os._exit(1)
        there.close()
        lines = here.makefile("rb")

        def ask(message):
            here.sendall(json.dumps(message).encode() + b"\n")
            return json.loads(lines.readline())
        hello = ask(dict(self.judge, device="cuda:0"))
        self.assertEqual((hello["name"], hello["memory"], hello["guards"]), ("doubler", "cuda", False))
        self.assertEqual(ask({"type": "ping", "id": "1"}), {"type": "pong", "id": "1"})
        self.assertEqual(ask(call())["status"], "ok")
        here.sendall(b'{"type":"exit"}\n')
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    threading.stack_size(1 << 20)
    unittest.main()
