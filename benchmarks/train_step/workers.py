# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peers, each in a process of its own, and AICF behind the same face.

A worker answers setup(case, weights, x, t) -> {variant: seconds to set up},
loss_and_weight(variant), time(variant, n) -> microseconds a step, memory().
"""

import json
import multiprocessing
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

from cases import CASES, LEARNING_RATE

BETAS, EPS = (0.9, 0.999), 1e-8


class TorchWorker:
    """PyTorch; a process a variant, because an error ends a CUDA context."""

    def setup(self, case, weights, x, t):
        import torch
        self.torch = torch
        batch, widths, self.precision = CASES[case]
        tf32 = self.precision == "tf32"
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
        torch._dynamo.reset()
        self.impls, seconds = {}, {}
        for variant in self.variants:
            start = time.perf_counter()
            self.impls[variant] = self.make(variant, weights, x, t)
            torch.cuda.synchronize()
            seconds[variant] = time.perf_counter() - start
        return seconds

    def make(self, variant, weights, x, t):
        torch = self.torch
        params = [torch.tensor(w, device="cuda").requires_grad_()
                  for w in weights]
        x, t = (torch.tensor(a, device="cuda") for a in (x, t))
        optimizer = torch.optim.Adam(params, lr=LEARNING_RATE, betas=BETAS,
                                     eps=EPS, fused=True,
                                     capturable=variant != "torch eager")
        amp = torch.autocast("cuda", torch.bfloat16,
                             enabled=self.precision == "bf16",
                             cache_enabled=variant == "torch eager")

        def loss_of(x, t):
            h = x
            with amp:
                for i in range(0, len(params), 2):
                    h = torch.nn.functional.linear(h, params[i], params[i + 1])
                    if i + 2 < len(params):
                        h = torch.relu(h)
            return torch.nn.functional.mse_loss(h.float(), t)

        if variant == "torch compile graph":
            loss_of = torch.compile(loss_of)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x, t)
            loss.backward()
            optimizer.step()
            return loss

        state = {"params": params, "x": x, "t": t}
        if variant == "torch eager":
            state["first"] = (step().item(), params[0].detach().cpu().numpy())
            state["run"] = step
            return state
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            first = step().item()
            state["first"] = (first, params[0].detach().cpu().numpy())
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            state["loss"] = step()
        state["graph"] = graph
        state["run"] = graph.replay
        return state

    def first(self, variant):
        return self.impls[variant]["first"]

    def time(self, variant, n):
        torch, state = self.torch, self.impls[variant]
        state["x"].normal_()  # fresh data, the same memory
        run = state["run"]
        run()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n):
            run()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) * 1e6 / n

    def memory(self):
        peak = self.torch.cuda.max_memory_allocated()
        self.impls = {}
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()
        return peak

    def ceilings(self):
        """Matmul rates (FLOP/s) and the copy rate (bytes/s) of the card."""
        import torch

        def rate(work, amount):
            work()
            times = []
            for _ in range(9):
                start, stop = (torch.cuda.Event(enable_timing=True)
                               for _ in range(2))
                start.record()
                work()
                stop.record()
                torch.cuda.synchronize()
                times.append(start.elapsed_time(stop) / 1e3)
            return amount / sorted(times)[len(times) // 2]

        rates = {}
        n = 8192
        for name, dtype, precision in (("bf16", torch.bfloat16, "highest"),
                                       ("tf32", torch.float32, "high"),
                                       ("f32", torch.float32, "highest")):
            torch.set_float32_matmul_precision(precision)
            a, b = (torch.randn(n, n, device="cuda", dtype=dtype)
                    for _ in range(2))
            out = torch.empty_like(a)
            rates[name] = rate(lambda: torch.mm(a, b, out=out), 2 * n ** 3)
        a = torch.empty(2 ** 30, device="cuda").normal_()
        b = torch.empty_like(a)
        rates["copy"] = rate(lambda: b.copy_(a), 2 * a.numel() * 4)
        torch.set_float32_matmul_precision("highest")
        return rates


class TorchEager(TorchWorker):
    variants = ["torch eager"]


class TorchGraph(TorchWorker):
    """Every kernel of an eager step in one CUDA graph."""

    variants = ["torch graph"]


class TorchCompile(TorchWorker):
    """torch.compile of forward and backward, fused Adam, one CUDA graph."""

    variants = ["torch compile graph"]


class JaxWorker:
    """JAX: one jitted step with donated params and state."""

    variants = ["jax jit"]

    def setup(self, case, weights, x, t):
        import jax
        import jax.numpy as jnp
        self.jax = jax
        precision = CASES[case][2]
        jax.config.update("jax_default_matmul_precision",
                          {"tf32": "tensorfloat32", "f32": "float32"}.get(
                              precision, "default"))
        compute = jnp.bfloat16 if precision == "bf16" else jnp.float32

        def loss_of(params, x, t):
            h = x.astype(compute)
            for i in range(0, len(params), 2):
                h = h @ params[i].astype(compute).T + params[i + 1].astype(compute)
                if i + 2 < len(params):
                    h = jax.nn.relu(h)
            return jnp.mean((h.astype(jnp.float32) - t) ** 2)

        def step(state, x, t):
            params, m, v, count = state
            loss, grads = jax.value_and_grad(loss_of)(params, x, t)
            count = count + 1
            c1 = 1 / (1 - BETAS[0] ** count.astype(jnp.float32))
            c2 = 1 / (1 - BETAS[1] ** count.astype(jnp.float32))
            m = [BETAS[0] * a + (1 - BETAS[0]) * g for a, g in zip(m, grads)]
            v = [BETAS[1] * a + (1 - BETAS[1]) * g * g for a, g in zip(v, grads)]
            params = [p - LEARNING_RATE * (a * c1) / (jnp.sqrt(b * c2) + EPS)
                      for p, a, b in zip(params, m, v)]
            return (params, m, v, count), loss

        params = [jnp.asarray(w) for w in weights]
        zeros = lambda: [jnp.zeros_like(p) for p in params]
        self.state = (params, zeros(), zeros(), jnp.zeros((), jnp.int32))
        self.x, self.t = jnp.asarray(x), jnp.asarray(t)
        start = time.perf_counter()
        self.step = jax.jit(step, donate_argnums=0).lower(
            self.state, self.x, self.t).compile()
        seconds = time.perf_counter() - start
        self.state, loss = self.step(self.state, self.x, self.t)
        self.first_result = (float(loss), np.asarray(self.state[0][0]))
        return {"jax jit": seconds}

    def first(self, variant):
        return self.first_result

    def time(self, variant, n):
        jax, state = self.jax, self.state
        state, loss = self.step(state, self.x, self.t)
        jax.block_until_ready(loss)
        start = time.perf_counter()
        for _ in range(n):
            state, loss = self.step(state, self.x, self.t)
        jax.block_until_ready(state)
        self.state = state
        return (time.perf_counter() - start) * 1e6 / n

    def memory(self):
        stats = self.jax.devices()[0].memory_stats() or {}
        self.state = self.step = None
        return stats.get("peak_bytes_in_use", 0)


class AicfWorker:
    """AICF: one process a variant, so that each has its own tuning."""

    def __init__(self, program, plans, variants, tune):
        self.program, self.plans, self.tune = program, pathlib.Path(plans), tune
        self.variants = ["aicf " + v for v in variants]
        self.processes = {}

    def restart(self):
        for process in self.processes.values():
            process.kill()
        self.processes = {}

    def ask(self, variant, line):
        process = self.processes[variant]
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline().strip()
        if not answer.startswith("ok"):
            raise RuntimeError("%s: %s: %s" % (variant, line, answer))
        return answer[3:]

    def setup(self, case, weights, x, t):
        seconds = {}
        self.first_results, self.stats = {}, {}
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            def write(variant, name, array):
                path = os.path.join(folder, "tensor")
                np.ascontiguousarray(array).tofile(path)
                self.ask(variant, "write %s %s" % (name, path))

            for variant in self.variants:
                plan = self.plans / ("%s.%s.plan" % (case, variant[5:]))
                if not plan.exists():
                    continue
                self.processes[variant] = subprocess.Popen(
                    [self.program], stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE, text=True)
                answer = self.ask(variant, "load %s %s" % (plan, self.tune))
                seconds[variant] = float(answer.split()[3])
                for i, w in enumerate(weights):
                    write(variant, "fc%d.%s" % (i // 2, "bias" if i % 2 else
                                                "weight"), w)
                write(variant, "x", x)
                write(variant, "target", t)
                write(variant, "lr", np.float32(LEARNING_RATE))
                self.ask(variant, "replay 1")
                path = os.path.join(folder, "result")
                self.ask(variant, "read loss " + path)
                loss = float(np.fromfile(path, np.float32)[0])
                self.ask(variant, "read fc0.weight " + path)
                weight = np.fromfile(path, np.float32).reshape(weights[0].shape)
                self.first_results[variant] = (loss, weight)
        return seconds

    def first(self, variant):
        return self.first_results[variant]

    def time(self, variant, n):
        return float(self.ask(variant, "time %d" % n))

    def kernels(self, variant):
        """Microseconds of every kernel of an eager step, by KID and problem."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            path = os.path.join(folder, "trace")
            self.ask(variant, "trace " + path)
            with open(path) as file:
                return json.load(file)["kernels"]

    def time_unrolled(self, variant, n, steps):
        """Microseconds a step where a launch holds several."""
        return float(self.ask(variant, "time %d %d" % (n, steps)))

    def memory(self):
        """Bytes of each variant; ends their processes."""
        result = {}
        for variant, process in self.processes.items():
            words = self.ask(variant, "stats").split()
            self.stats[variant] = dict(zip(words[::2], map(int, words[1::2])))
            result[variant] = sum(self.stats[variant][k]
                                  for k in ("persistent", "io", "temp"))
            process.stdin.close()
            process.wait()
        self.processes = {}
        return result


def serve(connection, kind):
    worker = kind()
    while True:
        try:
            message = connection.recv()
        except EOFError:  # the parent has ended
            return
        if message is None:
            return
        name, args = message
        try:
            connection.send((True, getattr(worker, name)(*args)))
        except Exception as error:
            connection.send((False, repr(error)[:500]))


class Remote:
    """A worker in a process of its own."""

    def __init__(self, kind):
        self.kind, self.variants, self.process = kind, kind.variants, None
        self.restart()

    def restart(self):
        if self.process:
            self.process.terminate()
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, self.kind),
                                       daemon=True)
        self.process.start()

    def __getattr__(self, name):
        def call(*args):
            self.connection.send((name, args))
            ok, value = self.connection.recv()
            if not ok:
                raise RuntimeError(value)
            return value
        return call
