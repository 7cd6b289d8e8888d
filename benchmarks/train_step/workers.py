# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peers, each in a process of its own, and AICF behind the same face.

A worker answers setup(case, weights, x, t) -> {variant: seconds to set up},
first(variant) -> (loss, first weight) after one step, time(variant, n) ->
microseconds a step, memory() -> bytes on the card.
"""

import json
import multiprocessing
import os
import pathlib
import tempfile
import time

import numpy as np

from cases import CASES, LEARNING_RATE
from session import Session

BETAS, EPS = (0.9, 0.999), 1e-8


class TorchWorker:
    """PyTorch on one device. A subclass names its variants: a process each on a
    GPU, where an error ends the context."""

    threads = None  # all cores

    def __init__(self, device):
        self.device = device

    def setup(self, case, weights, x, t):
        if self.cases and case not in self.cases:
            return {}
        import torch
        self.torch = torch
        if self.threads:
            torch.set_num_threads(self.threads)
        _, widths, self.precision = CASES[self.device][case]
        tf32 = self.precision == "tf32"
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
        torch._dynamo.reset()
        self.impls, seconds = {}, {}
        for variant in self.variants:
            start = time.perf_counter()
            self.impls[variant] = self.make(variant, weights, x, t)
            self.wait()
            seconds[variant] = time.perf_counter() - start
        return seconds

    def wait(self):
        if self.device == "cuda":
            self.torch.cuda.synchronize()

    def make_step(self, weights, x, t):
        """(parameters, a step that returns the loss); `x`, `t`: tensors."""
        torch = self.torch
        params = [torch.tensor(w, device=self.device).requires_grad_()
                  for w in weights]
        rate = LEARNING_RATE
        if self.compile_optimizer:  # a number would be compiled into the code
            rate = torch.tensor(rate, device=self.device)
        optimizer = torch.optim.Adam(
            params, lr=rate, betas=BETAS, eps=EPS, capturable=self.graph,
            fused=not self.compile_optimizer)
        amp = torch.autocast(self.device, torch.bfloat16,
                             enabled=self.precision == "bf16",
                             cache_enabled=not self.graph)

        def loss_of(x, t):
            h = x
            with amp:
                for i in range(0, len(params), 2):
                    h = torch.nn.functional.linear(h, params[i], params[i + 1])
                    if i + 2 < len(params):
                        h = torch.relu(h)
            return torch.nn.functional.mse_loss(h.float(), t)

        if self.compile:
            loss_of = torch.compile(loss_of, mode=self.mode)
        update = optimizer.step
        if self.compile_optimizer:
            update = torch.compile(update, mode=self.mode)

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x, t)
            loss.backward()
            update()
            return loss
        return params, step

    graph, compile, compile_optimizer, mode = False, False, False, None
    cases = None  # all

    def make(self, variant, weights, x, t):
        torch = self.torch
        x, t = (torch.tensor(a, device=self.device) for a in (x, t))
        params, step = self.make_step(weights, x, t)
        state = {"params": params, "x": x, "t": t, "run": step}
        if not self.graph:
            state["first"] = (step().item(), params[0].detach().cpu().numpy().copy())
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
        with torch.cuda.graph(graph):
            state["loss"] = step()
        state["graph"] = graph
        state["run"] = graph.replay
        return state

    def first(self, variant):
        return self.impls[variant]["first"]

    def time(self, variant, n):
        state = self.impls[variant]
        state["x"].normal_()  # fresh data, the same memory
        run = state["run"]
        run()
        self.wait()
        start = time.perf_counter()
        for _ in range(n):
            run()
        self.wait()
        return (time.perf_counter() - start) * 1e6 / n

    def memory(self):
        self.impls = {}
        if self.device == "cpu":
            return 0
        peak = self.torch.cuda.max_memory_allocated()
        self.torch.cuda.empty_cache()
        self.torch.cuda.reset_peak_memory_stats()
        return peak

    def ceilings(self):
        """Matmul rates (FLOP/s) and the copy rate (bytes/s) of the device."""
        import torch

        def rate(work, amount):
            work()
            times = []
            for _ in range(9):
                start = time.perf_counter()
                for _ in range(3):
                    work()
                if self.device == "cuda":
                    torch.cuda.synchronize()
                times.append((time.perf_counter() - start) / 3)
            return amount / sorted(times)[len(times) // 2]

        cuda = self.device == "cuda"
        rates, n = {}, 8192 if cuda else 2048
        kinds = [("f32", torch.float32, "highest")]
        if cuda:
            kinds += [("bf16", torch.bfloat16, "highest"),
                      ("tf32", torch.float32, "high")]
        for name, dtype, precision in kinds:
            torch.set_float32_matmul_precision(precision)
            a, b = (torch.randn(n, n, device=self.device, dtype=dtype)
                    for _ in range(2))
            out = torch.empty_like(a)
            rates[name] = rate(lambda: torch.mm(a, b, out=out), 2 * n ** 3)
        a = torch.empty(2 ** 30 if cuda else 2 ** 25, device=self.device).normal_()
        b = torch.empty_like(a)
        rates["copy"] = rate(lambda: b.copy_(a), 2 * a.numel() * 4)
        torch.set_float32_matmul_precision("highest")
        return rates


class TorchEager(TorchWorker):
    variants = ["torch eager"]


class TorchGraph(TorchWorker):
    """Every kernel of an eager step in one CUDA graph."""

    variants, graph = ["torch graph"], True


class TorchCompile(TorchWorker):
    """torch.compile of forward and backward, fused Adam."""

    variants, compile = ["torch compile"], True


class TorchCompileGraph(TorchWorker):
    """The same, all in one CUDA graph."""

    variants, compile, graph = ["torch compile graph"], True, True


class TorchCompileAllGraph(TorchCompileGraph):
    """Adam compiled too, instead of PyTorch's fused one."""

    variants, compile_optimizer = ["torch compile all graph"], True


class TorchAutotuneGraph(TorchCompileAllGraph):
    """With Triton's products; takes minutes, and won at this case alone of seed,
    digits and mid (results of 2026-11-22)."""

    variants, mode = ["torch autotune graph"], "max-autotune-no-cudagraphs"
    cases = ["seed"]


class TorchEagerOneThread(TorchWorker):
    variants, threads = ["torch eager, 1 thread"], 1


class TorchCompileOneThread(TorchWorker):
    variants, compile, threads = ["torch compile, 1 thread"], True, 1


class JaxWorker:
    """JAX: one jitted step with donated params and state."""

    variants = ["jax jit"]
    flags = ""

    def __init__(self, device):
        self.device = device
        if device == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
            os.environ["XLA_FLAGS"] = self.flags

    def setup(self, case, weights, x, t):
        import jax
        import jax.numpy as jnp
        self.jax = jax
        precision = CASES[self.device][case][2]
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
        self.first_result = (float(loss), np.array(self.state[0][0]))
        return {self.variants[0]: seconds}

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


class JaxOneThread(JaxWorker):
    variants, flags = ["jax jit, 1 thread"], "--xla_cpu_multi_thread_eigen=false"


PEERS = {"cuda": [TorchEager, TorchGraph, TorchCompileGraph, TorchCompileAllGraph,
                  TorchAutotuneGraph, JaxWorker],
         "cpu": [TorchEager, TorchEagerOneThread, TorchCompile,
                 TorchCompileOneThread, JaxWorker, JaxOneThread]}


class AicfWorker:
    """AICF: one process a variant, so that each has its own tuning. `variants`:
    {name: (arguments of aicf-step, the plan's suffix)}."""

    def __init__(self, program, plans, variants, tune):
        self.program, self.plans, self.tune = program, pathlib.Path(plans), tune
        self.how = {"aicf " + name: how for name, how in variants.items()}
        self.variants = list(self.how)
        self.sessions = {}

    def restart(self):
        for session in self.sessions.values():
            session.close()
        self.sessions = {}

    def setup(self, case, weights, x, t):
        seconds = {}
        self.first_results, self.stats = {}, {}
        for variant, (arguments, suffix) in self.how.items():
            plan = self.plans / ("%s.%s.plan" % (case, suffix))
            if not plan.exists():
                continue
            session = Session([self.program, *arguments], plan, self.tune)
            self.sessions[variant] = session
            seconds[variant] = session.prepare_seconds
            session.start(weights, x, t, LEARNING_RATE)
            session.ask("replay 1")
            self.first_results[variant] = (
                float(session.read("loss")[0]),
                session.read("fc0.weight").reshape(weights[0].shape))
        return seconds

    def first(self, variant):
        return self.first_results[variant]

    def time(self, variant, n):
        return float(self.sessions[variant].ask("time %d" % n))

    def kernels(self, variant):
        """Microseconds of every kernel of an eager step, by KID and problem."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            path = os.path.join(folder, "trace")
            self.sessions[variant].ask("trace " + path)
            with open(path) as file:
                return json.load(file)["kernels"]

    def time_unrolled(self, variant, n, steps):
        """Microseconds a step where a launch holds several."""
        return float(self.sessions[variant].ask("time %d %d" % (n, steps)))

    def memory(self):
        """Bytes of each variant; ends their processes."""
        result = {}
        for variant, session in self.sessions.items():
            words = session.ask("stats").split()
            self.stats[variant] = dict(zip(words[::2], map(int, words[1::2])))
            result[variant] = sum(self.stats[variant][k]
                                  for k in ("persistent", "io", "temp"))
        self.restart()
        return result


def serve(connection, kind, device):
    worker = kind(device)
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

    def __init__(self, kind, device):
        self.kind, self.device = kind, device
        self.variants, self.process = kind.variants, None
        self.restart()

    def restart(self):
        if self.process:
            self.process.terminate()
            self.process.join()
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other, self.kind, self.device), daemon=True)
        self.process.start()

    def __getattr__(self, name):
        def call(*args):
            self.connection.send((name, args))
            ok, value = self.connection.recv()
            if not ok:
                raise RuntimeError(value)
            return value
        return call
