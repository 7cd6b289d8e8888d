//===- Reference.cpp - every primitive, plain and in f64 ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include "aicf/Support/Shuffle.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace aicf::reference {
namespace {

using Tensors = std::vector<Tensor>;

template <typename T> T attrsOf(const std::vector<uint8_t> &attrs) {
  return decodeAttrs<T>(attrs);
}

void gemm(const Tensors &ins, Tensors &outs, const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<GemmAttrs>(blob);
  const Tensor &a = ins[0], &b = ins[1];
  Tensor &c = outs[0];
  int64_t m = c.desc.dims[0], n = c.desc.dims[1];
  int64_t k = attrs.transA ? a.desc.dims[0] : a.desc.dims[1];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        double x = attrs.transA ? a.values[l * m + i] : a.values[i * k + l];
        double y = attrs.transB ? b.values[j * k + l] : b.values[l * n + j];
        sum += x * y;
      }
      c.values[i * n + j] = sum;
    }
}

/// Index along `axis` of element `i`.
int64_t indexAlong(const TensorDesc &desc, int64_t axis, int64_t i) {
  for (int64_t d = desc.rank - 1; d > axis; --d)
    i /= desc.dims[d];
  return i % desc.dims[axis];
}

void biasAdd(const Tensors &ins, Tensors &outs,
             const std::vector<uint8_t> &blob) {
  int64_t axis = attrsOf<BiasAddAttrs>(blob).axis;
  if (axis < 0)
    axis = ins[0].desc.rank - 1;
  for (size_t i = 0; i < ins[0].values.size(); ++i)
    outs[0].values[i] =
        ins[0].values[i] + ins[1].values[indexAlong(ins[0].desc, axis, i)];
}

void reduceSum(const Tensor &from, Tensor &to, int64_t axis) {
  const TensorDesc &x = from.desc;
  int64_t inner = 1;
  for (int64_t d = axis + 1; d < x.rank; ++d)
    inner *= x.dims[d];
  for (double &y : to.values)
    y = 0;
  for (int64_t i = 0; i < x.numElements(); ++i)
    to.values[i / (inner * x.dims[axis]) * inner + i % inner] += from.values[i];
}

void layerNorm(const Tensors &ins, Tensors &outs,
               const std::vector<uint8_t> &blob) {
  double eps = attrsOf<LayerNormAttrs>(blob).eps;
  size_t width = ins[1].values.size(), rows = ins[0].values.size() / width;
  for (size_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (size_t j = 0; j < width; ++j)
      mean += ins[0].values[r * width + j] / double(width);
    for (size_t j = 0; j < width; ++j)
      variance += std::pow(ins[0].values[r * width + j] - mean, 2);
    double rstd = 1 / std::sqrt(variance / double(width) + eps);
    for (size_t j = 0; j < width; ++j)
      outs[0].values[r * width + j] =
          (ins[0].values[r * width + j] - mean) * rstd * ins[1].values[j] +
          ins[2].values[j];
    outs[1].values[r] = mean;
    outs[2].values[r] = rstd;
  }
}

void layerNormBwd(const Tensors &ins, Tensors &outs) {
  size_t width = ins[2].values.size(), rows = ins[0].values.size() / width;
  for (size_t j = 0; j < width; ++j)
    outs[1].values[j] = outs[2].values[j] = 0;
  for (size_t r = 0; r < rows; ++r) {
    double meanG = 0, meanGH = 0;
    auto h = [&](size_t j) {
      return (ins[1].values[r * width + j] - ins[3].values[r]) *
             ins[4].values[r];
    };
    auto g = [&](size_t j) {
      return ins[0].values[r * width + j] * ins[2].values[j];
    };
    for (size_t j = 0; j < width; ++j) {
      meanG += g(j) / double(width);
      meanGH += g(j) * h(j) / double(width);
      outs[1].values[j] += ins[0].values[r * width + j] * h(j);
      outs[2].values[j] += ins[0].values[r * width + j];
    }
    for (size_t j = 0; j < width; ++j)
      outs[0].values[r * width + j] =
          ins[4].values[r] * (g(j) - meanG - h(j) * meanGH);
  }
}

void lossScaleUpdate(const Tensors &ins, Tensors &outs,
                     const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<LossScaleUpdateAttrs>(blob);
  double scale = ins[0].values[0], streak = ins[1].values[0] + 1;
  if (ins[2].values[0] == 0) {
    scale *= attrs.backoff_factor;
    streak = 0;
  } else if (streak >= double(attrs.growth_interval)) {
    scale *= attrs.growth_factor;
    streak = 0;
  }
  // From 2^-24 to 2^126; NaN is brought back, too.
  outs[0].values[0] = scale > 0x1p-24 ? std::min(scale, 0x1p126) : 0x1p-24;
  outs[1].values[0] = streak;
}

/// Value of an optional scalar operand.
double scalarOr(const Tensors &ins, int at, double otherwise) {
  return at < 0 ? otherwise : ins[size_t(at)].values[0];
}

OptimizerOperands operandsOf(OpKind kind, const Tensors &ins,
                             const Tensors &outs) {
  std::vector<TensorDesc> descs;
  for (const Tensor &t : ins)
    descs.push_back(t.desc);
  return optimizerOperands(kind, descs, outs.size());
}

void adamStep(const Tensors &ins, Tensors &outs,
              const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<AdamStepAttrs>(blob);
  OptimizerOperands at = operandsOf(OpKind::AdamStep, ins, outs);
  bool ok = scalarOr(ins, at.ok, 1) != 0;
  double invScale = scalarOr(ins, at.invScale, 1), lr = ins[5].values[0];
  for (size_t i = 0; i < ins[0].values.size(); ++i) {
    double p = ins[0].values[i], m = ins[2].values[i], v = ins[3].values[i];
    double g = ins[1].values[i] * invScale;
    if (ok) {
      m = attrs.beta1 * m + (1 - attrs.beta1) * g;
      v = attrs.beta2 * v + (1 - attrs.beta2) * g * g;
      p -= lr * attrs.weight_decay * p;
      p -= lr * (m * ins[4].values[0]) /
           (std::sqrt(v * ins[4].values[1]) + attrs.eps);
    }
    outs[0].values[i] = p;
    outs[1].values[i] = m;
    outs[2].values[i] = v;
  }
}

void sgdStep(const Tensors &ins, Tensors &outs,
             const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<SgdStepAttrs>(blob);
  OptimizerOperands at = operandsOf(OpKind::SgdStep, ins, outs);
  bool ok = scalarOr(ins, at.ok, 1) != 0, hasMoment = outs.size() == 2;
  double invScale = scalarOr(ins, at.invScale, 1), lr = ins[2].values[0];
  for (size_t i = 0; i < ins[0].values.size(); ++i) {
    double p = ins[0].values[i], m = hasMoment ? ins[3].values[i] : 0;
    double d = ins[1].values[i] * invScale + attrs.weight_decay * p;
    if (ok) {
      m = attrs.momentum * m + d;
      p -= lr * (attrs.nesterov ? d + attrs.momentum * m : m);
    }
    outs[0].values[i] = p;
    if (hasMoment)
      outs[1].values[i] = m;
  }
}

void biasCorr(const Tensors &ins, Tensors &outs,
              const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<BiasCorrAttrs>(blob);
  long double t = ins[0].values[0];
  outs[0].values[0] = double(1 / (1 - std::pow((long double)attrs.beta1, t)));
  outs[0].values[1] = double(1 / (1 - std::pow((long double)attrs.beta2, t)));
}

template <typename T> std::vector<uint8_t> blobOf(const T &attrs) {
  const auto *at = reinterpret_cast<const uint8_t *>(&attrs);
  return std::vector<uint8_t>(at, at + sizeof(T));
}

/// Fused kinds are the kinds that they stand for, one after the other.
void fusedGemm(OpKind kind, const Tensors &ins, Tensors &outs,
               const std::vector<uint8_t> &blob) {
  auto attrs = attrsOf<GemmAttrs>(blob); // every blob starts with these
  gemm({ins[0], ins[1]}, outs, blob);
  double *c = outs[0].values.data();
  size_t n = size_t(outs[0].desc.dims[1]);
  for (size_t i = 0; i < outs[0].values.size(); ++i) {
    if (kind == OpKind::GemmReluBwd)
      c[i] = ins[2].values[i] > 0 ? c[i] : 0;
    if (kind == OpKind::GemmBias) {
      c[i] += ins[2].values[i % n];
      if (attrsOf<GemmBiasAttrs>(blob).relu && c[i] < 0)
        c[i] = 0;
    }
  }
  if (kind == OpKind::GemmReduce)
    reduceSum(ins[0], outs[1], attrs.transA ? 0 : 1);
}

/// Groups of p, g, states..., then lr (and before it bc), inv_scale, ok.
void update(OpKind kind, const Tensors &ins, Tensors &outs,
            const std::vector<uint8_t> &blob) {
  const OpInfo &info = infoOf(kind);
  bool isAdam = kind == OpKind::AdamUpdate;
  size_t perIn = info.groupOperands, perOut = info.groupResults;
  int64_t count;
  std::memcpy(&count, blob.data() + blob.size() - 8, 8);
  SgdStepAttrs sgd{};
  if (kind == OpKind::SgdUpdate)
    sgd.weight_decay = attrsOf<SgdUpdateAttrs>(blob).weight_decay;
  if (kind == OpKind::MomentumUpdate) {
    auto attrs = attrsOf<MomentumUpdateAttrs>(blob);
    sgd = {attrs.momentum, attrs.weight_decay, attrs.nesterov};
  }
  auto scalars = ins.begin() + int64_t(perIn) * count;
  for (size_t i = 0; i < size_t(count); ++i) {
    Tensors in(ins.begin() + int64_t(perIn * i),
               ins.begin() + int64_t(perIn * i) + (isAdam ? 4 : 2));
    in.insert(in.end(), scalars, scalars + (isAdam ? 2 : 1));
    if (kind == OpKind::MomentumUpdate)
      in.push_back(ins[perIn * i + 2]);
    in.insert(in.end(), scalars + (isAdam ? 2 : 1), ins.end());
    Tensors out;
    for (size_t r = 0; r < perOut; ++r)
      out.push_back(outs[perOut * i + r]);
    if (isAdam)
      adamStep(in, out, std::vector<uint8_t>(blob.begin(), blob.end() - 8));
    else
      sgdStep(in, out, blobOf(sgd));
    for (size_t r = 0; r < perOut; ++r)
      outs[perOut * i + r] = out[r];
    if (outs.size() > perOut * size_t(count))
      outs[perOut * size_t(count) + i].values = out[0].values;
  }
}

void gatherRows(const Tensors &ins, Tensors &outs) {
  int64_t last = ins[0].desc.dims[0] - 1;
  size_t width = ins[0].values.size() / size_t(last + 1);
  for (size_t i = 0; i < ins[1].values.size(); ++i) {
    auto row = size_t(std::min(std::max(ins[1].values[i], 0.0), double(last)));
    for (size_t j = 0; j < width; ++j)
      outs[0].values[i * width + j] = ins[0].values[row * width + j];
  }
}

void record(const Tensors &ins, Tensors &outs) {
  outs[0].values = ins[0].values;
  size_t width = ins[1].values.size();
  size_t step = size_t(std::max(ins[2].values[0], 0.0));
  size_t row = step % size_t(ins[0].desc.dims[0]);
  for (size_t j = 0; j < width; ++j)
    outs[0].values[row * width + j] = ins[1].values[j];
}

} // namespace

void run(OpKind kind, const Tensors &ins, Tensors &outs,
         const std::vector<uint8_t> &attrs) {
  auto map = [&](auto function) {
    for (size_t i = 0; i < outs[0].values.size(); ++i)
      outs[0].values[i] = function(i);
  };
  auto x = [&](size_t operand, size_t i) { return ins[operand].values[i]; };
  switch (kind) {
  case OpKind::Gemm:
    return gemm(ins, outs, attrs);
  case OpKind::BiasAdd:
    return biasAdd(ins, outs, attrs);
  case OpKind::Relu:
    return map([&](size_t i) { return x(0, i) < 0 ? 0 : x(0, i); });
  case OpKind::ReluBwd:
    return map([&](size_t i) { return x(1, i) > 0 ? x(0, i) : 0; });
  case OpKind::Add:
    return map([&](size_t i) { return x(0, i) + x(1, i); });
  case OpKind::Copy:
  case OpKind::CopySaved:
  case OpKind::Cast:
    return map([&](size_t i) { return x(0, i); });
  case OpKind::MseLoss: {
    double sum = 0;
    for (size_t i = 0; i < ins[0].values.size(); ++i)
      sum += std::pow(x(0, i) - x(1, i), 2);
    outs[0].values[0] = sum / double(ins[0].values.size());
    return;
  }
  case OpKind::MseGrad: {
    double scale = attrsOf<MseGradAttrs>(attrs).scale;
    scale *= ins.size() > 2 ? x(2, 0) : 1;
    return map([&](size_t i) { return scale * (x(0, i) - x(1, i)); });
  }
  case OpKind::ReduceSum:
    return reduceSum(ins[0], outs[0], attrsOf<ReduceSumAttrs>(attrs).axis);
  case OpKind::LayerNorm:
    return layerNorm(ins, outs, attrs);
  case OpKind::LayerNormBwd:
    return layerNormBwd(ins, outs);
  case OpKind::AllFinite: {
    bool finite = true;
    for (const Tensor &t : ins)
      for (double value : t.values)
        finite &= std::isfinite(value);
    outs[0].values[0] = finite;
    return;
  }
  case OpKind::LossScaleUpdate:
    return lossScaleUpdate(ins, outs, attrs);
  case OpKind::StepInc:
    // A counter stays at its largest number (of i64, at 2^53 here already).
    outs[0].values[0] =
        std::min(x(0, 0) + (ins.size() < 2 || x(1, 0) != 0 ? 1 : 0),
                 outs[0].desc.dtype == DType::I32 ? 0x1p31 - 1 : 0x1p63);
    return;
  case OpKind::BiasCorr:
    return biasCorr(ins, outs, attrs);
  case OpKind::AdamStep:
    return adamStep(ins, outs, attrs);
  case OpKind::SgdStep:
    return sgdStep(ins, outs, attrs);
  case OpKind::GemmBias:
  case OpKind::GemmReluBwd:
  case OpKind::GemmReduce:
    return fusedGemm(kind, ins, outs, attrs);
  case OpKind::ReluBwdReduce:
    map([&](size_t i) { return x(1, i) > 0 ? x(0, i) : 0; });
    return reduceSum(outs[0], outs[1], 0);
  case OpKind::MseLossGrad: {
    Tensors loss = {outs[0]}, grad = {outs[1]};
    run(OpKind::MseLoss, {ins[0], ins[1]}, loss, {});
    run(OpKind::MseGrad, ins, grad, attrs);
    outs = {loss[0], grad[0]};
    return;
  }
  case OpKind::AdamUpdate:
  case OpKind::SgdUpdate:
  case OpKind::MomentumUpdate:
    return update(kind, ins, outs, attrs);
  case OpKind::Reciprocal:
    return map([&](size_t i) { return 1 / x(0, i); });
  case OpKind::GatherRows:
    return gatherRows(ins, outs);
  case OpKind::Shuffle: {
    auto shuffle = attrsOf<ShuffleAttrs>(attrs);
    size_t batch = outs[0].values.size();
    return map([&](size_t i) {
      return double(shuffledRow(uint64_t(std::max(x(0, 0), 0.0)) * batch + i,
                                uint32_t(shuffle.size),
                                uint64_t(shuffle.seed)));
    });
  }
  case OpKind::Record:
    return record(ins, outs);
  }
}

} // namespace aicf::reference
