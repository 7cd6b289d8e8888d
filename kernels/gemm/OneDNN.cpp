//===- OneDNN.cpp - matrix products by oneDNN -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Of its two ways, the matmul primitive is the faster one where b is transposed
// (a layer's forward product), dnnl_sgemm elsewhere: docs/Rationale.md.
//===----------------------------------------------------------------------===//

#include "kernels/gemm/OneDNN.h"

#ifdef AICF_HAVE_ONEDNN

#include <array>
#include <cstdlib>
#include <dnnl.hpp>
#include <map>
#include <omp.h>
#include <optional>
#include <string_view>

namespace aicf::cpu {
namespace {

/// Multiply-adds below which the way into a call costs more than it gains.
constexpr double kSgemmWork = 1e6, kPrimitiveWork = 1e5;

/// Primitives that a thread keeps until it ends; a plan has one a shape of its
/// forward products.
constexpr size_t kMaxPrimitives = 1024;

/// oneDNN asks OpenMP how many threads to use: one, on whatever thread we are.
class OneOpenMPThread {
public:
  OneOpenMPThread() : before(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneOpenMPThread() { omp_set_num_threads(before); }

private:
  int before;
};

const dnnl::engine &engine() {
  // Never destroyed: threads that end after main() still use it.
  static const auto &cpu = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return cpu;
}

/// m, n, k, lda, ldb, ldc.
using Shape = std::array<int64_t, 6>;

/// c[m,n] = a[m,k] · b[n,k]ᵀ with its memories; of one thread.
class TransposedProduct {
public:
  /// Throws dnnl::error.
  explicit TransposedProduct(const Shape &shape) {
    auto [m, n, k, lda, ldb, ldc] = shape;
    auto matrix = [](int64_t rows, int64_t columns, int64_t rowStride,
                     int64_t columnStride) {
      return dnnl::memory::desc({rows, columns}, dnnl::memory::data_type::f32,
                                {rowStride, columnStride});
    };
    auto aDesc = matrix(m, k, lda, 1), bDesc = matrix(k, n, 1, ldb),
         cDesc = matrix(m, n, ldc, 1);
    // The library's own scratchpad would be shared between primitives.
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    // Whatever ONEDNN_DEFAULT_FPMATH_MODE says, for a step's other products.
    attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
#if DNNL_VERSION_MAJOR >= 3
    dnnl::matmul::primitive_desc desc(engine(), aDesc, bDesc, cDesc,
                                      attributes);
#else
    dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(aDesc, bDesc, cDesc),
                                      attributes, engine());
#endif
    primitive = dnnl::matmul(desc);
    a = dnnl::memory(aDesc, engine(), DNNL_MEMORY_NONE);
    b = dnnl::memory(bDesc, engine(), DNNL_MEMORY_NONE);
    c = dnnl::memory(cDesc, engine(), DNNL_MEMORY_NONE);
    scratchpad = dnnl::memory(desc.scratchpad_desc(), engine());
  }

  bool run(dnnl::stream &stream, const float *aData, const float *bData,
           float *cData) {
    a.set_data_handle(const_cast<float *>(aData));
    b.set_data_handle(const_cast<float *>(bData));
    c.set_data_handle(cData);
    // The C call: the C++ one would put these into a map first.
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, a.get()},
        {DNNL_ARG_WEIGHTS, b.get()},
        {DNNL_ARG_DST, c.get()},
        {DNNL_ARG_SCRATCHPAD, scratchpad.get()}};
    return dnnl_primitive_execute(primitive.get(), stream.get(), 4,
                                  arguments) == dnnl_success;
  }

private:
  dnnl::matmul primitive;
  dnnl::memory a, b, c, scratchpad;
};

/// Nothing where the library has no primitive for such a product.
std::optional<TransposedProduct> makeTransposedProduct(const Shape &shape) try {
  return TransposedProduct(shape);
} catch (const dnnl::error &error) {
  if (error.status == dnnl_unimplemented)
    return std::nullopt;
  throw;
}

/// Makes a primitive when a thread meets a shape for the first time.
bool multiplyTransposed(const Shape &shape, const float *a, const float *b,
                        float *c) try {
  thread_local std::map<Shape, std::optional<TransposedProduct>> products;
  thread_local dnnl::stream stream(engine());
  auto it = products.find(shape);
  if (it == products.end()) {
    if (products.size() == kMaxPrimitives)
      products.clear();
    it = products.emplace(shape, makeTransposedProduct(shape)).first;
  }
  return it->second && it->second->run(stream, a, b, c);
} catch (const std::exception &) {
  return false; // no memory: another library, and so other bits
}

} // namespace

bool hasOneDNN() {
  // AICF_CPU_GEMM=openblas: the bits of a build without, such as a wheel.
  static const bool wants = [] {
    const char *library = std::getenv("AICF_CPU_GEMM");
    return !library || std::string_view(library) != "openblas";
  }();
  return wants;
}

bool multiplyWithOneDNN(const Tile &t, const float *a, const float *b,
                        float *c) {
  bool byPrimitive = t.transB && !t.transA;
  double work = double(t.m) * double(t.n) * double(t.k);
  if (!hasOneDNN() || work < (byPrimitive ? kPrimitiveWork : kSgemmWork))
    return false;
  OneOpenMPThread guard;
  if (byPrimitive)
    return multiplyTransposed({t.m, t.n, t.k, t.lda, t.ldb, t.ldc}, a, b, c);
  return dnnl_sgemm(t.transA ? 'T' : 'N', t.transB ? 'T' : 'N', t.m, t.n, t.k,
                    1.0f, a, t.lda, b, t.ldb, 0.0f, c, t.ldc) == dnnl_success;
}

} // namespace aicf::cpu

#else

namespace aicf::cpu {

bool hasOneDNN() { return false; }
bool multiplyWithOneDNN(const Tile &, const float *, const float *, float *) {
  return false;
}

} // namespace aicf::cpu

#endif // AICF_HAVE_ONEDNN
