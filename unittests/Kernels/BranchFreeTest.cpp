//===- BranchFreeTest.cpp - the CPU's functions of f32 --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/BranchFree.h"
#include "kernels/cpu/Parallel.h"

#include <gtest/gtest.h>

#include <vector>

using namespace aicf;
using namespace aicf::scalar;

namespace {

struct Function {
  const char *name;
  float (*ours)(float);
  double (*exact)(double);
  double bound; ///< units of the last place, as BranchFree.h says
};
const Function kFunctions[] = {
    {"exp", branchfree::exp, std::exp, 0.99},
    {"expm1", branchfree::expm1, std::expm1, 1.5},
    {"log", branchfree::log, std::log, 0.9},
    {"log1p", branchfree::log1p, std::log1p, 1},
    {"tanh", branchfree::tanh, std::tanh, 1.4},
    {"erf", branchfree::erf, std::erf, 1.2},
    {"erfc", branchfree::erfc, std::erfc, 4}};

/// The distance in units of the last place that f32 has at `exact`.
double ulps(float value, double exact) {
  if (std::isnan(exact) || std::isnan(value))
    return std::isnan(exact) == std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(float(exact)) || std::isinf(value))
    return float(exact) == value ? 0 : INFINITY;
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(double(value) - exact) /
         std::ldexp(1.0, std::max(exponent - 24, -149));
}

/// Of all floats, NaN and infinities too, one in so many.
constexpr uint64_t kStep = 1999;

TEST(BranchFree, IsAccurateOverAllFloats) {
  for (const Function &f : kFunctions) {
    double worst = 0;
    float where = 0;
    for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += kStep) {
      const float x = branchfree::floatOf(uint32_t(bits)), y = f.ours(x);
      const double exact = f.exact(double(x)), distance = ulps(y, exact);
      if (distance > worst) {
        worst = distance;
        where = x;
      }
      if (y == 0) {
        ASSERT_EQ(std::signbit(y), std::signbit(exact))
            << f.name << " of " << x;
      }
    }
    EXPECT_LE(worst, f.bound) << f.name << " of " << where;
    EXPECT_GT(worst, 0.4) << f.name << ": nothing was compared";
  }
}

TEST(BranchFree, KnowsExtremes) {
  for (const Function &f : kFunctions)
    for (float x : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, -NAN,
                    1e-45f, -1e-45f, 3.4e38f, -3.4e38f, 0x1p-126f, 88.7f, 88.8f,
                    -87.4f, -103.9f, -104.5f, 10.05f, 10.1f}) {
      const float y = f.ours(x), exact = float(f.exact(double(x)));
      EXPECT_LE(ulps(y, f.exact(double(x))), f.bound) << f.name << " of " << x;
      EXPECT_TRUE(std::isnan(exact) || std::signbit(y) == std::signbit(exact))
          << f.name << " of " << x;
    }
}

template <float (*kFunction)(float)>
void expectBitsOfOneByOne(const char *name) {
  std::vector<float> x, y;
  for (uint64_t bits = 0; bits < uint64_t(1) << 32; bits += 16 * kStep)
    x.push_back(branchfree::floatOf(uint32_t(bits)));
  y.resize(x.size());
  cpu::runWithBestISA(
      [&](int64_t begin, int64_t end) {
        AICF_INDEPENDENT_LOOP
        for (int64_t i = begin; i < end; ++i)
          y[size_t(i)] = kFunction(x[size_t(i)]);
      },
      0, int64_t(x.size()));
  float (*volatile alone)(float) = kFunction;
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(branchfree::bitsOf(y[i]) == branchfree::bitsOf(alone(x[i])) ||
                std::isnan(y[i]))
        << name << " of " << x[i];
}

TEST(BranchFree, HasTheSameBitsInALoopOfVectors) {
  expectBitsOfOneByOne<branchfree::exp>("exp");
  expectBitsOfOneByOne<branchfree::expm1>("expm1");
  expectBitsOfOneByOne<branchfree::log>("log");
  expectBitsOfOneByOne<branchfree::log1p>("log1p");
  expectBitsOfOneByOne<branchfree::tanh>("tanh");
  expectBitsOfOneByOne<branchfree::erf>("erf");
  expectBitsOfOneByOne<branchfree::erfc>("erfc");
}

} // namespace
