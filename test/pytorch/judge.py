# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled step beside PyTorch's loop: in f32, within what PyTorch's own f32 loses."""

import copy

import torch

import aicf.torch

FACTOR, FLOOR = 8.0, 2.0 ** -20


def of_type(values, dtype):
    return [v.to(dtype) if v.is_floating_point() else v for v in values]


def in_type(module, loss_fn, dtype):
    module = copy.deepcopy(module).to(dtype)
    loss_fn = copy.deepcopy(loss_fn).to(dtype) \
        if isinstance(loss_fn, torch.nn.Module) else loss_fn
    return module, loss_fn


def trained_by_torch(module, loss_fn, inputs, targets, optimizer_of, steps, dtype):
    """Losses, first gradients, and the module's state at the end."""
    module, loss_fn = in_type(module, loss_fn, dtype)
    optimizer = optimizer_of(module)
    losses, gradients = [], {}
    for i in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(module(*of_type(inputs, dtype)), *of_type(targets, dtype))
        loss.backward()
        if i == 0:
            gradients = {n: p.grad.clone() for n, p in module.named_parameters()
                         if p.grad is not None}
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses, gradients, {n: v.clone() for n, v in module.state_dict().items()}


def trained_by_aicf(module, loss_fn, inputs, targets, optimizer_of, steps, dtype,
                    **options):
    module, loss_fn = in_type(module, loss_fn, dtype)
    optimizer = optimizer_of(module)
    inputs, targets = of_type(inputs, dtype), of_type(targets, dtype)
    options.setdefault("verify", False)
    step = aicf.torch.compile_step(module, loss_fn, optimizer, inputs, targets, **options)
    losses = [float(step(*inputs, *targets)) for _ in range(steps)]
    step.sync_to_module()
    return losses, {n: v.clone() for n, v in module.state_dict().items()}, step


def gradients_of(module, loss_fn, inputs, targets, dtype):
    """Those of a compiled step, by name."""
    module, loss_fn = in_type(module, loss_fn, dtype)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.0)
    inputs, targets = of_type(inputs, dtype), of_type(targets, dtype)
    trained = [n for n, p in module.named_parameters() if p.requires_grad]
    try:
        step = aicf.torch.compile_step(
            module, loss_fn, optimizer, inputs, targets, verify=False,
            outputs=["grad:" + n for n in trained])
    except aicf.CompileError:  # some have no gradient: ask for those that have one
        step = aicf.torch.compile_step(module, loss_fn, optimizer, inputs, targets,
                                       verify=False)
        trained = [n for n, _ in step._owned()]
        step = aicf.torch.compile_step(
            module, loss_fn, optimizer, inputs, targets, verify=False,
            outputs=["grad:" + n for n in trained])
    _, found = step(*inputs, *targets)
    return {n.partition(":")[2]: torch.from_dlpack(g).clone() for n, g in found.items()}


def close(ours, single, double, what, largest=0.0):
    """Whether ours is as near to f64 as PyTorch's f32 is."""
    def numbers(value):
        return torch.as_tensor(value, dtype=torch.float64)
    own, exact = numbers(ours), numbers(double)
    scale = max(largest, float(exact.abs().max()) if exact.numel() else 0.0)
    allowed = max(FACTOR * float((numbers(single) - exact).abs().max()), FLOOR * scale)
    distance = float((own - exact).abs().max())
    assert distance <= allowed, "%s differs by %.3g, allowed are %.3g" % (
        what, distance, allowed)
