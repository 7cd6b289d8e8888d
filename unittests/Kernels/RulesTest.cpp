//===- RulesTest.cpp - every rule of every primitive, violated once -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One table: a legal call (SampleCalls), one thing wrong with it, and the rule
// that must say so. Each row is asked of checkCall, of the plan loader on both
// devices (CUDA's rows need no CUDA build), and of op_call where the CPU has a
// kernel. scripts/lint_tests.py demands a row for every numbered constraint of
// docs/AICFRTDialect.md; `make mutants` shows that no single check goes
// untested.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rules.h"
#include "aicf/Device.h"
#include "lib/Ops/KernelTable.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

using namespace aicf;
using namespace aicf::test;

namespace {

using Change = std::function<void(Sample &)>;
using Code = StatusCode;

/// The operand (or with `out`, result) `name` gets another dtype or shape.
Change in(const char *name, DType dtype) {
  return [=](Sample &s) { s.in(name).dtype = dtype; };
}
Change out(const char *name, DType dtype) {
  return [=](Sample &s) { s.out(name).dtype = dtype; };
}
Change in(const char *name, std::vector<int64_t> shape) {
  return [=](Sample &s) { s.in(name) = TensorDesc(s.in(name).dtype, shape); };
}
Change out(const char *name, std::vector<int64_t> shape) {
  return [=](Sample &s) { s.out(name) = TensorDesc(s.out(name).dtype, shape); };
}
/// Every operand and result gets one dtype.
Change all(DType dtype) {
  return [=](Sample &s) {
    for (auto *descs : {&s.ins, &s.outs})
      for (TensorDesc &desc : *descs)
        desc.dtype = dtype;
  };
}
Change both(Change a, Change b) {
  return [=](Sample &s) {
    a(s);
    b(s);
  };
}
Change addOut(TensorDesc desc) {
  return [=](Sample &s) { s.outs.push_back(desc); };
}
Change addIn(TensorDesc desc) {
  return [=](Sample &s) { s.ins.push_back(desc); };
}
/// One field of the attr blob.
template <typename Attrs, typename Field, typename Value>
Change attr(Field Attrs::*field, Value value) {
  return [=](Sample &s) {
    Attrs attrs;
    std::memcpy(&attrs, s.attrs.data(), sizeof(attrs));
    // By bytes: a packed struct's field may be misaligned.
    Field changed = static_cast<Field>(value);
    std::memcpy(&(attrs.*field), &changed, sizeof(changed));
    std::memcpy(s.attrs.data(), &attrs, sizeof(attrs));
  };
}

struct RuleCase {
  const char *row; ///< of sampleCallRows(), with m = 3 and n = 6 (K = 5)
  const char *id;  ///< the constraint; empty for what every record has
  StatusCode code;
  Change change;
  std::string text = {}; ///< also in the message, where the id is not enough
};

constexpr DType F16 = DType::F16, F32 = DType::F32, F64 = DType::F64,
                BF16 = DType::BF16, I32 = DType::I32, I64 = DType::I64;
const TensorDesc kFlag(I32, {}), kScalar(F32, {});

const RuleCase kProducts[] = {
    {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transA, 2),
     "transA"},
    {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transA, -1),
     "transA"},
    {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transB, 2),
     "transB"},
    {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transB, -1),
     "transB"},
    {"gemm NN", "C1", Code::ShapeMismatch, in("a", {15})},
    {"gemm NN", "C1", Code::ShapeMismatch, in("b", {5, 6, 1})},
    {"gemm NN", "C4", Code::ShapeMismatch, out("c", {3, 6, 1})},
    {"gemm TT", "C1", Code::ShapeMismatch, in("b", {6, 5, 1})},
    {"gemm rows NT", "C1", Code::ShapeMismatch, in("b", {6, 5, 1})},
    {"gemm rows NT", "C3", Code::ShapeMismatch, in("a", {2, 3, 4})},
    {"gemm rows NT", "C4", Code::ShapeMismatch, out("c", {6, 6})},
    {"gemm rows NT", "C4", Code::ShapeMismatch, out("c", {3, 2, 6})},
    {"gemm rows TN", "C1", Code::ShapeMismatch, in("b", {10})},
    {"gemm rows TN", "C3", Code::ShapeMismatch, in("b", {3, 5, 6})},
    {"gemm rows TN", "C4", Code::ShapeMismatch, out("c", {2, 3, 6})},
    {"gemm rows TN", "C5", Code::ShapeMismatch,
     both(in("a", {65536, 32768, 3}), in("b", {65536, 32768, 6})),
     "of 2147483648 rows, expected fewer than 2147483648"},
    {"gemm rows NT", "C5", Code::ShapeMismatch,
     both(in("a", {65536, 32768, 5}), out("c", {65536, 32768, 6})),
     "of 2147483648 rows"},
    {"gemm NN", "", Code::DTypeMismatch, all(I32), "operand 0 (a)"},
    {"gemm NN", "C2", Code::DTypeMismatch, in("b", F64)},
    {"gemm NN", "C2", Code::DTypeMismatch, out("c", F16)},
    {"gemm to f32", "C2", Code::DTypeMismatch, out("c", F64)},
    {"gemm to f32", "C2", Code::DTypeMismatch, in("b", F16)},
    {"gemm NN", "C2", Code::DTypeMismatch, both(in("a", F64), in("b", F64))},
    {"gemm NN", "C3", Code::ShapeMismatch, in("a", {3, 4})},
    {"gemm NT", "C3", Code::ShapeMismatch, in("b", {6, 4})},
    {"gemm TN", "C3", Code::ShapeMismatch, in("a", {4, 3})},
    {"gemm TT", "C3", Code::ShapeMismatch, in("b", {6, 4})},
    {"gemm NN", "C4", Code::ShapeMismatch, out("c", {4, 6})},
    {"gemm NT", "C4", Code::ShapeMismatch, out("c", {3, 5})},
    {"gemm TN", "C4", Code::ShapeMismatch, out("c", {5, 6})},
    {"gemm TT", "C4", Code::ShapeMismatch, out("c", {6, 3})},
};

const RuleCase kElementwise[] = {
    {"bias_add last", "C1", Code::ShapeMismatch, in("b", {6, 1})},
    {"bias_add last", "", Code::DTypeMismatch, all(I32), "operand 0 (y)"},
    {"bias_add last", "C1", Code::DTypeMismatch, in("b", F64)},
    {"bias_add last", "", Code::DTypeMismatch, out("out", F64),
     "result 0 (out)"},
    {"bias_add last", "C2", Code::InvalidArgument,
     attr(&BiasAddAttrs::axis, -2)},
    {"bias_add last", "C2", Code::InvalidArgument,
     attr(&BiasAddAttrs::axis, 2)},
    {"bias_add last", "C2", Code::InvalidArgument,
     both(in("y", std::vector<int64_t>{}), out("out", std::vector<int64_t>{}))},
    {"bias_add last", "C3", Code::ShapeMismatch, in("b", {3})},
    {"bias_add first", "C3", Code::ShapeMismatch, in("b", {6})},
    {"bias_add middle", "C3", Code::ShapeMismatch, in("b", {6})},
    {"bias_add last", "", Code::ShapeMismatch, out("out", {6, 3}),
     "result 0 (out)"},
    {"scale", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"scale", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"fill_like", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"fill_like", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"gelu erf", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"gelu erf", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"gelu tanh", "", Code::InvalidArgument, attr(&GeluAttrs::approximate, 2),
     "approximate"},
    {"gelu_bwd erf", "", Code::ShapeMismatch, in("x", {18}), "operand 1 (x)"},
    {"gelu_bwd tanh", "", Code::InvalidArgument,
     attr(&GeluBwdAttrs::approximate, -1), "approximate"},
    {"scale", "", Code::InvalidArgument, attr(&ScaleAttrs::factor, INFINITY),
     "factor"},
    {"fill_like", "", Code::InvalidArgument, attr(&FillLikeAttrs::value, NAN),
     "value"},
    {"copy", "", Code::InvalidArgument, addOut(kScalar),
     "got 2 results, expected 1"},
    {"copy", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
    {"copy", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"copy_saved", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
    {"copy_saved", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"cast", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
    {"cast", "", Code::DTypeMismatch, out("y", I32), "result 0 (y)"},
    {"cast", "C1", Code::ShapeMismatch, out("y", {18})},
};

const RuleCase kLossAndNorm[] = {
    {"mse_loss", "", Code::DTypeMismatch, all(I32), "operand 0 (pred)"},
    {"mse_loss", "C1", Code::ShapeMismatch, in("target", {18})},
    {"mse_loss", "C1", Code::DTypeMismatch, in("target", F16)},
    {"mse_loss", "C1", Code::DTypeMismatch, in("pred", F64)},
    {"mse_loss mixed", "C1", Code::DTypeMismatch, in("target", F64)},
    {"mse_loss", "", Code::DTypeMismatch, out("loss", F64), "result 0 (loss)"},
    {"mse_loss", "", Code::ShapeMismatch, out("loss", {1}), "result 0 (loss)"},
    {"mse_grad", "", Code::DTypeMismatch, all(I32), "operand 0 (pred)"},
    {"mse_grad", "C1", Code::ShapeMismatch, in("target", {18})},
    {"mse_grad", "", Code::ShapeMismatch, out("dpred", {18}),
     "result 0 (dpred)"},
    {"mse_grad mixed", "", Code::DTypeMismatch, out("dpred", F32),
     "result 0 (dpred)"},
    {"mse_grad", "", Code::InvalidArgument, attr(&MseGradAttrs::scale, NAN),
     "scale"},
    {"mse_grad", "", Code::InvalidArgument,
     attr(&MseGradAttrs::scale, -INFINITY), "scale"},
    {"mse_grad scaled", "C2", Code::DTypeMismatch, in("loss_scale", F64)},
    {"mse_grad scaled", "C2", Code::ShapeMismatch, in("loss_scale", {1})},
    {"softmax_cross_entropy", "", Code::DTypeMismatch, in("labels", I64),
     "operand 1 (labels)"},
    {"softmax_cross_entropy", "C1", Code::ShapeMismatch,
     in("logits", std::vector<int64_t>{})},
    {"softmax_cross_entropy", "C2", Code::ShapeMismatch, in("labels", {7})},
    {"softmax_cross_entropy", "C2", Code::ShapeMismatch, in("labels", {3, 1})},
    {"softmax_cross_entropy", "", Code::DTypeMismatch, out("loss", F64),
     "result 0 (loss)"},
    {"softmax_cross_entropy mixed", "", Code::DTypeMismatch, out("loss", BF16),
     "result 0 (loss)"},
    {"softmax_cross_entropy", "", Code::ShapeMismatch, out("loss", {1}),
     "result 0 (loss)"},
    {"softmax_cross_entropy", "", Code::InvalidArgument,
     attr(&SoftmaxCrossEntropyAttrs::label_smoothing, 1), "label_smoothing"},
    {"softmax_cross_entropy", "", Code::InvalidArgument,
     attr(&SoftmaxCrossEntropyAttrs::label_smoothing, -0.1), "label_smoothing"},
    {"softmax_cross_entropy_grad", "", Code::DTypeMismatch, in("labels", F32),
     "operand 1 (labels)"},
    {"softmax_cross_entropy_grad", "C1", Code::ShapeMismatch,
     in("logits", std::vector<int64_t>{})},
    {"softmax_cross_entropy_grad", "C2", Code::ShapeMismatch,
     in("labels", {7})},
    {"softmax_cross_entropy_grad smoothed", "C3", Code::ShapeMismatch,
     in("loss_scale", {1})},
    {"softmax_cross_entropy_grad mixed", "C3", Code::DTypeMismatch,
     in("loss_scale", BF16)},
    {"softmax_cross_entropy_grad", "", Code::ShapeMismatch,
     out("dlogits", {21}), "result 0 (dlogits)"},
    {"softmax_cross_entropy_grad", "", Code::InvalidArgument,
     attr(&SoftmaxCrossEntropyGradAttrs::label_smoothing, NAN),
     "label_smoothing"},
    {"bce_with_logits", "", Code::DTypeMismatch, all(I32), "operand 0 (pred)"},
    {"bce_with_logits", "C1", Code::ShapeMismatch, in("target", {18})},
    {"bce_with_logits", "C1", Code::DTypeMismatch, in("target", F16)},
    {"bce_with_logits mixed", "C1", Code::DTypeMismatch, in("target", F64)},
    {"bce_with_logits", "", Code::DTypeMismatch, out("loss", F64),
     "result 0 (loss)"},
    {"bce_with_logits_grad", "", Code::DTypeMismatch, all(I32),
     "operand 0 (pred)"},
    {"bce_with_logits_grad", "C1", Code::ShapeMismatch, in("target", {18})},
    {"bce_with_logits_grad", "", Code::ShapeMismatch, out("dpred", {18}),
     "result 0 (dpred)"},
    {"bce_with_logits_grad", "", Code::InvalidArgument,
     attr(&BceWithLogitsGradAttrs::scale, NAN), "scale"},
    {"bce_with_logits_grad mixed", "C2", Code::DTypeMismatch,
     in("loss_scale", F64)},
    {"bce_with_logits_grad mixed", "C2", Code::ShapeMismatch,
     in("loss_scale", {1})},
    {"l1_loss", "", Code::DTypeMismatch, all(I32), "operand 0 (pred)"},
    {"l1_loss", "C1", Code::ShapeMismatch, in("target", {18})},
    {"l1_loss", "C1", Code::DTypeMismatch, in("target", F16)},
    {"l1_loss mixed", "C1", Code::DTypeMismatch, in("target", F64)},
    {"l1_loss", "", Code::DTypeMismatch, out("loss", F64), "result 0 (loss)"},
    {"l1_grad", "", Code::DTypeMismatch, all(I32), "operand 0 (pred)"},
    {"l1_grad", "C1", Code::ShapeMismatch, in("target", {18})},
    {"l1_grad", "", Code::ShapeMismatch, out("dpred", {18}),
     "result 0 (dpred)"},
    {"l1_grad", "", Code::InvalidArgument, attr(&L1GradAttrs::scale, NAN),
     "scale"},
    {"l1_grad mixed", "C2", Code::DTypeMismatch, in("loss_scale", F64)},
    {"l1_grad mixed", "C2", Code::ShapeMismatch, in("loss_scale", {1})},
    {"mean", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"mean", "", Code::ShapeMismatch, out("y", {1}), "result 0 (y)"},
    {"mean mixed", "", Code::DTypeMismatch, out("y", BF16), "result 0 (y)"},
    {"count_equal", "", Code::DTypeMismatch, both(in("a", F32), in("b", F32)),
     "operand 0 (a)"},
    {"count_equal", "", Code::ShapeMismatch, in("b", {18}), "operand 1 (b)"},
    {"count_equal", "", Code::DTypeMismatch, out("count", I64),
     "result 0 (count)"},
    {"count_equal", "C1", Code::ShapeMismatch,
     both(in("a", {65536, 32768}), in("b", {65536, 32768})),
     "of 2147483648 elements, expected fewer than 2147483648"},
    {"softmax", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"softmax", "C1", Code::ShapeMismatch,
     both(in("x", std::vector<int64_t>{}), out("y", std::vector<int64_t>{}))},
    {"softmax", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"softmax_bwd", "", Code::DTypeMismatch, all(I32), "operand 0 (dy)"},
    {"softmax_bwd", "", Code::ShapeMismatch, in("y", {18}), "operand 1 (y)"},
    {"softmax_bwd", "C1", Code::ShapeMismatch,
     both(in("dy", std::vector<int64_t>{}), in("y", std::vector<int64_t>{}))},
    {"softmax_bwd", "", Code::ShapeMismatch, out("dx", {18}), "result 0 (dx)"},
    {"argmax", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
    {"argmax", "C1", Code::ShapeMismatch, in("x", std::vector<int64_t>{})},
    {"argmax", "C2", Code::ShapeMismatch, out("index", {6})},
    {"argmax", "", Code::DTypeMismatch, out("index", I64), "result 0 (index)"},
    {"dropout", "", Code::DTypeMismatch, in("x", I32), "operand 0 (x)"},
    {"dropout", "", Code::DTypeMismatch, in("step", F32), "operand 1 (step)"},
    {"dropout", "C1", Code::ShapeMismatch, in("step", {1})},
    {"dropout", "", Code::ShapeMismatch, out("y", {18}), "result 0 (y)"},
    {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, 1), "p is 1"},
    {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, -0.1),
     "p is -0.1"},
    {"dropout", "", Code::InvalidArgument, attr(&DropoutAttrs::p, NAN),
     "p is nan"},
    {"reduce_sum leading", "C3", Code::ShapeMismatch, out("y", {3})},
    {"reduce_sum all", "C3", Code::ShapeMismatch, out("y", {1})},
    {"expand 0", "C1", Code::InvalidArgument, attr(&ExpandAttrs::axis, -1)},
    {"expand 0", "C1", Code::InvalidArgument, attr(&ExpandAttrs::axis, 2)},
    {"expand 0", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"expand 0", "C2", Code::DTypeMismatch, out("y", F64)},
    {"expand 0", "C3", Code::ShapeMismatch, in("x", {3})},
    {"expand 1", "C3", Code::ShapeMismatch, in("x", {1, 6})},
    {"expand middle", "C3", Code::ShapeMismatch, in("x", {6, 3})},
    {"expand leading", "C3", Code::ShapeMismatch, in("x", {1, 6})},
    {"reduce_sum 0", "C1", Code::InvalidArgument,
     attr(&ReduceSumAttrs::axis, -1)},
    {"reduce_sum 0", "C1", Code::InvalidArgument,
     attr(&ReduceSumAttrs::axis, 2)},
    {"reduce_sum 0", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"reduce_sum 0", "C2", Code::DTypeMismatch, out("y", F64)},
    {"reduce_sum 0", "C3", Code::ShapeMismatch, out("y", {3})},
    {"reduce_sum 1", "C3", Code::ShapeMismatch, out("y", {1, 6})},
    {"reduce_sum middle", "C3", Code::ShapeMismatch, out("y", {6, 3})},
    {"layer_norm", "C1", Code::ShapeMismatch, in("x", std::vector<int64_t>{})},
    {"layer_norm", "C2", Code::ShapeMismatch, in("gamma", {3})},
    {"layer_norm", "C2", Code::ShapeMismatch, in("beta", {6, 1})},
    {"layer_norm", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
    {"layer_norm", "C3", Code::DTypeMismatch, in("gamma", F64)},
    {"layer_norm", "C3", Code::DTypeMismatch, in("beta", F64)},
    {"layer_norm", "", Code::DTypeMismatch, out("mean", F64),
     "result 1 (mean)"},
    {"layer_norm", "", Code::ShapeMismatch, out("y", {6, 3}), "result 0 (y)"},
    {"layer_norm", "", Code::ShapeMismatch, out("mean", {6}),
     "result 1 (mean)"},
    {"layer_norm", "", Code::ShapeMismatch, out("rstd", {3, 1}),
     "result 2 (rstd)"},
    {"layer_norm", "", Code::InvalidArgument, attr(&LayerNormAttrs::eps, -1e-9),
     "eps"},
    {"layer_norm", "", Code::InvalidArgument,
     attr(&LayerNormAttrs::eps, INFINITY), "eps"},
    {"layer_norm", "", Code::InvalidArgument, attr(&LayerNormAttrs::eps, NAN),
     "eps"},
    {"layer_norm_bwd", "C1", Code::ShapeMismatch,
     in("dy", std::vector<int64_t>{})},
    {"layer_norm_bwd", "C1", Code::ShapeMismatch, in("x", {6, 3})},
    {"layer_norm_bwd", "C2", Code::ShapeMismatch, in("gamma", {3})},
    {"layer_norm_bwd", "C3", Code::ShapeMismatch, in("mean", {6})},
    {"layer_norm_bwd", "C3", Code::ShapeMismatch, in("rstd", {6})},
    {"layer_norm_bwd", "", Code::ShapeMismatch, out("dx", {6, 3}),
     "result 0 (dx)"},
    {"layer_norm_bwd", "", Code::ShapeMismatch, out("dgamma", {3}),
     "result 1 (dgamma)"},
    {"layer_norm_bwd", "", Code::ShapeMismatch, out("dbeta", {3}),
     "result 2 (dbeta)"},
    {"layer_norm_bwd", "", Code::DTypeMismatch, all(I32), "operand 0 (dy)"},
    {"layer_norm_bwd", "C1", Code::ShapeMismatch,
     both(in("dy", std::vector<int64_t>{}), in("x", std::vector<int64_t>{})),
     "of rank 0"},
    {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("gamma", F64)},
    {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("mean", F64)},
    {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("rstd", F64)},
    {"layer_norm_bwd", "", Code::DTypeMismatch, out("dbeta", F64),
     "result 2 (dbeta)"},
};

const RuleCase kCounters[] = {
    {"all_finite", "", Code::InvalidArgument, [](Sample &s) { s.ins.clear(); },
     "got 0 operands"},
    {"all_finite", "", Code::DTypeMismatch, in("grad[0]", I32),
     "operand 0 (grad)"},
    {"all_finite", "", Code::DTypeMismatch,
     both(in("grad[0]", I32), in("grad[1]", I32)), "operand 0 (grad)"},
    {"all_finite", "C1", Code::DTypeMismatch, in("grad[1]", F64)},
    {"all_finite", "", Code::DTypeMismatch, out("ok", I64), "result 0 (ok)"},
    {"all_finite", "", Code::ShapeMismatch, out("ok", {1}), "result 0 (ok)"},
    {"global_norm", "", Code::InvalidArgument, [](Sample &s) { s.ins.clear(); },
     "got 0 operands"},
    {"global_norm", "", Code::DTypeMismatch,
     both(in("grad[0]", I32), in("grad[1]", I32)), "operand 0 (grad)"},
    {"global_norm", "C1", Code::DTypeMismatch, in("grad[1]", F64)},
    {"global_norm mixed", "", Code::DTypeMismatch, out("norm", BF16),
     "result 0 (norm)"},
    {"global_norm", "", Code::ShapeMismatch, out("norm", {1}),
     "result 0 (norm)"},
    {"clip_factor", "", Code::DTypeMismatch, all(I32), "operand 0 (norm)"},
    {"clip_factor", "C1", Code::ShapeMismatch,
     both(in("norm", {1}), out("factor", {1}))},
    {"clip_factor scaled", "C2", Code::ShapeMismatch, in("inv_scale", {1})},
    {"clip_factor scaled", "C2", Code::DTypeMismatch, in("inv_scale", F64)},
    {"clip_factor", "", Code::DTypeMismatch, out("factor", F64),
     "result 0 (factor)"},
    {"clip_factor", "", Code::InvalidArgument,
     attr(&ClipFactorAttrs::max_norm, -1), "max_norm"},
    {"clip_factor", "", Code::InvalidArgument,
     attr(&ClipFactorAttrs::max_norm, INFINITY), "max_norm"},
    {"loss_scale_update", "", Code::DTypeMismatch, in("scale", I32),
     "operand 0 (scale)"},
    {"loss_scale_update", "", Code::DTypeMismatch,
     both(in("scale", I32), out("scale_out", I32)), "operand 0 (scale)"},
    {"loss_scale_update", "C1", Code::ShapeMismatch, in("scale", {1})},
    {"loss_scale_update", "", Code::DTypeMismatch, out("scale_out", F64),
     "result 0 (scale_out)"},
    {"loss_scale_update", "", Code::ShapeMismatch, out("scale_out", {1}),
     "result 0 (scale_out)"},
    {"loss_scale_update", "", Code::DTypeMismatch, in("streak", I64),
     "operand 1 (streak)"},
    {"loss_scale_update", "C1", Code::ShapeMismatch, in("streak", {1})},
    {"loss_scale_update", "", Code::DTypeMismatch, in("ok", F32),
     "operand 2 (ok)"},
    {"loss_scale_update", "C1", Code::ShapeMismatch, in("ok", {1})},
    {"loss_scale_update", "", Code::DTypeMismatch, out("streak_out", I64),
     "result 1 (streak_out)"},
    {"loss_scale_update", "", Code::ShapeMismatch, out("streak_out", {1}),
     "result 1 (streak_out)"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::growth_factor, 0.999), "growth_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::growth_factor, NAN), "growth_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::growth_factor, INFINITY), "growth_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::backoff_factor, 0), "backoff_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::backoff_factor, 1.001), "backoff_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::backoff_factor, NAN), "backoff_factor"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::growth_interval, 0), "growth_interval"},
    {"loss_scale_update", "", Code::InvalidArgument,
     attr(&LossScaleUpdateAttrs::growth_interval, int64_t(1) << 31),
     "growth_interval"},
    {"step_inc", "", Code::DTypeMismatch, all(F32), "operand 0 (step)"},
    {"step_inc", "C1", Code::ShapeMismatch, in("step", {1})},
    {"step_inc", "", Code::DTypeMismatch, out("step_out", I32),
     "result 0 (step_out)"},
    {"step_inc", "", Code::ShapeMismatch, out("step_out", {1}),
     "result 0 (step_out)"},
    {"step_inc i32 ok", "", Code::DTypeMismatch, in("ok", I64),
     "operand 1 (ok)"},
    {"step_inc i32 ok", "C1", Code::ShapeMismatch, in("ok", {1})},
    {"learning_rate linear", "", Code::DTypeMismatch, in("step", F32),
     "operand 0 (step)"},
    {"learning_rate linear", "", Code::DTypeMismatch, out("lr", I32),
     "result 0 (lr)"},
    {"learning_rate linear", "C1", Code::ShapeMismatch, in("step", {1})},
    {"learning_rate linear", "C1", Code::ShapeMismatch, out("lr", {1})},
    {"learning_rate linear", "C1", Code::DTypeMismatch, out("lr", F16),
     "result 0 (lr)"},
    {"learning_rate linear", "C2", Code::InvalidArgument,
     attr(&LearningRateAttrs::warmup, 100)},
    {"step_decay", "", Code::DTypeMismatch, in("step", F32),
     "operand 0 (step)"},
    {"step_decay", "", Code::DTypeMismatch, out("lr", I32), "result 0 (lr)"},
    {"step_decay", "C1", Code::ShapeMismatch, in("step", {1})},
    {"step_decay", "C1", Code::ShapeMismatch, out("lr", {1})},
    {"step_decay", "C1", Code::DTypeMismatch, out("lr", F16), "result 0 (lr)"},
    {"step_decay", "", Code::InvalidArgument, attr(&StepDecayAttrs::start, -1),
     "start"},
    {"step_decay", "", Code::InvalidArgument, attr(&StepDecayAttrs::factor, 0),
     "factor"},
    {"step_decay", "", Code::InvalidArgument,
     attr(&StepDecayAttrs::factor, 1.01), "factor"},
    {"step_decay", "", Code::InvalidArgument, attr(&StepDecayAttrs::every, 0),
     "every"},
    {"polynomial_decay", "", Code::DTypeMismatch, in("step", F32),
     "operand 0 (step)"},
    {"polynomial_decay", "", Code::DTypeMismatch, out("lr", I32),
     "result 0 (lr)"},
    {"polynomial_decay", "C1", Code::ShapeMismatch, in("step", {1})},
    {"polynomial_decay", "C1", Code::ShapeMismatch, out("lr", {1})},
    {"polynomial_decay", "C1", Code::DTypeMismatch, out("lr", F16),
     "result 0 (lr)"},
    {"polynomial_decay", "", Code::InvalidArgument,
     attr(&PolynomialDecayAttrs::start, -1), "start"},
    {"polynomial_decay", "", Code::InvalidArgument,
     attr(&PolynomialDecayAttrs::end, -1), "end"},
    {"polynomial_decay", "", Code::InvalidArgument,
     attr(&PolynomialDecayAttrs::steps, 0), "steps"},
    {"polynomial_decay", "", Code::InvalidArgument,
     attr(&PolynomialDecayAttrs::power, -1), "power"},
    {"rate_table", "", Code::DTypeMismatch, in("step", F32),
     "operand 0 (step)"},
    {"rate_table", "", Code::DTypeMismatch, in("table", I32),
     "operand 1 (table)"},
    {"rate_table", "", Code::DTypeMismatch, out("lr", I32), "result 0 (lr)"},
    {"rate_table", "", Code::ShapeMismatch, out("lr", {1}), "result 0 (lr)"},
    {"rate_table", "C1", Code::ShapeMismatch, in("step", {1})},
    {"rate_table", "C1", Code::ShapeMismatch, in("table", {2, 2}),
     "operand 1 (table)"},
    {"rate_table", "C1", Code::DTypeMismatch,
     both(in("table", F16), out("lr", F16)), "operand 1 (table)"},
    // Finite in f64, infinite in what the call computes in.
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::peak, 1e39),
     "peak is 1e+39, expected a number that"},
    {"sgd_step", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::momentum, 1e300), "momentum"},
    {"adam_step", "", Code::InvalidArgument, attr(&AdamStepAttrs::eps, 1e39),
     "eps is 1e+39, expected a number that f32 holds"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::start, -0.1), "start"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::peak, INFINITY), "peak"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::end, NAN), "end"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::warmup, -1), "warmup"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::steps, -1), "steps"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::cosine, -1), "cosine"},
    {"learning_rate linear", "", Code::InvalidArgument,
     attr(&LearningRateAttrs::cosine, 2), "cosine"},
    {"bias_corr", "", Code::DTypeMismatch, in("step", F32), "operand 0 (step)"},
    {"bias_corr", "C1", Code::ShapeMismatch, in("step", {1})},
    {"bias_corr", "", Code::DTypeMismatch, out("bc", I32), "result 0 (bc)"},
    {"bias_corr", "C2", Code::ShapeMismatch, out("bc", {3})},
    {"bias_corr", "", Code::InvalidArgument, attr(&BiasCorrAttrs::beta1, -0.1),
     "beta1"},
    {"bias_corr", "", Code::InvalidArgument, attr(&BiasCorrAttrs::beta1, 1),
     "beta1"},
    {"bias_corr", "", Code::InvalidArgument, attr(&BiasCorrAttrs::beta2, -0.1),
     "beta2"},
    {"bias_corr", "", Code::InvalidArgument, attr(&BiasCorrAttrs::beta2, NAN),
     "beta2"},
    {"bias_corr", "", Code::InvalidArgument, attr(&BiasCorrAttrs::beta2, 1),
     "beta2"},
};

const RuleCase kOptimizers[] = {
    {"adam_step", "", Code::DTypeMismatch, all(I32), "operand 0 (p)"},
    {"adam_step", "C1", Code::ShapeMismatch, in("g", {6, 3})},
    {"adam_step", "C1", Code::DTypeMismatch, in("g", F64)},
    {"adam_step mixed", "C1", Code::ShapeMismatch, in("g", {6, 3})},
    {"adam_step", "C1", Code::DTypeMismatch, in("m", F64)},
    {"adam_step", "C1", Code::ShapeMismatch, in("v", {6, 3})},
    {"adam_step", "", Code::ShapeMismatch, out("p_out", {6, 3}),
     "result 0 (p_out)"},
    {"adam_step", "", Code::ShapeMismatch, out("m_out", {6, 3}),
     "result 1 (m_out)"},
    {"adam_step", "", Code::DTypeMismatch, out("v_out", F64),
     "result 2 (v_out)"},
    {"adam_step", "C2", Code::ShapeMismatch, in("bc", {3})},
    {"adam_step", "C2", Code::DTypeMismatch, in("bc", F64)},
    {"adam_step", "C2", Code::DTypeMismatch, in("lr", F64)},
    {"adam_step", "C2", Code::ShapeMismatch, in("lr", {1})},
    {"adam_step gated", "C2", Code::DTypeMismatch, in("inv_scale", F64)},
    {"adam_step gated", "C2", Code::ShapeMismatch, in("inv_scale", {1})},
    {"adam_step gated", "C3", Code::ShapeMismatch, in("ok", {1})},
    {"adam_step gated", "", Code::DTypeMismatch, in("ok", I64),
     "operand 7 (ok)"},
    {"adam_step gated", "", Code::InvalidArgument, addIn(kFlag),
     "got 9 operands"},
    {"adam_step", "", Code::InvalidArgument, attr(&AdamStepAttrs::beta1, 1),
     "beta1"},
    {"adam_step", "", Code::InvalidArgument, attr(&AdamStepAttrs::beta2, 1),
     "beta2"},
    {"adam_step", "", Code::InvalidArgument, attr(&AdamStepAttrs::eps, -1),
     "eps"},
    {"adam_step", "", Code::InvalidArgument, attr(&AdamStepAttrs::eps, NAN),
     "eps"},
    {"adam_step", "", Code::InvalidArgument,
     attr(&AdamStepAttrs::eps, INFINITY), "eps"},
    {"adam_step", "", Code::InvalidArgument,
     attr(&AdamStepAttrs::weight_decay, INFINITY), "weight_decay"},
    {"adam_step", "", Code::InvalidArgument,
     attr(&AdamStepAttrs::weight_decay, -1), "weight_decay"},
    {"adam_step", "", Code::InvalidArgument,
     attr(&AdamStepAttrs::weight_decay, NAN), "weight_decay"},
    {"lion_step", "", Code::DTypeMismatch, all(I32), "operand 0 (p)"},
    {"lion_step", "C1", Code::ShapeMismatch, in("g", {6, 3})},
    {"lion_step", "C1", Code::DTypeMismatch, in("g", F64)},
    {"lion_step", "C1", Code::ShapeMismatch, in("m", {6, 3})},
    {"lion_step", "C2", Code::DTypeMismatch, in("lr", F64)},
    {"lion_step gated", "C2", Code::ShapeMismatch, in("inv_scale", {1})},
    {"lion_step gated", "C3", Code::ShapeMismatch, in("ok", {1})},
    {"lion_step", "", Code::ShapeMismatch, out("p_out", {6, 3}),
     "result 0 (p_out)"},
    {"lion_step", "", Code::DTypeMismatch, out("m_out", F64),
     "result 1 (m_out)"},
    {"lion_step", "", Code::InvalidArgument, attr(&LionStepAttrs::beta1, 1),
     "beta1"},
    {"lion_step", "", Code::InvalidArgument, attr(&LionStepAttrs::beta2, -0.1),
     "beta2"},
    {"lion_step", "", Code::InvalidArgument,
     attr(&LionStepAttrs::weight_decay, -1), "weight_decay"},
    {"sgd_step", "", Code::DTypeMismatch, all(I32), "operand 0 (p)"},
    {"sgd_step", "C1", Code::ShapeMismatch, in("g", {6, 3})},
    {"sgd_step", "C1", Code::DTypeMismatch, in("g", F64)},
    {"sgd_step mixed", "C1", Code::ShapeMismatch, in("g", {6, 3})},
    {"sgd_step", "", Code::InvalidArgument,
     [](Sample &s) { s.out("m_out") = s.out("p_out"); }, "result 1 (m_out)"},
    {"sgd_step nesterov gated", "C1", Code::ShapeMismatch, in("m", {6, 3})},
    {"sgd_step nesterov gated", "C1", Code::DTypeMismatch, in("m", F64)},
    {"sgd_step", "", Code::ShapeMismatch, out("p_out", {6, 3}),
     "result 0 (p_out)"},
    {"sgd_step nesterov gated", "", Code::DTypeMismatch, out("m_out", F64),
     "result 1 (m_out)"},
    {"sgd_step", "C2", Code::DTypeMismatch, in("lr", F64)},
    {"sgd_step", "C2", Code::ShapeMismatch, in("lr", {1})},
    {"sgd_step nesterov gated", "C2", Code::ShapeMismatch,
     in("inv_scale", {1})},
    {"sgd_step nesterov gated", "C3", Code::ShapeMismatch, in("ok", {1})},
    {"sgd_step nesterov gated", "", Code::DTypeMismatch, in("ok", I64),
     "operand 5 (ok)"},
    {"sgd_step", "C4", Code::InvalidArgument,
     attr(&SgdStepAttrs::momentum, .9)},
    {"sgd_step nesterov gated", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::momentum, -1), "momentum"},
    {"sgd_step nesterov gated", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::momentum, NAN), "momentum"},
    {"sgd_step nesterov gated", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::momentum, INFINITY), "momentum"},
    {"sgd_step", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::weight_decay, INFINITY), "weight_decay"},
    {"sgd_step", "C4", Code::InvalidArgument, attr(&SgdStepAttrs::nesterov, 1)},
    {"sgd_step nesterov gated", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::nesterov, 2), "nesterov"},
    {"sgd_step nesterov gated", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::nesterov, -1), "nesterov"},
    {"sgd_step", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::weight_decay, -1), "weight_decay"},
    {"sgd_step", "", Code::InvalidArgument,
     attr(&SgdStepAttrs::weight_decay, NAN), "weight_decay"},
};

const RuleCase kMovers[] = {
    {"gather_rows", "C1", Code::ShapeMismatch,
     in("data", std::vector<int64_t>{})},
    {"gather_rows", "", Code::DTypeMismatch, in("index", F32),
     "operand 1 (index)"},
    {"gather_rows", "C2", Code::ShapeMismatch, in("index", {6, 1})},
    {"gather_rows", "C3", Code::ShapeMismatch, out("rows", {5, 6})},
    {"gather_rows", "C3", Code::ShapeMismatch, out("rows", {6, 5})},
    {"gather_rows", "C3", Code::DTypeMismatch, out("rows", F64)},
    {"shuffle", "", Code::DTypeMismatch, in("step", F32), "operand 0 (step)"},
    {"shuffle", "C1", Code::ShapeMismatch, in("step", {1})},
    {"shuffle", "", Code::DTypeMismatch, out("index", F32), "result 0 (index)"},
    {"shuffle", "C2", Code::ShapeMismatch, out("index", {3, 1})},
    {"shuffle", "", Code::InvalidArgument, attr(&ShuffleAttrs::size, 0),
     "size"},
    {"shuffle", "", Code::InvalidArgument, attr(&ShuffleAttrs::size, -7),
     "size"},
    {"shuffle", "", Code::InvalidArgument,
     attr(&ShuffleAttrs::size, int64_t(1) << 31), "size"},
    {"record", "C1", Code::ShapeMismatch, in("history", std::vector<int64_t>{}),
     "of rank 0"},
    {"record", "C1", Code::ShapeMismatch, in("value", {3})},
    {"record", "C2", Code::DTypeMismatch, in("value", F64)},
    {"record", "", Code::ShapeMismatch, out("history_out", {6, 3}),
     "result 0 (history_out)"},
    {"record", "", Code::DTypeMismatch, out("history_out", F64),
     "result 0 (history_out)"},
    {"record", "", Code::DTypeMismatch, in("step", F32), "operand 2 (step)"},
    {"record", "C3", Code::ShapeMismatch, in("step", {1})},
};

/// What every primitive refuses whose operands and result are of one shape and
/// type: another element type, or another shape, of any of them.
void addUniformCases(const KindRow &row, std::vector<RuleCase> &cases) {
  const OpInfo &info = infoOf(row.kind);
  const char *name = row.name.c_str();
  cases.push_back({name, "", Code::DTypeMismatch, all(I32), "operand 0"});
  for (size_t i = 1; i < info.numOperands; ++i) {
    const char *operand = info.operands[i].name.data();
    std::string text = "operand " + std::to_string(i) + " (" + operand + ")";
    cases.push_back({name, "", Code::DTypeMismatch, in(operand, F64), text});
    cases.push_back({name, "", Code::ShapeMismatch, in(operand, {6, 3}), text});
  }
  const char *result = info.results[0].name.data();
  cases.push_back(
      {name, "", Code::DTypeMismatch, out(result, F64), "result 0"});
  cases.push_back(
      {name, "", Code::ShapeMismatch, out(result, {18}), "result 0"});
}

std::vector<RuleCase> makeCases() {
  std::vector<RuleCase> cases;
  auto add = [&](auto &table) {
    cases.insert(cases.end(), std::begin(table), std::end(table));
  };
  add(kProducts);
  add(kElementwise);
  add(kLossAndNorm);
  add(kCounters);
  add(kOptimizers);
  add(kMovers);
  for (const KindRow &row : sampleCallRows())
    if (isUniform(row.kind) && row.name == nameOf(row.kind))
      addUniformCases(row, cases);
  return cases;
}
const std::vector<RuleCase> kCases = makeCases();

Sample goodSample(const KindRow &row) {
  return makeSample(row, 3, 6, row.usualType());
}

Status check(OpKind kind, const Sample &s) {
  return checkCall(kind, s.ins, s.outs, infoOf(kind).schema, s.attrs);
}

/// "gemm: C1: ", or for what has no number "gemm: operand 0 (a)".
std::string expectedText(OpKind kind, const RuleCase &c) {
  std::string op(nameOf(kind));
  return op + ": " + (*c.id ? std::string(c.id) + ": " : c.text);
}

class OpRules : public testing::TestWithParam<size_t> {};

TEST_P(OpRules, CheckCallRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  Sample sample = goodSample(row);
  ASSERT_TRUE(check(row.kind, sample).ok());
  c.change(sample);
  Status status = check(row.kind, sample);
  EXPECT_EQ(status.code(), c.code) << status.toString();
  EXPECT_NE(status.message().find(expectedText(row.kind, c)), std::string::npos)
      << status.toString();
  EXPECT_NE(status.message().find(c.text), std::string::npos)
      << status.toString();
}

/// A plan with the broken call is refused for that rule, whatever the device:
/// the loader knows CUDA's kernels on machines without CUDA.
TEST_P(OpRules, LoaderRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  size_t devices = 0;
  for (DeviceKind device : kDeviceKinds) {
    Sample sample = goodSample(row);
    StatusOr<TypedBody> typed = typedBodyOf(sample);
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    const KernelRow *kernel = selectKernel(device, *typed);
    if (!kernel)
      continue;
    ++devices;
    Plan good = makeCallPlan(sample, device);
    ASSERT_TRUE(Plan::parse(good.serialize()).ok());
    c.change(sample);
    Plan bad = makeCallPlan(sample, device);
    bad.entries[0].calls[0].kid = std::string(kernel->kid);
    Status status = Plan::parse(bad.serialize()).status();
    // What is wrong with presence or counts shows in the body already.
    bool isBody = status.message().find("[BodyForm]") != std::string::npos;
    EXPECT_TRUE(isBody ||
                status.message().find("[CallRules]") != std::string::npos)
        << status.toString();
    EXPECT_TRUE(isBody ? !*c.id
                       : status.message().find(expectedText(row.kind, c)) !=
                             std::string::npos)
        << status.toString();
  }
  EXPECT_GT(devices, 0u);
}

TEST_P(OpRules, OpCallRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  Sample sample = goodSample(row);
  c.change(sample);
  // Never touched: the rules come first.
  std::vector<uint8_t> memory(kTensorAlignment * 16);
  auto views = [&](const std::vector<TensorDesc> &descs) {
    std::vector<TensorView> made;
    for (const TensorDesc &desc : descs)
      made.push_back({desc.isAbsent ? nullptr : memory.data(), desc});
    return made;
  };
  auto device = createCPUDevice({1});
  std::vector<TensorView> ins = views(sample.ins), outs = views(sample.outs);
  auto stream = device->createStream();
  Status status = opCall(*device, row.kind, ins, outs, infoOf(row.kind).schema,
                         sample.attrs, **stream);
  EXPECT_EQ(status.code(), c.code) << status.toString();
  EXPECT_NE(status.message().find(expectedText(row.kind, c)), std::string::npos)
      << status.toString();
}

std::string caseName(const testing::TestParamInfo<size_t> &info) {
  std::string name = std::to_string(info.param) + "_" + kCases[info.param].row +
                     "_" + kCases[info.param].id;
  for (char &ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch)))
      ch = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, OpRules, testing::Range<size_t>(0, kCases.size()),
                         caseName);

/// What every kind has: schema, blob size, the number of operands and results.
TEST(OpRulesOfEveryKind, OuterForm) {
  for (const KindRow &row : sampleCallRows()) {
    const OpInfo &info = infoOf(row.kind);
    Sample s = goodSample(row);
    EXPECT_EQ(
        checkCall(row.kind, s.ins, s.outs, info.schema + 1, s.attrs).code(),
        Code::BadSchema)
        << row.name;
    s.attrs.push_back(0);
    EXPECT_EQ(check(row.kind, s).code(), Code::BadAttrSize) << row.name;
    s = goodSample(row);
    s.ins.clear();
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    s = goodSample(row);
    s.outs.clear();
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    if (info.hasVariadic)
      continue;
    s = goodSample(row);
    s.ins.resize(info.numOperands + 1, kScalar);
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    s = goodSample(row);
    s.outs.resize(info.numResults + 1, kScalar);
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
  }
}

/// Whatever is not optional must be there, and an optional operand may go.
TEST(OpRulesOfEveryKind, Presence) {
  for (const KindRow &row : sampleCallRows()) {
    const OpInfo &info = infoOf(row.kind);
    const Sample good = goodSample(row);
    const auto slots = *CallSlots::of(info, good.ins.size());
    for (size_t i = 0; i < good.ins.size(); ++i) {
      Sample s = good;
      s.ins[i] = TensorDesc::absent();
      const OperandInfo &operand = info.operands[slots.operandAt(i)];
      bool isOptional = operand.presence == Presence::Optional;
      Status status = check(row.kind, s);
      bool isAbsent = status.message().find("operand " + std::to_string(i) +
                                            " (" + std::string(operand.name) +
                                            ") is absent") != std::string::npos;
      EXPECT_EQ(isAbsent, !isOptional) << row.name << ": " << status.toString();
    }
    for (size_t i = 0; i < good.outs.size(); ++i) {
      Sample s = good;
      s.outs[i] = TensorDesc::absent();
      EXPECT_EQ(check(row.kind, s).ok(), good.outs[i].isAbsent)
          << row.name << " result " << i;
    }
  }
}

/// The borders of the ranges are legal.
TEST(OpRulesOfEveryKind, BordersAreLegal) {
  auto isLegal = [](const char *name, const Change &change) {
    const KindRow &row = sampleCallRow(name);
    Sample s = goodSample(row);
    change(s);
    Status status = check(row.kind, s);
    EXPECT_TRUE(status.ok()) << name << ": " << status.toString();
  };
  isLegal("bias_add last", attr(&BiasAddAttrs::axis, 1));
  isLegal("layer_norm", attr(&LayerNormAttrs::eps, 0));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::growth_factor, 1));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::backoff_factor, 1));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::growth_interval, 1));
  isLegal("loss_scale_update",
          attr(&LossScaleUpdateAttrs::growth_interval, INT32_MAX));
  isLegal("bias_corr", attr(&BiasCorrAttrs::beta1, 0));
  isLegal("adam_step", attr(&AdamStepAttrs::eps, 0));
  isLegal("shuffle", attr(&ShuffleAttrs::size, 1));
  isLegal("shuffle", attr(&ShuffleAttrs::size, INT32_MAX));
  isLegal("reduce_sum 1", out("y", {3}));
  isLegal("gemm to f32", out("c", BF16));
  isLegal("gemm to f32", both(in("a", F16), in("b", F16)));
  isLegal("mse_loss mixed", both(in("target", BF16), out("loss", BF16)));
}

TEST(OpRulesOfEveryKind, DefaultsOfFields) {
  std::vector<TensorDesc> x = {TensorDesc(F32, {3, 6}), TensorDesc(F32, {3, 6}),
                               TensorDesc::absent()};
  auto isDefault = [&](OpKind kind, size_t field, FieldValue value) {
    auto found =
        fieldDefault(kind, field, {x.data(), infoOf(kind).numOperands});
    return found && *found == value;
  };
  EXPECT_TRUE(isDefault(OpKind::BiasCorr, 0, 0.9));
  EXPECT_TRUE(isDefault(OpKind::BiasAdd, 0, int64_t(-1)));
  EXPECT_TRUE(isDefault(OpKind::MseGrad, 0, 2.0 / 18));
  EXPECT_FALSE(fieldDefault(OpKind::Shuffle, 0, {x.data(), 1}))
      << "size has none";
  EXPECT_FALSE(fieldDefault(OpKind::MseGrad, 0, {x.data(), 2}))
      << "of operands that it does not take";
}

/// What no tensor may be, whatever the op: each limit, and the last legal
/// value.
TEST(OpRulesOfEveryKind, CheckedBytesKnowsTheLimits) {
  const int64_t k22 = int64_t(1) << 22, most = INT32_MAX;
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {})), 4u);
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {most})), 4 * uint64_t(most));
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {k22, k22})), kMaxTensorBytes);
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {1, 1, 1, 1, 1, 1, 1, 1})), 4u);
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {0})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {2, -1})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {-2, -2})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {most + 1})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {k22, k22, 2})));
  // 2^64 bytes: the product is 0 again.
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {k22, k22, int64_t(1) << 18})));
  // What stands behind the dimensions would pass for one more.
  static TensorDesc deep[2];
  deep[0] = TensorDesc(F32, {1, 1, 1, 1, 1, 1, 1, 1});
  deep[0].rank = kMaxRank + 1;
  deep[1].dtype = I64;
  EXPECT_FALSE(checkedBytes(deep[0]));
}

} // namespace
