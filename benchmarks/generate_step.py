#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a training step of an MLP as aicf IR.

Used by benchmarks and tests. The step is Linear -> ReLU -> Save per hidden
layer, a last Linear, mse_loss and mse_grad, the backward pass, and one
optimizer op per parameter.

    generate_step.py --batch 64 --widths 64,128,10 --optimizer adam
    generate_step.py --batch 8 --layers 1000 --width 16
"""

import argparse
import re
import sys


class Writer:
    """Collects arguments, results and body of one entry."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.args, self.results, self.returned, self.body = [], [], [], []
        self.attrs = []

    def tensor(self, *shape, dtype=None):
        return "tensor<%s>" % "x".join([*map(str, shape), dtype or self.dtype])

    def arg(self, ssa, type_, role, name, init=None):
        init = '"%s"' % init if isinstance(init, str) else init
        extra = ", aicf.init = %s" % init if init else ""
        self.args.append(
            '%%%s: %s {aicf.role = "%s", aicf.name = "%s"%s}'
            % (ssa, type_, role, name, extra))

    def ret(self, ssa, type_, kind, name):
        self.results.append('%s {aicf.%s = "%s"}' % (type_, kind, name))
        self.returned.append((ssa, type_))

    def op(self, text):
        self.body.append("  " + text)

    def write(self, out, name):
        attrs = " attributes {%s}" % ", ".join(self.attrs) if self.attrs else ""
        out.write("func.func @%s(\n    %s)\n    -> (%s)%s {\n%s\n" % (
            name, ",\n    ".join(self.args), ",\n        ".join(self.results),
            attrs, "\n".join(self.body)))
        out.write("  return %s : %s\n}\n" % (
            ", ".join("%" + s for s, _ in self.returned),
            ", ".join(t for _, t in self.returned)))


def forward(w, batch, widths, save):
    """Emits the layers; returns the inputs of each layer and the prediction."""
    x, inputs = "x", []
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        last = i + 2 == len(widths)
        types = "%s, %s, %s" % (w.tensor(batch, k), w.tensor(n, k), w.tensor(n))
        w.op("%%y%d = aicf.linear %%%s, %%W%d, %%b%d : %s" % (i, x, i, i, types))
        inputs.append(x)
        if last:
            return inputs, "y%d" % i
        w.op("%%h%d = aicf.relu %%y%d : %s" % (i, i, w.tensor(batch, n)))
        if save:
            w.op("%%s%d = aicf.save %%h%d : %s" % (i, i, w.tensor(batch, n)))
        x = "h%d" % i
    raise ValueError("at least one layer")


def backward(w, batch, widths, inputs, pred, loss_scale):
    out = w.tensor(batch, widths[-1])
    w.op("%%loss = aicf.mse_loss %%%s, %%t : %s, %s" % (pred, out, out))
    scale = (", %scale", ", " + w.tensor()) if loss_scale else ("", "")
    w.op("%%dy%d = aicf.mse_grad %%%s, %%t%s : %s, %s%s"
         % (len(inputs) - 1, pred, scale[0], out, out, scale[1]))
    for i in reversed(range(len(inputs))):
        k, n = widths[i], widths[i + 1]
        w.op("%%dx%d, %%dW%d, %%db%d = aicf.linear_bwd %%dy%d, %%%s, %%W%d : "
             "%s, %s, %s" % (i, i, i, i, inputs[i], i, w.tensor(batch, n),
                             w.tensor(batch, k), w.tensor(n, k)))
        if i:
            h = w.tensor(batch, k)
            w.op("%%dy%d = aicf.relu_bwd %%dx%d, %%s%d : %s, %s"
                 % (i - 1, i, i - 1, h, h))


def dynamic_loss_scale(w, widths):
    """Whether all gradients are finite, 1/scale, and the next scale."""
    grads = [("d%s%d" % (p, i), t) for i, (k, n) in enumerate(zip(widths, widths[1:]))
             for p, t in (("W", w.tensor(n, k)), ("b", w.tensor(n)))]
    scalar = w.tensor()
    w.arg("scale", scalar, "state", "loss_scale", LOSS_SCALE)
    w.arg("streak", "tensor<i32>", "state", "loss_scale.streak")
    w.op("%%ok = aicf.all_finite %s : %s" % (
        ", ".join("%" + name for name, _ in grads),
        ", ".join(type_ for _, type_ in grads)))
    w.op("%%inv = aicf.reciprocal %%scale : %s" % scalar)
    w.op("%%nscale, %%nstreak = aicf.loss_scale_update %%scale, %%streak, %%ok "
         "{growth_factor = 2.0, backoff_factor = 0.5, growth_interval = 2000 : i64} : "
         "%s, tensor<i32>, tensor<i32>" % scalar)


def optimizer(w, widths, kind, attrs, loss_scale):
    scalar = w.tensor()
    g = (" inv_scale %inv ok %ok", " inv_scale " + scalar + " ok tensor<i32>",
         ", %ok", ", tensor<i32>") if loss_scale else ("", "", "", "")
    if kind == "adam":
        w.arg("step", "tensor<i64>", "state", "step")
        w.op("%%t1 = aicf.step_inc %%step%s : tensor<i64>%s" % g[2:])
        # The bias correction needs the betas of the optimizer.
        extra = re.findall(r"beta[12] = [^,}]+", attrs)
        extra += ["dtype = %s" % w.dtype] if w.dtype != "f32" else []
        w.op("%%bc = aicf.bias_corr %%t1%s : tensor<i64>"
             % (" {%s}" % ", ".join(extra) if extra else ""))
        w.ret("t1", "tensor<i64>", "updates", "step")
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        for p, name, type_ in (("W", "weight", w.tensor(n, k)),
                               ("b", "bias", w.tensor(n))):
            full = "fc%d.%s" % (i, name)
            if kind == "adam":
                for s, state in (("m", "exp_avg"), ("v", "exp_avg_sq")):
                    w.arg("%s%s%d" % (s, p, i), type_, "state",
                          "%s.%s" % (full, state))
                w.op("%%n{p}{i}, %%nm{p}{i}, %%nv{p}{i} = aicf.adam_step "
                     "%{p}{i}, %d{p}{i}, %m{p}{i}, %v{p}{i}, %bc, %lr{g}{a} : "
                     "{t}, {t}, {t}, {t}, {bc}, {s}{h}".replace("%%", "%").format(
                         p=p, i=i, t=type_, bc=w.tensor(2), s=scalar, a=attrs,
                         g=g[0], h=g[1]))
                w.ret("nm%s%d" % (p, i), type_, "updates", full + ".exp_avg")
                w.ret("nv%s%d" % (p, i), type_, "updates", full + ".exp_avg_sq")
            elif kind == "momentum":
                w.arg("m%s%d" % (p, i), type_, "state", full + ".momentum")
                w.op("%n{p}{i}, %nm{p}{i} = aicf.sgd_step %{p}{i}, %d{p}{i}, %lr "
                     "momentum %m{p}{i}{g}{a} : {t}, {t}, {s} momentum {t}{h}".format(
                         p=p, i=i, t=type_, s=scalar, a=attrs, g=g[0], h=g[1]))
                w.ret("nm%s%d" % (p, i), type_, "updates", full + ".momentum")
            else:
                w.op("%n{p}{i}, %u{p}{i} = aicf.sgd_step %{p}{i}, %d{p}{i}, "
                     "%lr{g}{a} : {t}, {t}, {s}{h}".format(
                         p=p, i=i, t=type_, s=scalar, a=attrs, g=g[0], h=g[1]))
            w.ret("n%s%d" % (p, i), type_, "updates", full)


def params(w, widths, bias_init="zeros"):
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        w.arg("W%d" % i, w.tensor(n, k), "param", "fc%d.weight" % i,
              "uniform_fan_in")
        w.arg("b%d" % i, w.tensor(n), "param", "fc%d.bias" % i, bias_init)


def resident_batch(w, batch, widths, rows):
    """The whole dataset as inputs, and a shuffled batch of it gathered."""
    data, labels = w.tensor(rows, widths[0]), w.tensor(rows, widths[-1])
    index = w.tensor(batch, dtype="i32")
    w.arg("data", data, "input", "images")
    w.arg("labels", labels, "input", "targets")
    w.arg("batch", "tensor<i64>", "state", "batch")
    w.op("%%index = aicf.shuffle %%batch {size = %d : i64, batch = %d : i64} : "
         "tensor<i64>" % (rows, batch))
    w.op("%%x = aicf.gather_rows %%data, %%index : %s, %s" % (data, index))
    w.op("%%t = aicf.gather_rows %%labels, %%index : %s, %s" % (labels, index))


def train_step(out, batch, widths, kind, dtype="f32", attrs="",
               history=0, resident=0, loss_scale=False):
    w = Writer(dtype)
    if resident:
        resident_batch(w, batch, widths, resident)
    else:
        w.arg("x", w.tensor(batch, widths[0]), "input", "x")
        w.arg("t", w.tensor(batch, widths[-1]), "input", "target")
    params(w, widths)
    w.arg("lr", w.tensor(), "hyper", "lr")
    w.ret("loss", w.tensor(), "name", "loss")
    if history:
        w.results[-1] = w.results[-1].replace(
            "}", ", aicf.history = %d}" % history)
    inputs, pred = forward(w, batch, widths, save=True)
    backward(w, batch, widths, inputs, pred, loss_scale)
    if loss_scale:
        dynamic_loss_scale(w, widths)
    optimizer(w, widths, kind, attrs, loss_scale)
    if loss_scale:
        w.ret("nscale", w.tensor(), "updates", "loss_scale")
        w.ret("nstreak", "tensor<i32>", "updates", "loss_scale.streak")
    if resident:
        w.op("%nbatch = aicf.step_inc %batch : tensor<i64>")
        w.ret("nbatch", "tensor<i64>", "updates", "batch")
    w.write(out, "train_step")


# The first loss scale, as --aicf-mixed-precision begins.
LOSS_SCALE = 65536.0

# The optimizers of hand-written steps, as attributes.
OPTIMIZERS = {"adam": "adamw", "sgd": "sgd", "momentum": "sgd"}


def train_forward(out, batch, widths, kind, dtype="f32", attrs="",
                  history=0, resident=0):
    """The same step as its forward function: the compiler makes the rest."""
    w = Writer(dtype)
    if resident:
        resident_batch(w, batch, widths, resident)
    else:
        w.arg("x", w.tensor(batch, widths[0]), "input", "x")
        w.arg("t", w.tensor(batch, widths[-1]), "input", "target")
    params(w, widths)
    w.ret("loss", w.tensor(), "name", "loss")
    more = ", aicf.history = %d" % history if history else ""
    w.results[-1] = w.results[-1].replace("}", ", aicf.minimize%s}" % more)
    _, pred = forward(w, batch, widths, save=False)
    out_type = w.tensor(batch, widths[-1])
    w.op("%%loss = aicf.mse_loss %%%s, %%t : %s, %s" % (pred, out_type, out_type))
    if resident:
        w.op("%nbatch = aicf.step_inc %batch : tensor<i64>")
        w.ret("nbatch", "tensor<i64>", "updates", "batch")
    fields = ['lr = "lr"'] + [f for f in [attrs.strip(" {}")] if f]
    if kind == "adam" and "weight_decay" not in attrs:
        fields.append("weight_decay = 0.0") # the op's default, which is not AdamW's
    w.attrs.append("aicf.optimizer = #aicf.%s<%s>" % (
        OPTIMIZERS[kind], ", ".join(fields)))
    w.write(out, "train_step")


def predict(out, batch, widths, dtype="f32"):
    w = Writer(dtype)
    w.arg("x", w.tensor(batch, widths[0]), "input", "x")
    params(w, widths)
    _, pred = forward(w, batch, widths, save=False)
    w.ret(pred, w.tensor(batch, widths[-1]), "name", "scores")
    w.write(out, "predict")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--widths", help="comma-separated, input first")
    parser.add_argument("--layers", type=int, help="with --width: equal layers")
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--optimizer", default="adam",
                        choices=["adam", "sgd", "momentum"])
    parser.add_argument("--attrs", default="",
                        help="attributes of the optimizer ops, e.g. "
                             "'{momentum = 0.9}'")
    parser.add_argument("--dtype", default="f32", choices=["f32", "f64"])
    parser.add_argument("--history", type=int, default=0,
                        help="keep the loss of the last so many steps")
    parser.add_argument("--resident", type=int, default=0, metavar="ROWS",
                        help="the dataset of so many rows lives on the device")
    parser.add_argument("--forward", action="store_true",
                        help="the forward function alone; the compiler derives the "
                             "rest")
    parser.add_argument("--loss-scale", action="store_true",
                        help="without --forward: scale the loss by hand, as f16 needs")
    parser.add_argument("--predict-batch", type=int,
                        help="also write @predict for this batch size")
    args = parser.parse_args()
    widths = ([int(n) for n in args.widths.split(",")] if args.widths
              else [args.width] * ((args.layers or 1) + 1))
    attrs = " " + args.attrs if args.attrs else ""
    common = (sys.stdout, args.batch, widths, args.optimizer, args.dtype, attrs,
              args.history, args.resident)
    if args.forward:
        train_forward(*common)
    else:
        train_step(*common, args.loss_scale)
    if args.predict_batch:
        predict(sys.stdout, args.predict_batch, widths, args.dtype)


if __name__ == "__main__":
    main()
