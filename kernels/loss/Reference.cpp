//===- Reference.cpp - losses in f64 --------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

#include <cmath>

namespace aicf::reference {
namespace {

template <typename View> void loss(const View &c) {
  double sum = 0;
  for (size_t i = 0; i < c.pred().size(); ++i)
    sum += std::pow(c.pred()[i] - c.target()[i], 2);
  c.loss()[0] = sum / double(c.pred().size());
}

template <typename View> void gradient(const View &c) {
  double scale = c.attrs().scale * valueOr(c.loss_scale(), 1);
  fill(c.dpred(),
       [&](size_t i) { return scale * (c.pred()[i] - c.target()[i]); });
}

} // namespace

void compute(const MseLossView<Call> &c) { loss(c); }
void compute(const MseGradView<Call> &c) { gradient(c); }
void compute(const MseLossGradView<Call> &c) {
  loss(c);
  gradient(c);
}

} // namespace aicf::reference
