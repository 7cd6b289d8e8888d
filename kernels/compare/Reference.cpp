//===- Reference.cpp - comparisons, logic and choices in f64 ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Written by hand, not from the records' definitions.
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {

/// c[i] = f(a[i], b[i])
template <typename View, typename F> static void eachPair(const View &c, F f) {
  fill(c.c(), [&](size_t i) { return f(c.a()[i], c.b()[i]) ? 1 : 0; });
}
void compute(const EqualView<Call> &c) {
  eachPair(c, [](double a, double b) { return a == b; });
}
void compute(const NotEqualView<Call> &c) {
  eachPair(c, [](double a, double b) { return !(a == b); });
}
void compute(const LessView<Call> &c) {
  eachPair(c, [](double a, double b) { return a < b; });
}
void compute(const LessEqualView<Call> &c) {
  eachPair(c, [](double a, double b) { return a < b || a == b; });
}

/// The number of the record, as the operand's type has it: comparisons are exact,
/// so they see the rounding.
static double asHeld(const Tensor &x, double number) {
  bool isSingle = isFloat(x.desc.dtype) && x.desc.dtype != DType::F64;
  return isSingle ? double(float(number)) : number;
}
/// y[i] = f(x[i], value)
template <typename View, typename F> static void eachX(const View &c, F f) {
  double value = asHeld(c.x(), c.attrs().value);
  fill(c.y(), [&](size_t i) { return f(c.x()[i], value) ? 1 : 0; });
}
void compute(const EqualScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return x == value; });
}
void compute(const NotEqualScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return !(x == value); });
}
void compute(const LessScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return x < value; });
}
void compute(const LessEqualScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return x < value || x == value; });
}
void compute(const GreaterScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return value < x; });
}
void compute(const GreaterEqualScalarView<Call> &c) {
  eachX(c, [](double x, double value) { return value < x || x == value; });
}

void compute(const LogicalAndView<Call> &c) {
  eachPair(c, [](double a, double b) { return a != 0 && b != 0; });
}
void compute(const LogicalOrView<Call> &c) {
  eachPair(c, [](double a, double b) { return a != 0 || b != 0; });
}
void compute(const LogicalXorView<Call> &c) {
  eachPair(c, [](double a, double b) { return (a != 0) != (b != 0); });
}
void compute(const LogicalNotView<Call> &c) {
  fill(c.y(), [&](size_t i) { return c.x()[i] == 0 ? 1 : 0; });
}

void compute(const WhereView<Call> &c) {
  fill(c.c(), [&](size_t i) {
    return c.condition()[i] != 0 ? c.a()[i] : c.b()[i];
  });
}
void compute(const MaskedFillView<Call> &c) {
  fill(c.y(), [&](size_t i) {
    bool fills = (c.mask()[i] != 0) != bool(c.attrs().inverted);
    return fills ? c.attrs().value : c.x()[i];
  });
}

} // namespace aicf::reference
