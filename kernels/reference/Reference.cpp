//===- Reference.cpp - every primitive, plain and in f64 ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>

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

void reduceSum(const Tensors &ins, Tensors &outs,
               const std::vector<uint8_t> &blob) {
  int64_t axis = attrsOf<ReduceSumAttrs>(blob).axis;
  const TensorDesc &x = ins[0].desc;
  int64_t inner = 1;
  for (int64_t d = axis + 1; d < x.rank; ++d)
    inner *= x.dims[d];
  for (double &y : outs[0].values)
    y = 0;
  for (int64_t i = 0; i < x.numElements(); ++i)
    outs[0].values[i / (inner * x.dims[axis]) * inner + i % inner] +=
        ins[0].values[i];
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
  outs[0].values[0] = scale;
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
    return reduceSum(ins, outs, attrs);
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
    outs[0].values[0] = x(0, 0) + (ins.size() < 2 || x(1, 0) != 0 ? 1 : 0);
    return;
  case OpKind::BiasCorr:
    return biasCorr(ins, outs, attrs);
  case OpKind::AdamStep:
    return adamStep(ins, outs, attrs);
  case OpKind::SgdStep:
    return sgdStep(ins, outs, attrs);
  }
}

} // namespace aicf::reference
