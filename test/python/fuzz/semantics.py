# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each op means, in NumPy and f64, from the papers' formulas: Kingma & Ba 2015
(Adam), Loshchilov & Hutter 2019 (decoupled decay), Sutskever et al. 2013 (momentum),
Ba, Kiros & Hinton 2016 (layer_norm), Hendrycks & Gimpel 2016 (gelu), Szegedy et al.
2016 (label smoothing), Chen et al. 2023 (Lion), PyTorch's GradScaler (loss scale) and
clip_grad_norm_.

How far a result may be from these is measured, not guessed: with noise > 0 every
operand and result is moved by up to that relative distance (Monte Carlo arithmetic:
Parker 1997), and what then comes out differently is what rounding may change. An op
gets (operands, node, moved); `moved` is for what cancels inside it.
"""

import math
import types

import numpy as np

EPS = {"f64": 2.0 ** -53, "f32": 2.0 ** -24, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}
LARGEST = {"f64": 1e300, "f32": 1e37, "f16": 6e4, "bf16": 1e37}
# Klambauer et al. 2017, "Self-Normalizing Neural Networks"
SELU_SCALE, SELU_ALPHA = 1.0507009873554804934, 1.6732632423543772848
SMALLEST = {"f64": 1e-300, "f32": 1e-38, "f16": 6e-8, "bf16": 1e-38}


class Evaluator:
    """Runs entries on a state {name: array}; `overflowed` says that a value left
    the range of its dtype, where nothing is promised."""

    def __init__(self, noise=0.0, seed=0, precision=None):
        self.noise, self.rng = noise, np.random.default_rng(seed)
        self.precision = precision  # noise as of this dtype, whatever the value's
        self.overflowed = False

    def moved(self, array, dtype):
        if not self.noise or array.dtype.kind != "f":
            return array
        # A single-precision draw is fine enough for noise, and half the time.
        size = EPS[self.precision or dtype] * self.noise
        u = self.rng.random(array.shape, np.float32)
        u -= np.float32(0.5)
        distance = array * (2 * size)
        distance += (2 * SMALLEST[self.precision or dtype]) * (array != 0)
        distance *= u
        distance += array
        return distance

    def run(self, entry, state):
        """Outputs by name; `state` gets its updates."""
        env = {a.value: state[a.name] for a in entry.arguments}
        for op in entry.ops:
            operands = [None if v is None else self.moved(env[v], v.dtype)
                        for v in op.operands]
            with np.errstate(all="ignore"):
                values = OPS[op.kind](
                    operands, op, lambda a: self.moved(a, op.results[0].dtype))
            for result, value in zip(op.results, values):
                value = np.asarray(value)
                if result.dtype in EPS:
                    value = self.moved(value.astype(np.float64), result.dtype)
                    largest = LARGEST[self.precision or result.dtype]
                    self.overflowed |= not (np.abs(value) < largest / 16).all()
                env[result] = value
        updates = {r.updates: env[r.value] for r in entry.results if r.updates}
        outputs = {r.name: env[r.value] for r in entry.results if r.name}
        for r in entry.results:
            if r.history:
                self.record(entry, r, env[r.value], state)
        if any(r.history for r in entry.results):
            counter = entry.name + ".history_step"
            state[counter] = state.get(counter, np.int64(0)) + 1
        state.update(updates)
        return outputs

    @staticmethod
    def record(entry, result, value, state):
        name = result.name + ".history"
        rows = state.get(name)
        if rows is None:
            rows = np.zeros((result.history, *result.value.shape))
        rows = rows.copy()
        step = int(state.get(entry.name + ".history_step", 0))
        rows[step % result.history] = value
        state[name] = rows


OPS = {}


def op(function):
    OPS[function.__name__.rstrip("_")] = function
    return function


@op
def linear(o, *_):
    y = o[0] @ o[1].T  # x of any rank
    return [y if o[2] is None else y + o[2]]


@op
def linear_bwd(o, *_):
    dy, x, w = o
    rows = dy.reshape(-1, dy.shape[-1])
    return [dy @ w, rows.T @ x.reshape(-1, x.shape[-1]), rows.sum(axis=0)]


@op
def matmul(o, node, _):
    a, b = (np.swapaxes(x, -1, -2) if node.attrs.get(flag, False) else x
            for x, flag in zip(o, ("transA", "transB")))
    return [a @ b]


@op
def constant(_, node, __):
    value, result = node.attrs["value"], node.results[0]
    kind = {"i1": bool, "i32": np.int32, "i64": np.int64}.get(result.dtype, float)
    return [np.broadcast_to(np.array(value, kind), result.shape)]


@op
def iota(_, node, __):
    shape, axis = node.results[0].shape, node.attrs["axis"]
    kind = int if node.results[0].dtype[0] == "i" else float
    row = np.arange(shape[axis], dtype=kind)
    return [np.broadcast_to(row.reshape([-1] + [1] * (len(shape) - axis - 1)), shape)]


@op
def reshape(o, node, _):
    return [o[0].reshape(node.attrs["shape"])]


@op
def transpose(o, node, _):
    return [o[0].transpose(node.attrs["permutation"])]


@op
def slice_(o, node, _):
    at = node.attrs
    return [o[0][tuple(slice(*bounds) for bounds in
                       zip(at["begin"], at["end"], at["step"]))]]


@op
def broadcast(o, node, _):
    return [np.broadcast_to(o[0], node.attrs["shape"])]


@op
def pad(o, node, _):
    at, y = node.attrs, np.zeros(node.results[0].shape, o[0].dtype)
    places = at["begin"] + np.arange(o[0].shape[at["axis"]]) * at["step"]
    np.moveaxis(y, at["axis"], 0)[places] = np.moveaxis(o[0], at["axis"], 0)
    return [y]


@op
def concat(o, node, _):
    return [np.concatenate(o, axis=node.attrs["axis"])]


def _reduced(o, node, function):
    return function(o[0], axis=tuple(node.attrs["axes"]),
                    keepdims=node.attrs.get("keepdim", False))


@op
def reduce_mean(o, node, _):
    return [_reduced(o, node, np.mean)]


def _extremum(o, node, best):
    axes = tuple(node.attrs["axes"])
    value = best(o[0], axis=axes, keepdims=True)
    rest = [i for i in range(o[0].ndim) if i not in axes]
    flat = (o[0] == value).transpose(*rest, *axes).reshape(
        *[o[0].shape[i] for i in rest], -1)
    shape = node.results[0].shape
    return [value.reshape(shape), flat.argmax(-1).astype(np.int32).reshape(shape)]


@op
def extremum_bwd(o, node, _):
    dy, index = o
    axes, shape = node.attrs["axes"], node.attrs["shape"]
    rest = [i for i in range(len(shape)) if i not in axes]
    flat = np.zeros([int(np.prod([shape[i] for i in rest], dtype=int)),
                     int(np.prod([shape[i] for i in axes], dtype=int))])
    flat[np.arange(len(flat)), index.reshape(-1)] = dy.reshape(-1)
    turned = flat.reshape([shape[i] for i in (*rest, *axes)])
    return [turned.transpose(np.argsort([*rest, *axes]))]


@op
def reduce_max(o, node, _):
    return _extremum(o, node, np.max)


@op
def reduce_min(o, node, _):
    return _extremum(o, node, np.min)


@op
def relu(o, *_):
    return [np.maximum(o[0], 0)]


@op
def relu_bwd(o, *_):
    return [np.where(o[1] > 0, o[0], 0.0)]


_erfc = np.vectorize(math.erfc, otypes=[float])
_BELL = 2 / math.sqrt(math.pi)


def _normal_cdf(x, node):
    """And its derivative; by tanh where that is asked for."""
    if not node.attrs.get("approximate", False):
        return _erfc(-x / math.sqrt(2)) / 2, \
            np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    # (1 + tanh u)/2, without the cancellation
    value = 1 / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    return value, 2 * value * (1 - value) * slope


@op
def gelu(o, node, _):
    return [o[0] * _normal_cdf(o[0], node)[0]]


@op
def gelu_bwd(o, node, _):
    value, density = _normal_cdf(o[1], node)
    return [o[0] * (value + o[1] * density)]


@op
def save(o, *_):
    return [o[0]]


copy_ = OPS["copy"] = save


@op
def cast(o, node, _):
    x, dtype = o[0], node.results[0].dtype
    if dtype == "i1":
        return [x != 0]
    if dtype[0] != "i":
        return [x.astype(float)]
    low, high = np.iinfo("i4" if dtype == "i32" else "i8").min, \
        np.iinfo("i4" if dtype == "i32" else "i8").max
    if x.dtype.kind == "f":
        x = np.trunc(np.clip(np.nan_to_num(x, nan=0.0, posinf=2.0**70, neginf=-2.0**70),
                             float(low), float(high)))
        return [np.where(x >= high, high, x.astype(np.int64)).astype(
            np.int32 if dtype == "i32" else np.int64)]
    return [x.astype(np.int32 if dtype == "i32" else np.int64)]


def elementwise(**functions):
    """Functions of operands and fields by name: of operands alone, or with node.attrs
    where the last parameter is `at`."""
    for name, function in functions.items():
        OPS[name.rstrip("_")] = _elementwise(function)


def _elementwise(function):
    takes_fields = function.__code__.co_varnames[
        function.__code__.co_argcount - 1] == "at"
    return lambda o, node, _: [np.asarray(
        function(*o, node.attrs) if takes_fields else function(*o))]


def _sign(x):
    return np.where(np.isnan(x), x, np.sign(x))


def _bits(a):
    """The number of the highest bit."""
    return a.dtype.type(8 * a.itemsize - 1)


def _is_place(a, b):
    return (b >= 0) & (b <= _bits(a))


def _softplus(x):
    return np.logaddexp(0, x)


elementwise(
    exp=lambda x: np.exp(x),
    exp_bwd=lambda dy, y: dy * y,
    expm1=lambda x: np.expm1(x),
    expm1_bwd=lambda dy, y: dy * (y + 1),
    log=lambda x: np.log(x),
    log_bwd=lambda dy, x: dy / x,
    log1p=lambda x: np.log1p(x),
    log1p_bwd=lambda dy, x: dy / (1 + x),
    sqrt=lambda x: np.sqrt(x),
    sqrt_bwd=lambda dy, y: dy / (2 * y),
    rsqrt=lambda x: 1 / np.sqrt(x),
    rsqrt_bwd=lambda dy, y: -dy * y ** 3 / 2,
    square=lambda x: x * x,
    square_bwd=lambda dy, x: 2 * x * dy,
    erf=lambda x: 1 - _erfc(x),
    erf_bwd=lambda dy, x: dy * _BELL * np.exp(-x * x),
    erfc=lambda x: _erfc(x),
    erfc_bwd=lambda dy, x: -dy * _BELL * np.exp(-x * x),
    log2=lambda x: np.log2(x),
    log2_bwd=lambda dy, x: dy / (x * math.log(2)),
    log10=lambda x: np.log10(x),
    log10_bwd=lambda dy, x: dy / (x * math.log(10)),
    exp2=lambda x: np.exp2(x),
    exp2_bwd=lambda dy, y: dy * y * math.log(2),
    sin=lambda x: np.sin(x),
    sin_bwd=lambda dy, x: dy * np.cos(x),
    cos=lambda x: np.cos(x),
    cos_bwd=lambda dy, x: -dy * np.sin(x),
    pow_scalar=lambda x, at: np.power(x, at["exponent"]),
    pow_scalar_bwd=lambda dy, x, at: 0 * dy if at["exponent"] == 0 else
        dy * at["exponent"] * np.power(x, at["exponent"] - 1),
    neg=lambda x: -x,
    abs=lambda x: np.abs(x),
    abs_bwd=lambda dy, x: dy * _sign(x),
    sign=_sign,
    floor=lambda x: np.floor(x),
    ceil=lambda x: np.ceil(x),
    round=lambda x: np.round(x),  # half to even
    clamp=lambda x, at: np.clip(x, at["min"], at["max"]).astype(x.dtype),
    clamp_bwd=lambda dy, x, at: np.where((x >= at["min"]) & (x <= at["max"]), dy, 0.0),
    add_scalar=lambda x, at: (x + at["value"]).astype(x.dtype),
    div_scalar=lambda x, at: x / at["value"],
    div=lambda a, b: a / b,
    maximum=lambda a, b: np.maximum(a, b),
    minimum=lambda a, b: np.minimum(a, b),
    maximum_bwd=lambda dy, a, b: dy * np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0)),
    fmod=lambda a, b: np.fmod(a, b),
    fmod_bwd=lambda dy, a, b: -dy * np.trunc(a / b),
    atan2=lambda a, b: np.arctan2(a, b),
    bitwise_and=lambda a, b: a & b,
    bitwise_or=lambda a, b: a | b,
    bitwise_xor=lambda a, b: a ^ b,
    shift_left=lambda a, b: np.where(_is_place(a, b), a << (b & _bits(a)), 0),
    shift_right=lambda a, b: a >> np.where(_is_place(a, b), b, _bits(a)),
    shift_right_logical=lambda a, b: np.where(
        _is_place(a, b), (a.view("u%d" % a.itemsize) >> (b & _bits(a)).view(
            "u%d" % a.itemsize)).view(a.dtype), 0),
    pow=lambda a, b: np.power(a, b),
    pow_base_bwd=lambda dy, a, b: np.where(b == 0, 0.0, dy * b * np.power(a, b - 1)),
    pow_exponent_bwd=lambda dy, a, b: np.where(
        (a == 0) & (b >= 0), 0.0, dy * np.power(a, b) * np.log(a)),
    equal=lambda a, b: a == b,
    not_equal=lambda a, b: a != b,
    less=lambda a, b: a < b,
    less_equal=lambda a, b: a <= b,
    equal_scalar=lambda x, at: x == at["value"],
    not_equal_scalar=lambda x, at: x != at["value"],
    less_scalar=lambda x, at: x < at["value"],
    less_equal_scalar=lambda x, at: x <= at["value"],
    greater_scalar=lambda x, at: x > at["value"],
    greater_equal_scalar=lambda x, at: x >= at["value"],
    logical_and=lambda a, b: a & b,
    logical_or=lambda a, b: a | b,
    logical_xor=lambda a, b: a ^ b,
    logical_not=lambda x: ~x,
    where=lambda condition, a, b: np.where(condition, a, b),
    masked_fill=lambda x, mask, at: np.where(mask != at.get("inverted", False),
                                             at["value"], x).astype(x.dtype),
    elu=lambda x, at: np.where(x > 0, x, at.get("alpha", 1.0) * np.expm1(x)),
    elu_bwd=lambda dy, x, at: dy * np.where(x > 0, 1, at.get("alpha", 1.0) * np.exp(x)),
    selu=lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)),
    selu_bwd=lambda dy, x: dy * SELU_SCALE * np.where(x > 0, 1, SELU_ALPHA * np.exp(x)),
    leaky_relu=lambda x, at: np.where(x > 0, x, at.get("slope", 0.01) * x),
    leaky_relu_bwd=lambda dy, x, at: dy * np.where(x > 0, 1, at.get("slope", 0.01)),
    hardtanh=lambda x, at: np.clip(x, at.get("min", -1.0), at.get("max", 1.0)),
    hardtanh_bwd=lambda dy, x, at: np.where(
        (x > at.get("min", -1.0)) & (x < at.get("max", 1.0)), dy, 0.0),
    hardswish=lambda x: x * np.clip(x + 3, 0, 6) / 6,
    hardswish_bwd=lambda dy, x: dy * np.where(
        x <= -3, 0, np.where(x < 3, x / 3 + 0.5, 1)),
    softplus=lambda x, at: np.where(
        at.get("beta", 1.0) * x > at.get("threshold", 20.0), x,
        _softplus(at.get("beta", 1.0) * x) / at.get("beta", 1.0)),
    softplus_bwd=lambda dy, x, at: dy * np.where(
        at.get("beta", 1.0) * x > at.get("threshold", 20.0), 1,
        _sigmoid(at.get("beta", 1.0) * x)),
    mish=lambda x: x * np.tanh(_softplus(x)),
    mish_bwd=lambda dy, x: dy * (np.tanh(_softplus(x)) + x * _sigmoid(x)
                                 / np.cosh(_softplus(x)) ** 2),
    log_sigmoid=lambda x: -_softplus(-x),
    log_sigmoid_bwd=lambda dy, x: dy * _sigmoid(-x),
    softsign=lambda x: x / (1 + np.abs(x)),
    softsign_bwd=lambda dy, x: dy / (1 + np.abs(x)) ** 2,
    prelu=lambda x, slope: np.where(x > 0, x, slope * x),
    prelu_bwd=lambda dy, x, slope: dy * np.where(x > 0, 1, slope),
)


@op
def add(o, *_):
    return [o[0] + o[1]]


@op
def sub(o, *_):
    return [o[0] - o[1]]


@op
def mul(o, *_):
    return [o[0] * o[1]]


@op
def scale(o, node, _):
    return [(node.attrs["factor"] * o[0]).astype(o[0].dtype)]


@op
def fill_like(o, node, _):
    return [np.full(o[0].shape, node.attrs["value"])]


@op
def tanh(o, *_):
    return [np.tanh(o[0])]


@op
def tanh_bwd(o, *_):
    return [o[0] * (1 - o[1] * o[1])]


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


@op
def sigmoid(o, *_):
    return [_sigmoid(o[0])]


@op
def sigmoid_bwd(o, *_):
    return [o[0] * o[1] * (1 - o[1])]


@op
def silu(o, *_):
    return [o[0] * _sigmoid(o[0])]


@op
def silu_bwd(o, *_):
    share = _sigmoid(o[1])
    return [o[0] * (share + o[1] * share * (1 - share))]


@op
def stop_gradient(o, *_):
    return [o[0]]


@op
def straight_through(o, *_):
    return [o[0]]


@op
def learning_rate(o, node, _):
    t, a = float(o[0]), node.attrs
    if t < a["warmup"]:
        return [a["start"] + (a["peak"] - a["start"]) * t / a["warmup"]]
    if a["steps"] == 0:
        return [a["peak"]]
    f = min(1.0, (t - a["warmup"]) / (a["steps"] - a["warmup"]))
    share = (1 - math.cos(math.pi * f)) / 2 if a.get("cosine") else f
    return [a["peak"] + (a["end"] - a["peak"]) * share]


@op
def step_decay(o, node, _):
    a = node.attrs
    return [a["start"] * a["factor"] ** max(0, (int(o[0]) - 1) // a["every"])]


@op
def polynomial_decay(o, node, _):
    a = node.attrs
    left = 1 - min(max(float(o[0]), 0), a["steps"]) / a["steps"]
    return [a["end"] + (a["start"] - a["end"]) * left ** a["power"]]


@op
def rate_table(o, *_):
    return [o[1][min(max(int(o[0]), 1), len(o[1])) - 1]]


@op
def reciprocal(o, *_):
    return [1 / o[0]]


@op
def mse_loss(o, *_):
    return [np.mean((o[0] - o[1]) ** 2)]


@op
def mse_grad(o, node, _):
    scale = node.attrs.get("scale", 2.0 / o[0].size)
    return [scale * (o[0] - o[1]) * (1 if o[2] is None else o[2])]


@op
def bce_with_logits(o, *_):
    x, t = o
    return [np.mean(t * np.logaddexp(0, -x) + (1 - t) * np.logaddexp(0, x))]


@op
def bce_with_logits_grad(o, node, _):
    scale = node.attrs.get("scale", 1.0 / o[0].size)
    return [scale * (_sigmoid(o[0]) - o[1]) * (1 if o[2] is None else o[2])]


@op
def l1_loss(o, *_):
    return [np.mean(np.abs(o[0] - o[1]))]


@op
def l1_grad(o, node, _):
    scale = node.attrs.get("scale", 1.0 / o[0].size)
    return [scale * np.sign(o[0] - o[1]) * (1 if o[2] is None else o[2])]


@op
def mean(o, *_):
    return [np.mean(o[0])]


@op
def count_equal(o, *_):
    return [np.int32(np.sum(o[0] == o[1]))]


@op
def softmax(o, *_):
    e = np.exp(o[0] - o[0].max(axis=-1, keepdims=True))
    return [e / e.sum(axis=-1, keepdims=True)]


@op
def softmax_bwd(o, *_):
    dy, y = o
    return [y * (dy - (dy * y).sum(axis=-1, keepdims=True))]


@op
def argmax(o, *_):
    return [np.argmax(o[0], axis=-1).astype(np.int32)]


@op
def top_k(o, node, _):
    # A NaN is an infinity beyond infinity; stable, so that the first of equals leads.
    keys = np.stack([~np.isnan(o[0]), -np.nan_to_num(o[0], nan=0, posinf=np.inf,
                                                     neginf=-np.inf)])
    order = np.lexsort((keys[1], keys[0]), axis=-1)
    return [order[..., :int(node.attrs["k"])].astype(np.int32)]


def _philox(counters, key):
    """Philox4x32-10 of [n, 4] counters: Salmon et al. 2011, Random123."""
    c = [counters[:, i].astype(np.uint64) for i in range(4)]
    k, low = [key & 0xffffffff, key >> 32 & 0xffffffff], np.uint64(0xffffffff)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xd2511f53), c[2] * np.uint64(0xcd9e8d57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9e3779b9) & 0xffffffff, (k[1] + 0xbb67ae85) & 0xffffffff]
    return np.stack(c, axis=1)


def _words(shape, step, node):
    """Philox's word of each element."""
    size, step = int(np.prod(shape, dtype=int)), int(step) & 0xffffffffffffffff
    group = np.arange(-(-size // 4), dtype=np.uint64)
    counters = np.zeros((len(group), 4), np.uint64)
    counters[:, 0], counters[:, 1] = group & np.uint64(0xffffffff), group >> np.uint64(32)
    counters[:, 2], counters[:, 3] = step & 0xffffffff, step >> 32
    return _philox(counters, node.attrs.get("seed", 0)).reshape(-1)


@op
def dropout(o, node, _):
    p = node.attrs["p"]
    words = _words(o[0].shape, o[1], node)[:o[0].size]
    kept = words.reshape(o[0].shape) >= int(p * 2 ** 32)
    return [np.where(kept, o[0] / (1 - p), 0.0)]


@op
def uniform(o, node, _):
    y, at = node.results[0], node.attrs
    bits = {"f64": 32, "f32": 24, "f16": 11, "bf16": 8}[y.dtype]
    words = _words(y.shape, o[0], node)[:int(np.prod(y.shape, dtype=int))]
    low, high = at.get("low", 0.0), at.get("high", 1.0)
    u = (words >> np.uint64(32 - bits)).astype(float) / 2.0 ** bits
    return [(low + (high - low) * u).reshape(y.shape)]


@op
def normal(o, node, _):  # Box & Muller 1958
    y, at = node.results[0], node.attrs
    pairs = _words(y.shape, o[0], node).reshape(-1, 2).astype(float)
    radius = np.sqrt(-2 * np.log((pairs[:, 0] + 0.5) / 2.0 ** 32))
    angle = 2 * np.pi * pairs[:, 1] / 2.0 ** 32
    z = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
    size = int(np.prod(y.shape, dtype=int))
    return [at.get("mean", 0.0) + at.get("std", 1.0) * z[:size].reshape(y.shape)]


@op
def log_softmax(o, *_):
    shifted = o[0] - o[0].max(axis=-1, keepdims=True)
    return [shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))]


@op
def log_softmax_bwd(o, *_):
    dy, y = o
    return [dy - np.exp(y) * dy.sum(axis=-1, keepdims=True)]


@op
def cumsum(o, node, _):
    axis, back = node.attrs["axis"], node.attrs.get("reversed", False)
    x = np.flip(o[0], axis) if back else o[0]
    y = x.cumsum(axis=axis, dtype=x.dtype)
    return [np.flip(y, axis) if back else y]


@op
def pick(o, *_):
    x, index = o
    width = x.shape[-1]
    found = np.take_along_axis(x, np.clip(index, 0, width - 1)[..., None], -1)[..., 0]
    return [np.where((index >= 0) & (index < width), found, np.nan)]


@op
def pick_bwd(o, node, _):
    dy, index = o
    return [dy[..., None] * (index[..., None] == np.arange(node.attrs["size"]))]


@op
def embedding(o, *_):
    table, index = o
    rows = table[np.clip(index, 0, len(table) - 1)]
    return [np.where(((index >= 0) & (index < len(table)))[..., None], rows, np.nan)]


@op
def embedding_bwd(o, node, _):
    dy, index = o
    rows, padding = node.attrs["rows"], node.attrs.get("padding", -1)
    y = np.zeros((rows, dy.shape[-1]))
    counts = (index >= 0) & (index < rows) & (index != padding)
    np.add.at(y, index[counts], dy[counts])
    return [y]


def _cross_entropy(o, node):
    """Of each row: -log softmax, its target (0 where it is ignored), whether it
    counts."""
    logits, labels = o[0].reshape(-1, o[0].shape[-1]), o[1].reshape(-1)
    counts = labels != node.attrs.get("ignore_index", -100)
    smoothing = node.attrs.get("label_smoothing", 0.0)
    target = np.full(logits.shape, smoothing / logits.shape[1])
    target[counts, labels[counts]] += 1 - smoothing
    shifted = logits - logits.max(axis=1, keepdims=True)
    minus_log = np.log(np.exp(shifted).sum(axis=1, keepdims=True)) - shifted
    return minus_log, target * counts[:, None], counts[:, None]


@op
def softmax_cross_entropy(o, node, _):
    minus_log, target, counts = _cross_entropy(o, node)
    return [(minus_log * target).sum() / counts.sum()]


@op
def softmax_cross_entropy_grad(o, node, moved):
    minus_log, target, counts = _cross_entropy(o, node)
    # A sure and right answer: 1 - 1, so the rounding of the 1 is all there is.
    d = (moved(np.exp(-minus_log)) - target) * counts / counts.sum()
    return [d.reshape(o[0].shape) * (1 if o[2] is None else o[2])]


@op
def reduce_sum(o, node, _):
    return [_reduced(o, node, np.sum)]


@op
def layer_norm(o, node, _):
    x, gamma, beta = o
    mean = x.mean(axis=-1)
    variance = ((x - mean[..., None]) ** 2).mean(axis=-1)
    rstd = 1 / np.sqrt(variance + node.attrs.get("eps", 1e-5))
    return [(x - mean[..., None]) * rstd[..., None] * gamma + beta, mean, rstd]


@op
def layer_norm_bwd(o, *_):
    dy, x, gamma, mean, rstd = o
    h = (x - mean[..., None]) * rstd[..., None]
    g = dy * gamma
    rows = tuple(range(x.ndim - 1))
    dx = rstd[..., None] * (g - g.mean(axis=-1, keepdims=True)
                            - h * (g * h).mean(axis=-1, keepdims=True))
    return [dx, (dy * h).sum(axis=rows), dy.sum(axis=rows)]


def _attention(o, node):
    """Scores of [batch, head, query, key], what the softcap's slope is, and what weights
    are multiplied by; `o` is q, k, v, mask, segments, step."""
    q, k, v, mask, segments, step = o
    at = node.attrs
    share = q.shape[2] // k.shape[2]
    k, v = np.repeat(k, share, axis=2), np.repeat(v, share, axis=2)
    scale, cap = at.get("scale", q.shape[-1] ** -0.5), at.get("softcap", 0.0)
    scores = scale * np.einsum("bihd,bjhd->bhij", q, k)
    slope = np.ones_like(scores)
    if cap:
        slope = 1 - np.tanh(scores / cap) ** 2
        scores = cap * np.tanh(scores / cap)
    here = np.arange(q.shape[1])[:, None] + at.get("offset", 0)
    there = np.arange(k.shape[1])[None, :]
    left, right = at.get("window_left", -1), at.get("window_right", -1)
    seen = np.broadcast_to(((left < 0) | (there >= here - left))
                           & ((right < 0) | (there <= here + right)), scores.shape)
    if mask is not None and mask.dtype == bool:
        seen = seen & mask
    elif mask is not None:
        scores = scores + mask
    if segments is not None:
        seen = seen & (segments[:, None, :, None] == segments[:, None, None, :])
    kept = np.ones_like(scores)
    if at.get("p", 0.0):
        words = _words(scores.shape, step, node)[:scores.size].reshape(scores.shape)
        kept = (words >= int(at["p"] * 2 ** 32)) / (1 - at["p"])
    return k, v, np.where(seen, scores, -np.inf), slope, kept


@op
def attention(o, node, _):
    _, v, scores, _, kept = _attention(o, node)
    most = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(most), 0, most))
    total = powers.sum(axis=-1, keepdims=True)
    weights = kept * powers / np.where(total == 0, 1, total)
    lse = np.where(np.isinf(most), -np.inf, most + np.log(total))
    return [np.einsum("bhij,bjhd->bihd", weights, v), lse[..., 0]]


def _slopes(o, node):
    dy, y, lse = o[0], o[4], o[5]
    k, v, scores, slope, kept = _attention(o[1:4] + o[6:], node)
    weights = np.where(np.isinf(scores), 0, np.exp(scores - lse[..., None]))
    mean = np.einsum("bihd,bihd->bhi", dy, y)[..., None]
    slopes = weights * (kept * np.einsum("bihd,bjhd->bhij", dy, v) - mean)
    return k, weights * kept, slopes, slope


@op
def attention_bwd(o, node, _):
    dy, q, own = o[0], o[1], o[2]
    k, weights, slopes, slope = _slopes(o, node)
    slopes = slopes * slope * node.attrs.get("scale", q.shape[-1] ** -0.5)

    def shared(x):  # heads of q that share one of k
        return x.reshape(*own.shape[:3], -1, x.shape[-1]).sum(axis=3)
    return [np.einsum("bhij,bjhd->bihd", slopes, k),
            shared(np.einsum("bhij,bihd->bjhd", slopes, q)),
            shared(np.einsum("bhij,bihd->bjhd", weights, dy))]


@op
def attention_mask_bwd(o, node, _):
    _, _, slopes, _ = _slopes(o, node)
    repeated = tuple(i for i, size in enumerate(o[6].shape) if size == 1)
    return [slopes.sum(axis=repeated, keepdims=True)]


@op
def all_finite(o, *_):
    return [np.int32(all(np.isfinite(g).all() for g in o))]


@op
def global_norm(o, *_):
    return [np.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in o))]


@op
def clip_factor(o, node, _):
    inverse = 1 if o[1] is None else o[1]
    return [inverse * min(1, node.attrs["max_norm"] / (o[0] * inverse + 1e-6))]


@op
def loss_scale_update(o, node, _):
    scale, streak, ok = o
    growth = node.attrs.get("growth_factor", 2.0)
    backoff = node.attrs.get("backoff_factor", 0.5)
    if not ok:
        return [scale * backoff, np.int32(0)]
    if streak + 1 == node.attrs.get("growth_interval", 2000):
        return [scale * growth, np.int32(0)]
    return [scale, np.int32(streak + 1)]


@op
def step_inc(o, *_):
    return [o[0] + (1 if o[1] is None or o[1] else 0)]


@op
def bias_corr(o, node, _):
    t = float(o[0])
    return [np.array([1 / (1 - node.attrs.get("beta1", 0.9) ** t),
                      1 / (1 - node.attrs.get("beta2", 0.999) ** t)])]


@op
def group_bias_corr(o, *_):
    t, betas = float(o[0]), 1 - np.asarray(o[1], float)[2:4]
    return [1 / (1 - betas ** t)]


@op
def adam_l2_step(o, node, _):
    return adam_step(o, node, _)


def of_group(kind, **attrs):
    """A step with the numbers of a group as its attributes."""
    return types.SimpleNamespace(kind=kind, attrs=attrs)


@op
def adam_group_step(o, node, _):
    p, g, m, v, bc, group, inv_scale, ok = o
    lr, decay, rest1, rest2, eps = (float(n) for n in group)
    own = of_group("adam_l2_step" if node.attrs.get("l2") else "adam_step",
                   beta1=1 - rest1, beta2=1 - rest2, eps=eps, weight_decay=decay)
    return adam_step([p, g, m, v, bc, lr, inv_scale, ok], own, _)


@op
def sgd_group_step(o, node, _):
    p, g, group, m, inv_scale, ok = o
    lr, decay, momentum = (float(n) for n in group)
    own = of_group("sgd_step", momentum=momentum, weight_decay=decay,
                   nesterov=node.attrs.get("nesterov", False))
    return sgd_step([p, g, lr, m, inv_scale, ok], own, _)


@op
def adam_step(o, node, _):
    p, g, m, v, bc, lr, inv_scale, ok = o
    if ok is not None and not ok:
        return [p, m, v]
    b1, b2 = node.attrs.get("beta1", 0.9), node.attrs.get("beta2", 0.999)
    g = g if inv_scale is None else g * inv_scale
    decay = node.attrs.get("weight_decay", 0.0)
    if node.kind == "adam_l2_step":
        g, decay = g + decay * p, 0.0
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    p = p * (1 - lr * decay)
    return [p - lr * (m * bc[0]) / (np.sqrt(v * bc[1])
                                    + node.attrs.get("eps", 1e-8)), m, v]


@op
def lion_step(o, node, _):
    p, g, m, lr, inv_scale, ok = o
    if ok is not None and not ok:
        return [p, m]
    b1, b2 = node.attrs.get("beta1", 0.9), node.attrs.get("beta2", 0.99)
    g = g if inv_scale is None else g * inv_scale
    p = p * (1 - lr * node.attrs.get("weight_decay", 0.0))
    return [p - lr * np.sign(b1 * m + (1 - b1) * g), b2 * m + (1 - b2) * g]


@op
def sgd_step(o, node, _):
    p, g, lr, m, inv_scale, ok = o
    old = p if m is None else m
    if ok is not None and not ok:
        return [p, old]
    momentum = node.attrs.get("momentum", 0.0)
    d = (g if inv_scale is None else g * inv_scale) \
        + node.attrs.get("weight_decay", 0.0) * p
    new = d if m is None else momentum * m + d
    return [p - lr * (d + momentum * new if node.attrs.get("nesterov") else new),
            new]


@op
def gather_rows(o, *_):
    return [o[0][np.clip(o[1], 0, o[0].shape[0] - 1)]]


@op
def record(o, *_):
    history = o[0].copy()
    history[max(int(o[2]), 0) % len(history)] = o[1]
    return [history]
