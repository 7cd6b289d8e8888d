//===- OneDNN.cpp - matrix products by oneDNN -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Of its two ways, the matmul primitive is the faster one where b is transposed
// (a layer's forward product), dnnl_sgemm elsewhere: docs/rationale/CPU.md. bf16
// has the primitive alone: 6 times as fast as f32 where the machine has AMX.
//
// The library is loaded when the first product asks for it, and is not linked:
// Debian's is 40 MB and needs an OpenCL loader, which a program with small
// products, or a machine without it, can do without. Only its headers are
// needed to build; they say which version is loaded, because versions 2 and 3
// describe memory in different ways.
//===----------------------------------------------------------------------===//

#include "kernels/gemm/OneDNN.h"
#include "kernels/gemm/OpenBLAS.h"

#ifdef AICF_HAVE_ONEDNN

#include "lib/Base/BadAlloc.h"
#include "lib/Base/Machine.h"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.h>
#include <string>
#include <string_view>
#include <vector>

namespace aicf::cpu {
namespace {

/// Multiply-adds below which the way into a call costs more than it gains.
constexpr double kSgemmWork = 1e6, kPrimitiveWork = 1e5;
/// The same where OpenBLAS has no kernels for this machine.
constexpr double kWorkBesideSlow = 1 << 14;
/// The same of bf16, which other libraries must widen first.
constexpr double kBf16Work = 1 << 12;

/// Primitives that a thread keeps until it ends. A plan has one for each shape
/// of its forward products.
constexpr size_t kMaxPrimitives = 1024;

/// The functions of the library, under their own names.
#define AICF_DNNL_FUNCTIONS(X)                                                 \
  X(dnnl_engine_create)                                                        \
  X(dnnl_stream_create)                                                        \
  X(dnnl_stream_destroy)                                                       \
  X(dnnl_primitive_attr_create)                                                \
  X(dnnl_primitive_attr_set_scratchpad_mode)                                   \
  X(dnnl_primitive_attr_set_fpmath_mode)                                       \
  X(dnnl_primitive_attr_destroy)                                               \
  X(dnnl_primitive_desc_query_md)                                              \
  X(dnnl_primitive_desc_destroy)                                               \
  X(dnnl_primitive_create)                                                     \
  X(dnnl_primitive_execute)                                                    \
  X(dnnl_primitive_destroy)                                                    \
  X(dnnl_memory_create)                                                        \
  X(dnnl_memory_set_data_handle)                                               \
  X(dnnl_memory_destroy)                                                       \
  X(dnnl_sgemm)                                                                \
  X(dnnl_get_effective_cpu_isa)                                                \
  AICF_DNNL_FUNCTIONS_OF_VERSION(X)
#if DNNL_VERSION_MAJOR >= 3
#define AICF_DNNL_FUNCTIONS_OF_VERSION(X)                                      \
  X(dnnl_memory_desc_create_with_strides)                                      \
  X(dnnl_memory_desc_destroy)                                                  \
  X(dnnl_matmul_primitive_desc_create)
#else
#define AICF_DNNL_FUNCTIONS_OF_VERSION(X)                                      \
  X(dnnl_memory_desc_init_by_strides)                                          \
  X(dnnl_matmul_desc_init)                                                     \
  X(dnnl_primitive_desc_create)
#endif

/// oneDNN and the OpenMP that it runs on, loaded once and never closed: threads
/// that end after main() still use them.
struct Library {
#define AICF_DNNL_DECLARE(name) decltype(&::name) name = nullptr;
  AICF_DNNL_FUNCTIONS(AICF_DNNL_DECLARE)
#undef AICF_DNNL_DECLARE
  int (*omp_get_max_threads)() = nullptr;
  void (*omp_set_num_threads)(int) = nullptr;
  dnnl_engine_t engine = nullptr;
  bool hasBf16 = false; ///< instructions for it

  /// Null where there is no such library, or AICF_CPU_GEMM=openblas asks for
  /// the bits of a machine without it.
  static const Library *get() {
    static const Library library;
    return library.engine ? &library : nullptr;
  }

private:
  Library() {
    const char *wanted = std::getenv("AICF_CPU_GEMM");
    if (wanted && std::string_view(wanted) == "openblas")
      return;
    std::string file = "libdnnl.so." + std::to_string(DNNL_VERSION_MAJOR);
    void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return;
    bool hasAll = true;
    auto find = [&](auto &function, const char *name) {
      // The search covers what the library itself needs, and so its OpenMP.
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          dlsym(handle, name));
      hasAll = hasAll && function;
    };
#define AICF_DNNL_FIND(name) find(name, #name);
    AICF_DNNL_FUNCTIONS(AICF_DNNL_FIND)
    AICF_DNNL_FIND(omp_get_max_threads)
    AICF_DNNL_FIND(omp_set_num_threads)
#undef AICF_DNNL_FIND
    if (!hasAll || dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success)
      engine = nullptr;
    if (engine) { // one set's bits are those of the next one, too
      constexpr int kBf16 = dnnl_cpu_isa_avx512_core_bf16;
      hasBf16 = (dnnl_get_effective_cpu_isa() & kBf16) == kBf16;
    }
  }
};

/// oneDNN asks OpenMP how many threads to use: one, on whatever thread we are.
class OneOpenMPThread {
public:
  explicit OneOpenMPThread(const Library &library)
      : library(library), before(library.omp_get_max_threads()) {
    library.omp_set_num_threads(1);
  }
  ~OneOpenMPThread() { library.omp_set_num_threads(before); }

private:
  const Library &library;
  int before;
};

/// A handle of the library, destroyed by one of its functions.
template <typename Handle>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, dnnl_status_t (*)(Handle)>;

/// Calls `create(&handle, arguments...)`; null where it fails.
template <typename Handle, typename Create, typename... Arguments>
Owned<Handle> make(dnnl_status_t (*destroy)(Handle), Create create,
                   Arguments... arguments) {
  Handle handle = nullptr;
  if (create(&handle, arguments...) != dnnl_success)
    handle = nullptr;
  return Owned<Handle>(handle, destroy);
}

/// m, n, k, transA, transB, lda, ldb, ldc, and the types.
using Shape = std::array<int64_t, 10>;

Shape shapeOf(const Tile &t, ProductTypes types) {
  return {t.m,   t.n,   t.k,   t.transA,          t.transB,
          t.lda, t.ldb, t.ldc, int64_t(types.in), int64_t(types.out)};
}
dnnl_data_type_t typeOf(int64_t dtype) {
  return DType(dtype) == DType::BF16 ? dnnl_bf16 : dnnl_f32;
}

#if DNNL_VERSION_MAJOR >= 3
/// A matrix with these strides, in elements.
class MatrixDesc {
public:
  MatrixDesc(const Library &library, dnnl_data_type_t type, int64_t rows,
             int64_t columns, int64_t rowStride, int64_t columnStride)
      : desc(nullptr, library.dnnl_memory_desc_destroy) {
    dnnl_dims_t dims = {rows, columns}, strides = {rowStride, columnStride};
    desc =
        make<dnnl_memory_desc_t>(library.dnnl_memory_desc_destroy,
                                 library.dnnl_memory_desc_create_with_strides,
                                 2, dims, type, strides);
  }
  const_dnnl_memory_desc_t get() const { return desc.get(); }

private:
  Owned<dnnl_memory_desc_t> desc;
};

Owned<dnnl_primitive_desc_t> makeProductDesc(const Library &library,
                                             const MatrixDesc &a,
                                             const MatrixDesc &b,
                                             const MatrixDesc &c,
                                             const_dnnl_primitive_attr_t attr) {
  return make<dnnl_primitive_desc_t>(library.dnnl_primitive_desc_destroy,
                                     library.dnnl_matmul_primitive_desc_create,
                                     library.engine, a.get(), b.get(), nullptr,
                                     c.get(), attr);
}
#else
/// A matrix with these strides, in elements.
class MatrixDesc {
public:
  MatrixDesc(const Library &library, dnnl_data_type_t type, int64_t rows,
             int64_t columns, int64_t rowStride, int64_t columnStride) {
    dnnl_dims_t dims = {rows, columns}, strides = {rowStride, columnStride};
    if (library.dnnl_memory_desc_init_by_strides(&desc, 2, dims, type,
                                                 strides) != dnnl_success)
      desc = {};
  }
  const dnnl_memory_desc_t *get() const { return &desc; }

private:
  dnnl_memory_desc_t desc = {};
};

Owned<dnnl_primitive_desc_t> makeProductDesc(const Library &library,
                                             const MatrixDesc &a,
                                             const MatrixDesc &b,
                                             const MatrixDesc &c,
                                             const_dnnl_primitive_attr_t attr) {
  dnnl_matmul_desc_t desc = {};
  if (library.dnnl_matmul_desc_init(&desc, a.get(), b.get(), nullptr,
                                    c.get()) != dnnl_success)
    return {nullptr, library.dnnl_primitive_desc_destroy};
  return make<dnnl_primitive_desc_t>(library.dnnl_primitive_desc_destroy,
                                     library.dnnl_primitive_desc_create, &desc,
                                     attr, library.engine, nullptr);
}
#endif

/// A product with its memories; of one thread.
class MatmulPrimitive {
public:
  MatmulPrimitive(const Library &library, const Shape &shape)
      : library(library), primitive(nullptr, library.dnnl_primitive_destroy),
        a(noMemory()), b(noMemory()), c(noMemory()), scratchpad(noMemory()) {
    auto [m, n, k, transA, transB, lda, ldb, ldc, in, out] = shape;
    MatrixDesc aDesc(library, typeOf(in), m, k, transA ? 1 : lda, transA ? lda : 1),
        bDesc(library, typeOf(in), k, n, transB ? 1 : ldb, transB ? ldb : 1),
        cDesc(library, typeOf(out), m, n, ldc, 1);
    auto attributes =
        make<dnnl_primitive_attr_t>(library.dnnl_primitive_attr_destroy,
                                    library.dnnl_primitive_attr_create);
    // The library's own scratchpad would be shared between primitives. And
    // whatever ONEDNN_DEFAULT_FPMATH_MODE says is for a step's other products.
    if (!attributes ||
        library.dnnl_primitive_attr_set_scratchpad_mode(
            attributes.get(), dnnl_scratchpad_mode_user) != dnnl_success ||
        library.dnnl_primitive_attr_set_fpmath_mode(
            attributes.get(), dnnl_fpmath_mode_strict) != dnnl_success)
      return;
    auto desc = makeProductDesc(library, aDesc, bDesc, cDesc, attributes.get());
    if (!desc)
      return;
    a = makeMemory(aDesc.get(), DNNL_MEMORY_NONE);
    b = makeMemory(bDesc.get(), DNNL_MEMORY_NONE);
    c = makeMemory(cDesc.get(), DNNL_MEMORY_NONE);
    scratchpad = makeMemory(library.dnnl_primitive_desc_query_md(
                                desc.get(), dnnl_query_scratchpad_md, 0),
                            DNNL_MEMORY_ALLOCATE);
    if (a && b && c && scratchpad)
      primitive =
          make<dnnl_primitive_t>(library.dnnl_primitive_destroy,
                                 library.dnnl_primitive_create, desc.get());
  }

  /// False where the library has no primitive for such a product.
  bool run(dnnl_stream_t stream, const void *aData, const void *bData,
           void *cData) {
    if (!primitive)
      return false;
    auto set = library.dnnl_memory_set_data_handle;
    if (set(a.get(), const_cast<void *>(aData)) != dnnl_success ||
        set(b.get(), const_cast<void *>(bData)) != dnnl_success ||
        set(c.get(), cData) != dnnl_success)
      return false;
    const dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, a.get()},
        {DNNL_ARG_WEIGHTS, b.get()},
        {DNNL_ARG_DST, c.get()},
        {DNNL_ARG_SCRATCHPAD, scratchpad.get()}};
    return library.dnnl_primitive_execute(primitive.get(), stream, 4,
                                          arguments) == dnnl_success;
  }

private:
  Owned<dnnl_memory_t> noMemory() const {
    return {nullptr, library.dnnl_memory_destroy};
  }
  template <typename Desc>
  Owned<dnnl_memory_t> makeMemory(Desc desc, void *data) const {
    return make<dnnl_memory_t>(library.dnnl_memory_destroy,
                               library.dnnl_memory_create, desc, library.engine,
                               data);
  }

  const Library &library;
  Owned<dnnl_primitive_t> primitive;
  Owned<dnnl_memory_t> a, b, c, scratchpad;
};

/// The product of this thread, made when it meets a shape for the first time.
MatmulPrimitive &productOf(const Library &library, const Shape &shape) {
  thread_local std::map<Shape, MatmulPrimitive> products;
  auto it = products.find(shape);
  if (it == products.end()) {
    if (products.size() == kMaxPrimitives)
      products.clear();
    it = products.try_emplace(shape, library, shape).first;
  }
  return it->second;
}

bool multiplyByPrimitive(const Library &library, const Shape &shape,
                         const void *a, const void *b, void *c) try {
  thread_local auto stream = make<dnnl_stream_t>(
      library.dnnl_stream_destroy, library.dnnl_stream_create, library.engine,
      dnnl_stream_default_flags);
  return stream && productOf(library, shape).run(stream.get(), a, b, c);
} catch (const std::exception &) {
  return false; // no memory: another library, and so other bits
}

bool multiplyBySgemm(const Library &library, const Tile &t, const float *a,
                     const float *b, float *c) {
  return library.dnnl_sgemm(t.transA ? 'T' : 'N', t.transB ? 'T' : 'N', t.m,
                            t.n, t.k, 1.0f, a, t.lda, b, t.ldb, 0.0f, c,
                            t.ldc) == dnnl_success;
}

bool isByPrimitive(const Tile &t, ProductTypes types) {
  return types.in == DType::BF16 || (t.transB && !t.transA);
}

/// The library, where it is the faster one for a tile.
const Library *libraryFor(const Tile &t, ProductTypes types) {
  double work = double(t.m) * double(t.n) * double(t.k);
  const double least = types.in == DType::BF16         ? kBf16Work
                       : !openBLASSuitsMachine()       ? kWorkBesideSlow
                       : isByPrimitive(t, types)       ? kPrimitiveWork
                                                       : kSgemmWork;
  const Library *library = work < least ? nullptr : Library::get();
  return types.in != DType::BF16 || (library && library->hasBf16) ? library
                                                                  : nullptr;
}

/// dnnl_sgemm has code for matrices that it reads where they lie, and code for
/// those that it copies first: it makes both for all shapes at its first calls.
void makeSgemmCode(const Library &library, bool transA, bool transB) {
  static std::once_flag isMade[2][2];
  std::call_once(isMade[transA][transB], [&] {
    for (int64_t size : {48, 400}) {
      std::vector<float> zeros(size_t(size * size)), c(zeros.size());
      multiplyBySgemm(library,
                      {size, size, size, transA, transB, size, size, size},
                      zeros.data(), zeros.data(), c.data());
    }
  });
}

} // namespace

bool hasOneDNN() { return Library::get() != nullptr; }

Status prepareOneDNN(const Tile &t, ProductTypes types) {
  constexpr uint64_t kRoom = 64 << 20; // the largest code has some MiB
  if (types.in != DType::F32 && types.in != DType::BF16)
    return {};
  const Library *library = libraryFor(t, types);
  if (!library)
    return {};
  if (!hasAddressSpace(kRoom))
    return makeError(StatusCode::DeviceError, "oneDNN needs up to ", kRoom,
                     " bytes of addresses to make code for a product of ", t.m,
                     "x", t.n, "x", t.k,
                     ", and they are not there (ulimit -v)");
  OneOpenMPThread guard(*library);
  return catchBadAlloc([&]() -> Status {
    if (isByPrimitive(t, types))
      productOf(*library, shapeOf(t, types));
    else
      makeSgemmCode(*library, t.transA, t.transB);
    return {};
  });
}

bool multiplyWithOneDNN(const Tile &t, const float *a, const float *b,
                        float *c) {
  constexpr ProductTypes types = {DType::F32, DType::F32};
  const Library *library = libraryFor(t, types);
  if (!library)
    return false;
  OneOpenMPThread guard(*library);
  if (isByPrimitive(t, types))
    return multiplyByPrimitive(*library, shapeOf(t, types), a, b, c);
  return multiplyBySgemm(*library, t, a, b, c);
}

static bool multiplyBf16(const Tile &t, DType out, const BFloat *a, const BFloat *b,
                         void *c) {
  const ProductTypes types = {DType::BF16, out};
  const Library *library = libraryFor(t, types);
  if (!library)
    return false;
  OneOpenMPThread guard(*library);
  return multiplyByPrimitive(*library, shapeOf(t, types), a, b, c);
}
bool multiplyWithOneDNN(const Tile &t, const BFloat *a, const BFloat *b, BFloat *c) {
  return multiplyBf16(t, DType::BF16, a, b, c);
}
bool multiplyWithOneDNN(const Tile &t, const BFloat *a, const BFloat *b, float *c) {
  return multiplyBf16(t, DType::F32, a, b, c);
}

} // namespace aicf::cpu

#else

namespace aicf::cpu {

bool hasOneDNN() { return false; }
Status prepareOneDNN(const Tile &, ProductTypes) { return {}; }
bool multiplyWithOneDNN(const Tile &, const float *, const float *, float *) {
  return false;
}
bool multiplyWithOneDNN(const Tile &, const BFloat *, const BFloat *, BFloat *) {
  return false;
}
bool multiplyWithOneDNN(const Tile &, const BFloat *, const BFloat *, float *) {
  return false;
}

} // namespace aicf::cpu

#endif // AICF_HAVE_ONEDNN
