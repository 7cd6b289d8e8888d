# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled step of a torch module, and what goes between both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._programs.arrays import array
from .._programs.convert import array_of
from ..errors import BranchError, InvalidArgumentError
from ..program import Entry

if TYPE_CHECKING:
    from ._memory import Memory
    from ._model import Imported
    from ._optimizer import TorchOptimizer


def _tensor_of(array: Any, like: Any) -> Any:
    """A copy of a value of the program, where `like` is and in its type."""
    import torch
    return torch.from_dlpack(array).to(device=like.device, dtype=like.dtype)


def _current_stream_of(device: Any) -> Callable[[], int]:
    """A function that gives PyTorch's current stream on a GPU, as CUDA's handle."""
    import torch
    index = torch.device(device).index or 0
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is not None:  # what PyTorch's own generated code asks: 30 times as fast
        return lambda: int(raw(index))
    return lambda: int(torch.cuda.current_stream(device).cuda_stream)


def _numpy_of(value: Any) -> Any:
    import torch
    if isinstance(value, dict):
        return {name: _numpy_of(v) for name, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_numpy_of(v) for v in value)
    if value.dtype == "bf16":
        return torch.from_dlpack(value).float().cpu().numpy()
    return value.numpy()


def _host(value: Any) -> Any:
    import numpy as np
    import torch
    return value.detach().double().cpu().numpy() if isinstance(value, torch.Tensor) \
        else np.asarray(value)


class Step(Entry):
    """A training step of a torch module: `loss = step(*inputs, *targets)`.

    It is an Entry with everything that one has (fit, predict, save, state_dict).
    Before each call it reads optimizer.param_groups, so that a scheduler changes what
    the next call does. Nothing is compiled for it.

    Parameters and buffers of the module are shared where their memory can be: `shared`
    names them. They move with every call, and other steps of the module see it. The rest,
    and tensors that forward() keeps in attributes, are copied by sync_to_module(). On a GPU
    a call is ordered with PyTorch's current stream, as a kernel of PyTorch's is.

    Attributes:
        module: the user's, which stays what it was.
        optimizer: the user's, whose own step() is not called.
        shared: names of parameters and buffers that live in the module's memory.
    """

    imported: Imported
    torch_optimizer: TorchOptimizer
    _memory: Memory
    shared: frozenset[str] = frozenset()

    _refresh: Callable[[], None] | None = None
    _guards: Entry | None = None
    _is_checked = False  # the batch of the call that goes on
    _current_stream: Callable[[], int] | None = None

    def _attach(self, imported: Imported, optimizer: TorchOptimizer,
                shared: frozenset[str]) -> None:
        self.imported, self.torch_optimizer, self.shared = imported, optimizer, shared
        self.module, self.optimizer = imported.module, optimizer.optimizer
        self._roles = {t["name"]: str(t["role"]) for t in self.program.plan.persistent()}
        from ._import import held
        from ._memory import Memory
        from ._optimizer import group_name
        used = [i for i in range(len(self.optimizer.param_groups))
                if group_name(i) in self._roles]
        self._has_narrow = any(held(v) is not v for v in imported.examples)
        self._refresh = optimizer.writer(self.program.executor.write, used)
        if shared and self.program.device.kind == "cuda":
            device = next(t.device for n, t, _ in imported.named_tensors() if n in shared)
            self._current_stream = _current_stream_of(device)
        self._predictors: dict[Any, Entry] = {}
        self._guards = self.program.entries.get(self.name + ".branches")
        params = {n for n, role in self._roles.items() if role == "param"}
        self._memory = Memory(
            imported, params | shared,
            {n for n, _, is_parameter in imported.named_tensors()
             if not is_parameter and n not in self._roles})
        imported.check_memory = self._memory.check_all
        self._moments: tuple[Any, int] = (None, 0)
        if any(self.optimizer.state.values()):
            self.load_optimizer_state()
        self._note_moments()

    def _note_moments(self) -> None:
        self._moments = self.optimizer.state, len(self.optimizer.state)

    def _before_run(self) -> None:
        """The groups' numbers as they are now, and the stream to be ordered with."""
        root = self.family.root  # other batch sizes are called through it, and alone
        assert isinstance(root, Step)
        if root._refresh is not None:
            root._refresh()
            root._memory.check_some()
            state, count = root._moments
            # optimizer.load_state_dict() or .state.clear(). Whoever reads the state of a
            # parameter that has none makes an empty one: that says nothing.
            if root.optimizer.state is not state or len(state) < count:
                root.load_optimizer_state()
        if root._current_stream is not None:
            stream = root._current_stream()
            for runner in self._runners or self._prepare():
                runner.peer_stream = stream

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the step once: forward, loss, backward, update. Inputs and targets by
        position or name, as Entry takes them, or one dict of them by name.

        Returns: the loss, an aicf.Array; float() reads it.
        """
        self._before_run()
        if len(args) == 1 and not kwargs and isinstance(args[0], Mapping):
            kwargs, args = dict(args[0]), ()
        if self.family.root._has_narrow:
            from ._import import held
            args = tuple(map(held, args))
            kwargs = {name: held(value) for name, value in kwargs.items()}
        root = self.family.root  # an entry of another size may be called by itself, too
        if root._guards is None or root._is_checked:
            return super().__call__(*args, **kwargs)
        root._check_branches(root._guards, args, kwargs)
        root._is_checked = True
        try:
            return super().__call__(*args, **kwargs)
        finally:
            root._is_checked = False

    def _check_branches(self, guards: Entry, args: Sequence[Any], kwargs: Mapping[str, Any]
                        ) -> None:
        if not args and not kwargs:
            raise InvalidArgumentError("a step that checks its branches takes its inputs with "
                                       "each call")
        holds = [bool(value.numpy()) for value in guards(*args, **kwargs)]
        if all(holds):
            return
        given = [*args, *(kwargs[name] for name in self.imported.names[len(args):])]
        decisions = self.imported.guards_of([tuple(value.shape) for value in given])
        raise BranchError("the batch takes another branch than the example: %s" % "; ".join(
            "%s: %s gave %r" % (d.place, d.kind, d.value)
            for d, is_same in zip(decisions, holds) if not is_same))

    def get(self, name: str) -> Any:
        """Entry.get; "lr" is that of the optimizer's first group."""
        if name == "lr":
            import numpy
            return array(numpy.float64(self.optimizer.param_groups[0]["lr"]))
        return super().get(name)

    def run(self, n: int = 1, *, steps_per_launch: int = 1) -> Any:
        """As Entry.run; the groups' numbers are read once, before the first step."""
        if self.family.root._guards is not None:
            raise InvalidArgumentError("a step that checks its branches takes its inputs with "
                                       "each call: run() would not check them")
        self._before_run()
        return super().run(n, steps_per_launch=steps_per_launch)

    # State, both ways

    def _write(self, name: str, tensor: Any) -> None:
        """In the program's type: 16-bit parameters are trained in f32."""
        import torch
        value = tensor.detach()
        if self.program.executor.find(name)["dtype"] == "f32":
            value = value.to(torch.float32)
        if self.program.device.kind == "cpu":
            value = value.cpu()
        self.program.executor.write(name, value.contiguous())

    def _owned(self) -> Iterator[tuple[str, Any]]:
        """Trained parameters that the plan has, by their first names."""
        seen: set[int] = set()
        for name, tensor, is_parameter in self.imported.named_tensors():
            if is_parameter and id(tensor) not in seen and self._roles.get(name) == "param" \
                    and self.imported.owners[id(tensor)].requires_grad:
                seen.add(id(tensor))
                yield name, tensor

    def load_optimizer_state(self) -> None:
        """Takes moments and the count of updates from the optimizer; compile_step does
        so too, and a call after optimizer.load_state_dict(). Raises InvalidArgumentError:
        the counts of parameters differ otherwise than when the step was compiled."""
        import torch
        self._note_moments()
        executor, optimizer = self.program.executor, self.torch_optimizer
        owned = list(self._owned())
        for name, parameter in owned:
            state = self.optimizer.state.get(parameter, {})
            for key in optimizer.state_names:
                value = state.get(key)
                if value is None:
                    value = torch.full_like(parameter, float(key in optimizer.scalar_states))
                elif key in optimizer.scalar_states:
                    value = torch.full_like(parameter, float(value))
                self._write("%s.%s" % (name, key), value)
        if not optimizer.is_adam:
            if "step" in self._roles:  # of a rule: behind the first update or not
                executor.write("step", int(any(
                    self.optimizer.state.get(p) for _, p in owned)))
            return
        steps, lags = optimizer.steps(), optimizer.lags()
        for name, parameter in owned:
            if lags[id(parameter)] != optimizer.lag_of[id(parameter)]:
                raise InvalidArgumentError(
                    "%s has had %d updates fewer than others, and %d fewer when the step was "
                    "compiled: compile it again" % (name, lags[id(parameter)],
                                                    optimizer.lag_of[id(parameter)]))
        executor.write("step", steps)
        if steps and "rng_step" in self._roles:  # a resumed run drops other elements
            executor.write("rng_step", steps * self.signature.accumulate)

    def sync_to_optimizer(self, *, whole: bool = True) -> None:
        """Gives moments and the count of updates to the optimizer, whose step() and
        state_dict() go on from here. Between the batches of an update it raises
        FailedStateError, unless `whole` is False: gradients that are added up stay here."""
        import torch
        executor, optimizer = self.program.executor, self.torch_optimizer
        if whole:
            self.program._check_whole_updates()
        step = int(executor.read("step").numpy()) if optimizer.is_adam else 0
        for name, parameter in self._owned():
            state = self.optimizer.state[parameter]
            for key in optimizer.state_names:
                value = _tensor_of(executor.read("%s.%s" % (name, key)), parameter)
                if key in optimizer.scalar_states:
                    value = value.flatten()[0]
                if state.get(key) is None:
                    state[key] = value.clone()
                else:
                    state[key].copy_(value)
            if optimizer.is_adam:
                own, old = step - optimizer.lag_of[id(parameter)], state.get("step")
                state["step"] = torch.tensor(float(own)) if old is None \
                    or not isinstance(old, torch.Tensor) else old.fill_(own)
        self._note_moments()

    def sync_to_module(self) -> None:
        """Copies parameters and buffers that are not shared, and tensors that forward()
        keeps, into the module."""
        self.program.sync()
        for name, tensor, _ in self.imported.named_tensors():
            if name not in self.shared and self._roles.get(name) in ("param", "state"):
                tensor.data.copy_(_tensor_of(self.program.executor.read(name), tensor))
        for state in self.imported.states.values():
            state.store()

    def load_from_module(self) -> None:
        """Takes parameters and buffers from the module, after it has been changed. What has
        other memory now is shared anew. Raises InvalidArgumentError: a constant buffer has
        changed, or a parameter is another object; compile the step again then."""
        self._memory.check_constants()
        for state in self.imported.states.values():
            state.load()
        for name, tensor in self._memory.moved():
            if name in self.shared:
                self.program.bind(name, tensor.detach())
        for name, tensor, _ in self.imported.named_tensors():
            if name not in self.shared and self._roles.get(name) in ("param", "state"):
                self._write(name, tensor)

    def state_dict(self, optimizer: bool = False) -> dict[str, Any]:
        """As Program.state_dict, with all names of module.state_dict(): a tied parameter
        has each of its names, and buffers that are constants are there. So PyTorch loads
        it strictly. Tensors that forward() keeps in attributes come with `optimizer`."""
        found = super().state_dict(optimizer)
        first: dict[int, str] = {}
        for name, tensor, _ in self.imported.named_tensors():
            if name in found:
                first.setdefault(id(tensor), name)
        for state in self.imported.states.values() if not optimizer else ():
            for name in state.names:
                found.pop(name, None)
        for name, tensor in self.module.state_dict(keep_vars=True).items():
            if name not in found and id(tensor) in first:
                found[name] = found[first[id(tensor)]].copy()
            elif name not in found:
                from ._import import host_array
                found[name] = host_array(tensor)
        return found

    def _check_tied(self, state: Mapping[str, Any]) -> None:
        """Raises InvalidArgumentError: names of one parameter have different values."""
        import numpy as np
        first: dict[int, str] = {}
        for name, tensor, _ in self.imported.named_tensors():
            if name in state:
                other = first.setdefault(id(tensor), name)
                if other != name and not np.array_equal(
                        _host(state[other]), _host(state[name]), equal_nan=True):
                    raise InvalidArgumentError(
                        "%r and %r are one tensor of the module, and the state has different "
                        "values for them" % (other, name))

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """As Program.load_state_dict. Raises InvalidArgumentError, too, for a buffer that
        is a constant of the plan, and another one in `state`, and for names of one
        parameter that have different values."""
        import torch
        self._check_tied(state)
        for name, tensor, is_parameter in self.imported.named_tensors():
            if not is_parameter and name not in self._roles and name in state:
                other = torch.as_tensor(state[name])
                if other.shape != tensor.shape or not torch.equal(
                        other.to(tensor.device, tensor.dtype), tensor):
                    raise InvalidArgumentError(
                        "buffer %r never changes in the step, so that the plan has it as a "
                        "constant, and the state has another value: compile the step again"
                        % name)
        kept = {n: self.program.executor.read(n).numpy() for one in
                self.imported.states.values() for n in one.names if n in self._roles}
        super().load_state_dict({**kept, **state}, strict)

    def set(self, name: str, value: Any) -> None:
        """Entry.set. Learning rates are those of optimizer.param_groups."""
        if name == "lr":
            raise InvalidArgumentError("the step reads its learning rates from the "
                                       "optimizer: set optimizer.param_groups[0][\"lr\"]")
        super().set(name, value)

    def predict(self, *arrays: Any, batch_size: int | None = None) -> Any:
        """Runs the module in eval() on the arrays.

        Without `batch_size` all of the arrays are one batch, as in a call of the module.
        An entry is compiled for each new shape. With `batch_size` the rows go through in
        chunks of so many, the last one filled up: the result of a row must not depend on
        other rows then.

        Returns: NumPy arrays as the module returns tensors: one, a tuple or a dict. bf16
            becomes float32, which NumPy has.
        """
        self._memory.check_all()
        import torch

        from ..torch import predict
        from ._import import held
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            names = self.imported.names[:self.imported.num_inputs]
            if set(arrays[0]) != set(names):
                raise InvalidArgumentError("predict got the inputs %s, the module takes %s" % (
                    ", ".join(map(str, arrays[0])), ", ".join(names)))
            arrays = tuple(arrays[0][name] for name in names)
        given = [torch.as_tensor(array_of(a, "input %d" % i)) for i, a in enumerate(arrays)]
        for i, (value, own) in enumerate(zip(given, self.imported.examples)):
            if value.dtype == torch.float64 and own.dtype == torch.float32:
                given[i] = value.float()  # NumPy's and pandas' default
            given[i] = given[i].contiguous()
        if batch_size is not None:
            return super().predict(*map(held, given), batch_size=batch_size)
        shapes = tuple(tuple(a.shape) for a in given)
        if shapes not in self._predictors:
            sizes = "_".join("x".join(map(str, s)) or "scalar" for s in shapes)
            name = "predict_" + sizes if "predict" in self.program.entries else "predict"
            self._predictors[shapes] = predict(self.module, given, program=self, name=name)
        return _numpy_of(self._predictors[shapes](*map(held, given)))

    def memory_analysis(self) -> dict[str, Any]:
        """Program.memory_analysis; also module_bytes, of the module's parameters and
        buffers, and shared_bytes, of those that the program uses where they are."""
        tensors = {id(t): (n, t) for n, t, _ in self.imported.named_tensors()}
        sizes = [(n, t.numel() * t.element_size()) for n, t in tensors.values()]
        return {**super().memory_analysis(),
                "module_bytes": sum(size for _, size in sizes),
                "shared_bytes": sum(size for name, size in sizes if name in self.shared)}


def check_one_device(module: Any) -> None:
    """Refuses parts of a module on several devices."""
    kinds = {t.device for t in (*module.parameters(), *module.buffers())}
    if len(kinds) > 1:
        raise InvalidArgumentError("the module is on several devices: %s"
                                   % ", ".join(sorted(map(str, kinds))))


