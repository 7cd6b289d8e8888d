# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of PyTorch, JAX and NumPy that do not exist here, and what to use instead.

A test checks that each entry is missing, so whoever adds the thing deletes its hint. This
file also puts messages of the compiler into Python's words.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar, cast

_NOT_YET = "does not exist yet"
_LOOP = "compile_step derives and runs backward and the optimizer: loss = step(x, y)"

#: The hints by place: a module, or a class such as "aicf.nn.Module".
HINTS: Mapping[str, Mapping[str, str]] = {
    "aicf": {
        "value_and_grad": "compile_step derives the gradients and returns the loss",
        "jit": "aicf.compile(function, inputs) compiles a function, aicf.compile_step a "
               "training step",
        "vmap": "functions are written for batches: [rows, ...]",
        "no_grad": "aicf.compile(model, inputs, program=step) has no gradients; inside "
                   "a step use aicf.ops.stop_gradient",
        "tensor": "inputs are NumPy arrays; aicf.array(values) puts one on a device",
        "ones": "aicf.array(numpy.ones(shape, \"float32\"))",
        "randn": "numpy.random.default_rng(0).standard_normal(shape, \"float32\")",
        "manual_seed": "compile_step(seed=...) seeds initialisers and dropout, "
                       "aicf.fit(seed=...) the order of the data",
        "cat": "aicf.concat(tensors, axis=0)",
        "concatenate": "aicf.concat(tensors, axis=0)",
        "save": "step.save(path) writes the plan, step.save_weights(path) the weights",
        "cuda": "compile_step(device=\"cuda\"); aicf.device(\"cuda\") says what is "
                "there",
        "einsum": "products are x @ y, which broadcasts",
        "matmul": "x @ y",
        "exp": "x.exp()",
        "log": "x.log()",
        "sqrt": "x.sqrt()",
        "mean": "x.mean()",
        "sum": "x.sum()",
        "argmax": "x.argmax(axis)",
        "relu": "aicf.functional.relu(x)",
        "softmax": "aicf.functional.softmax(x, axis)",
        "arange": "numpy.arange(n) is a constant in a step",
        "full": "numpy.full(shape, value, \"float32\") is a constant in a step",
        "empty": "aicf.zeros(shape)",
        "zeros_like": "x * 0, or numpy.zeros(x.shape, \"float32\") as a constant",
        "ones_like": "x * 0 + 1, or numpy.ones(x.shape, \"float32\") as a constant",
        "randint": "numpy.random.default_rng(0).integers(low, high, size)",
        "random": "aicf.functional.normal(shape) and uniform(shape) draw in a step",
        "float32": "element types are texts: \"f32\", \"bf16\", \"i32\"",
        "float16": "element types are texts: \"f16\"",
        "bfloat16": "element types are texts: \"bf16\"",
        "int32": "element types are texts: \"i32\"",
        "int64": "element types are texts: \"i64\"",
        "profiler": "print(step.profile(x, y))",
        "profile": "print(step.profile(x, y))",
        "amp": "compile_step(precision=\"bf16\") is mixed precision",
        "autocast": "compile_step(precision=\"bf16\") is mixed precision",
        "train": "aicf.fit(step, (x, y), epochs=...)",
        "Trainer": "aicf.fit(step, (x, y), epochs=...)",
        "Model": "a model is an aicf.nn.Module; compile_step compiles its training step",
        "Sequential": "aicf.nn.Sequential",
        "Module": "aicf.nn.Module",
        "Parameter": "aicf.nn.Parameter",
        "Dataset": "aicf.fit takes arrays and any iterable of batches",
        "DataLoader": "aicf.fit takes arrays, and PyTorch's DataLoader",
        "load_model": "aicf.load(path) reads a plan",
        "evaluate_step": "aicf.evaluate(step, data)",
    },
    "aicf.callbacks": {
        "CSVLogger": "aicf.fit(log=\"run.csv\")",
        "ModelCheckpoint": "aicf.fit(checkpoint=\"folder\"), which keeps the last state "
                           "and the best",
        "LearningRateMonitor": "aicf.fit logs the rate as \"lr\"",
        "LearningRateScheduler": "a schedule is the learning rate: "
                                 "aicf.optim.AdamW(aicf.optim.WarmupCosine(...))",
        "LambdaCallback": "a function f(epoch, logs) is a callback",
        "ProgressBar": "aicf.fit(verbose=1)",
        "TQDMProgressBar": "aicf.fit(verbose=1)",
        "GradientAccumulationScheduler": "aicf.optim.AdamW(accumulate=4)",
        "StochasticWeightAveraging": "aicf.callbacks.EMA(decay)",
        "TerminateOnNaN": "aicf.fit ends a run whose loss is not finite, and says why",
        "BackupAndRestore": "aicf.fit(checkpoint=\"folder\", resume=True)",
        "WandbLogger": "aicf.callbacks.WandB(project=...)",
        "TensorBoardLogger": "aicf.callbacks.TensorBoard(\"runs/first\")",
    },
    "aicf.data": {
        "DataLoader": "aicf.fit takes arrays, and PyTorch's DataLoader",
        "TensorDataset": "aicf.fit takes the arrays themselves: (x, y)",
        "Dataset": "aicf.fit takes arrays and any iterable of batches",
        "random_split": "aicf.fit(validation=0.2) holds a part back",
        "shuffle": "aicf.fit shuffles; on the device aicf.data.Batches(size) does",
    },
    "aicf.nn": {
        "Conv2d": "convolutions do not exist yet",
        "BatchNorm2d": "aicf.nn.BatchNorm1d takes [rows, channels, height, width], too",
        "Conv1d": "convolutions do not exist yet",
        "Conv3d": "convolutions do not exist yet",
        "MaxPool2d": "pooling does not exist yet; x.reshape(...).max(axis=...) pools where "
                     "windows do not overlap",
        "AvgPool2d": "pooling does not exist yet; x.reshape(...).mean(axis=...) pools where "
                     "windows do not overlap",
        "AdaptiveAvgPool2d": "x.mean(axis=(2, 3)) is the pooling to 1 x 1",
        "LSTM": "recurrent layers do not exist yet",
        "GRU": "recurrent layers do not exist yet",
        "RNN": "recurrent layers do not exist yet",
        "TransformerEncoderLayer": "aicf.nn.MultiheadAttention, LayerNorm and Linear are its "
                                   "parts; aicf.torch imports PyTorch's",
        "Upsample": "x.reshape(...).broadcast_to(...) repeats pixels",
        "CrossEntropyLoss": "aicf.losses.cross_entropy(logits, labels) in the loss "
                            "function",
        "MSELoss": "aicf.losses.mse_loss(pred, target) in the loss function",
        "BCEWithLogitsLoss": "aicf.losses.binary_cross_entropy_with_logits(pred, "
                             "target) in the loss function",
        "init": "nn.Parameter(shape, init=...) says how a parameter starts: \"zeros\", "
                "\"normal:0.02\", \"uniform_fan_in\", or an array",
        "Dense": "aicf.nn.Linear(in_features, out_features); its weight is [out, in]",
        "ModuleDict": "modules in a dict that is an attribute are found",
        "ParameterList": "parameters in a list that is an attribute are found",
    },
    "aicf.optim": {
        "LBFGS": "aicf.optim.Custom(update, states=...) is an optimizer that is a function "
                 "of one gradient a step",
        "Adafactor": "aicf.optim.Custom(update, states=...) is an optimizer of your own",
        "OneCycleLR": "aicf.optim.WarmupCosine(peak, warmup, steps, end)",
        "ExponentialLR": "aicf.optim.StepDecay(start, factor, 1)",
        "ReduceLROnPlateau": "aicf.callbacks.ReduceLROnPlateau(factor, patience)",
        "LambdaLR": "aicf.optim.Table([f(i) for i in range(steps)])",
        "lr_scheduler": "a schedule is the learning rate: "
                        "aicf.optim.AdamW(aicf.optim.WarmupCosine(...))",
        "StepLR": "aicf.optim.StepDecay(start, factor, every), in steps",
        "CosineAnnealingLR": "aicf.optim.Cosine(start, steps, end)",
        "PolynomialLR": "aicf.optim.Polynomial(start, steps, end, power)",
        "adamw": "aicf.optim.AdamW(lr, betas=..., weight_decay=...)",
        "sgd": "aicf.optim.SGD(lr, momentum=...)",
        "chain": "one optimizer has all of it: aicf.optim.AdamW(schedule, clip_norm=1.0, "
                 "accumulate=4)",
        "clip_by_global_norm": "aicf.optim.AdamW(clip_norm=1.0)",
        "warmup_cosine_decay_schedule": "aicf.optim.WarmupCosine(peak, warmup, steps, "
                                        "end)",
    },
    "aicf.losses": {
        "mae": "aicf.losses.l1_loss(pred, target)",
        "mse": "aicf.losses.mse_loss(pred, target)",
        "CrossEntropyLoss": "aicf.losses.cross_entropy(logits, labels)",
        "MSELoss": "aicf.losses.mse_loss(pred, target)",
        "binary_crossentropy": "aicf.losses.binary_cross_entropy(probs, target)",
        "triplet_loss": "write it with tensors: aicf.functional.relu(d(a, p) - d(a, n) + "
                        "margin).mean()",
        "softmax_cross_entropy_with_integer_labels":
            "aicf.losses.cross_entropy(logits, labels), which is the mean",
        "accuracy": "aicf.losses.accuracy_count(logits, labels) counts the right rows; "
                    "aicf.fit divides by all rows",
    },
    "aicf.functional": {
        "cross_entropy": "aicf.losses.cross_entropy(logits, labels)",
        "mse_loss": "aicf.losses.mse_loss(pred, target)",
        "linear": "x @ weight.T + bias, or aicf.ops.linear(x, weight, bias)",
        "conv2d": "convolutions do not exist yet",
        "max_pool2d": "x.reshape(...).max(axis=...), where windows do not overlap",
        "avg_pool2d": "x.reshape(...).mean(axis=...), where windows do not overlap",
        "pad": "aicf.ops.pad(x, axis=..., begin=..., size=...), one axis a call",
        "interpolate": "x.reshape(...).broadcast_to(...) repeats pixels",
        "accuracy": "aicf.losses.accuracy_count(logits, labels)",
        "randn": "aicf.functional.normal(shape)",
        "rand": "aicf.functional.uniform(shape)",
        "gather": "aicf.functional.take_along_axis(x, index, axis)",
        "topk": "aicf.functional.top_k(x, k, axis)",
        "nll_loss": "aicf.losses.nll_loss(log_probs, labels)",
        "l1_loss": "aicf.losses.l1_loss(pred, target)",
        "smooth_l1_loss": "aicf.losses.smooth_l1_loss(pred, target)",
        "huber_loss": "aicf.losses.huber_loss(pred, target)",
        "kl_div": "aicf.losses.kl_div(log_probs, target)",
        "binary_cross_entropy": "aicf.losses.binary_cross_entropy(probs, target)",
        "binary_cross_entropy_with_logits":
            "aicf.losses.binary_cross_entropy_with_logits(pred, target)",
        "multinomial": "aicf.functional.categorical(logits)",
    },
    "aicf.ops": {
        "permute": "x.permute(...), or aicf.ops.transpose(x, permutation=...)",
        "cat": "aicf.concat(tensors, axis=0)",
        "stack": "aicf.stack(tensors, axis=0)",
        "one_hot": "aicf.functional.one_hot(index, num_classes)",
        "einsum": "products are x @ y, which broadcasts, and aicf.ops.linear; "
                  "x.permute(...) and x.reshape(...) bring other ones into that form",
        "max": "x.max(axis=...), or aicf.ops.reduce_max, which says where it is, too",
    },
    "aicf.nn.Module": {
        "state_dict": "the compiled step has the values: step.state_dict()",
        "load_state_dict": "the compiled step has the values: "
                           "step.load_state_dict(state)",
        "to": "compile_step(device=..., precision=...) says where and in which type",
        "cuda": "compile_step(device=\"cuda\")",
        "zero_grad": _LOOP,
        "register_buffer": "assign it: self.name = nn.Buffer(shape)",
        "register_parameter": "assign it: self.name = nn.Parameter(shape)",
        "apply": "a module holds no values; nn.Parameter(shape, init=...) says how one "
                 "starts",
    },
    "aicf.Tensor": {
        "backward": _LOOP,
        "expand": "x.broadcast_to(...); arithmetic broadcasts as NumPy's does",
        "ravel": "x.flatten()",
        "contiguous": "use x itself: the compiler decides how it lies in memory",
        "to": "x.astype(\"f32\") casts; compile_step(device=...) says where",
        "float": "x.astype(\"f32\")",
        "half": "x.astype(\"f16\")",
        "double": "x.astype(\"f64\")",
        "long": "x.astype(\"i64\")",
        "int": "x.astype(\"i32\")",
        "bool": "x.astype(\"i1\")",
        "detach": "aicf.ops.stop_gradient(x)",
        "dim": "x.ndim",
        "numel": "x.size",
        "amax": "x.max(axis)",
        "amin": "x.min(axis)",
        "argmin": "(-x).argmax(axis)",
        "any": "x.sum(axis) > 0, of i1",
        "all": "(~x).sum(axis) == 0, of i1",
        "where": "aicf.where(condition, a, b)",
        "gather": "aicf.functional.take_along_axis(x, index, axis)",
    },
    "aicf.Array": {
        "cpu": "x.numpy() is on the host",
        "detach": "an array has no gradient: x.numpy()",
        "backward": _LOOP,
        "mean": "x.numpy().mean()",
        "sum": "x.numpy().sum()",
        "max": "x.numpy().max()",
        "T": "x.numpy().T",
        "astype": "x.numpy().astype(...)",
        "copy": "x.numpy().copy(); the array itself keeps its value",
        "argmax": "x.numpy().argmax(-1)",
        "reshape": "x.numpy().reshape(...)",
    },
    "aicf.Entry": {
        "backward": _LOOP,
        "zero_grad": _LOOP,
        "parameters": "step.state_dict() has the values by name",
        "train": "a step trains; step.predict(x) and aicf.compile(model, ..., "
                 "program=step) are without dropout",
        "eval": "step.predict(x), and aicf.compile(model, ..., program=step), are "
                "without dropout",
        "fit": "aicf.fit(step, data, epochs=...)",
        "evaluate": "aicf.evaluate(step, (x, y), metrics=[\"accuracy\"])",
        "score": "aicf.evaluate(step, (x, y), metrics=[\"accuracy\"])",
        "history": "aicf.fit returns it: history = aicf.fit(step, data)",
        "summary": "print(aicf.summary(step))",
        "lower": "step.as_text(\"plan-ir\"); aicf.trace_step(...).lower() has every stage",
    },
}

#: Keywords of other libraries, and what they are called here.
KEYWORDS = {"dim": "axis", "keepdims": "keepdim", "dims": "axis",
            "validation_split": "validation", "validation_data": "validation",
            "val_data": "validation", "restore_best_weights": "restore_best",
            "n_epochs": "epochs", "num_epochs": "epochs", "nb_epoch": "epochs",
            "max_epochs": "epochs", "train_dataloader": "data", "progress": "verbose",
            "initial_epoch": "resume", "steps_per_epoch": "batches_per_epoch",
            "logger": "log", "loggers": "log"}


def missing(place: str, name: str, known: object) -> AttributeError:
    """Returns the error for __getattr__, which says what to use instead of a name."""
    from ..errors import near_names
    hint = HINTS.get(place, {}).get(name)
    if hint is None:
        public = [n for n in dir(known) if not n.startswith("_")]
        return AttributeError("%s has no attribute %r%s"
                              % (place, name, near_names(name, public)))
    return AttributeError("%s.%s does not exist here: %s" % (place, name, hint))


def refuse_keywords(function: str, given: Mapping[str, object]) -> None:
    """Raises TypeError for keywords that a function does not have."""
    for name in given:
        ours = KEYWORDS.get(name)
        raise TypeError("%s() has no argument %r%s" % (
            function, name, ": it is called %r here" % ours if ours else ""))


_Function = TypeVar("_Function", bound=Callable[..., Any])


def says_axis(function: _Function) -> _Function:
    """Decorates a function with an `axis`. Its error for PyTorch's dim then says so."""
    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        others = KEYWORDS.keys() & given.keys()
        refuse_keywords(function.__name__, dict.fromkeys(sorted(others)))
        return function(*args, **given)
    return cast(_Function, call)


def no_module(value: object) -> NoReturn:
    """Raises TypeError for somebody else's module where one of ours is expected."""
    kind = type(value)
    home = kind.__module__.partition(".")[0]
    if home == "torch":
        raise TypeError(
            "%s is a module of torch: aicf.torch.compile_step compiles it as it is; or "
            "write the model with aicf.nn under the same names" % kind.__name__)
    if home in ("flax", "equinox", "haiku"):
        raise TypeError(
            "%s is a module of %s, which AICF cannot import yet: write the model with "
            "aicf.nn under the same names; step.load_state_dict takes its weights"
            % (kind.__name__, home))
    raise TypeError("expected an aicf.nn.Module, got a %s" % kind.__name__)


#: What the compiler says about IR, in words for those who wrote Python.
_WORDS = [
    (r"has 'aicf\.minimize', but no parameter to train: give an argument the role "
     r'"param"', "there is no parameter to train: the loss uses none of the model's, or "
     "all are frozen by requires_grad_(False)"),
    (r"has 'aicf\.optimizer': run --aicf-append-optimizer first",
     "the step has an optimizer, whose update the compiler adds: "
     "traced.lower().dump() shows the calls of all of it"),
    (r"mark (that|it|the parameter) aicf\.frozen",
     r"freeze it by requires_grad_(False)"),
    (r"put aicf\.stop_gradient on the operand",
     "pass aicf.ops.stop_gradient(x) to the op"),
    (r"return their sum \(aicf\.add\) and mark that", "return their sum"),
    (r"result 0 has 'aicf\.minimize' and is '?([^':]*)'?: a loss",
     r"the loss is \1: it"),
    (r"aicf\.mean makes one of many", "x.mean() makes one of many"),
    (r"'aicf\.outputs' names", "outputs names"),
    (r"'aicf\.outputs'", "outputs"),
    (r"'aicf\.optimizer' has", "the optimizer has"),
    (r"'aicf\.optimizer'", "the optimizer"),
    (r"'aicf\.weight_decay'", "weight_decay"),
    (r"'aicf\.lr_scale'", "lr_scale"),
    (r"'aicf\.loss_scale'", "the loss scale"),
    (r"the loss scale of --aicf-mixed-precision", "the loss scale of precision=\"f16\""),
    (r"--aicf-mixed-precision", "precision=\"bf16\" or \"f16\""),
    (r"count the steps of both in one 'aicf\.step_count'",
     "give both steps the same optimizer object"),
    (r"'aicf\.init'", "init"),
    (r"'aicf\.name'", "the name"),
    (r"'aicf\.(\w+)' op\b", r"aicf.ops.\1"),
]


def in_python_words(message: str) -> str:
    for pattern, words in _WORDS:
        message = re.sub(pattern, words.replace('\\"', '"'), message)
    return message
