//===- CublasLt.cpp - matrix products by cuBLASLt -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// cuBLASLt is column-major: our c[M,N] is its D[N,M], so that its first operand
// is our b and its second our a. The bias of a row of ours lies along its
// columns (EPILOGUE_BIAS), and the sums over k of op(a) are its BGRADB.
// Of several products the largest loop is a strided batch. Where there are other
// loops, small products are one batch of addresses, which a kernel of ours writes
// to the workspace in front; of large ones each index of the other loops is a
// call of its own with the same descriptors. Algorithms that add
// partial results in an order of their own are never candidates, so that the
// same algorithm gives the same bits.
//===----------------------------------------------------------------------===//

#include "kernels/gemm/BatchPointers.h"
#include "kernels/gemm/Product.h"
#include "lib/Base/File.h"
#include "lib/Runtime/CUDA/Handles.h"
#include "lib/Runtime/CUDA/Provider.h"
#include "lib/Runtime/CUDA/Tuning.h"
#include "lib/Runtime/CallArgs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

namespace aicf {

#ifdef AICF_HAVE_CUBLASLT

namespace {

using MatmulDesc =
    CudaHandle<cublasLtMatmulDesc_t, &CudaApi::cublasLtMatmulDescDestroy>;
using MatrixLayout =
    CudaHandle<cublasLtMatrixLayout_t, &CudaApi::cublasLtMatrixLayoutDestroy>;
using Preference = CudaHandle<cublasLtMatmulPreference_t,
                              &CudaApi::cublasLtMatmulPreferenceDestroy>;

cudaDataType_t cudaTypeOf(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return CUDA_R_16F;
  case DType::BF16:
    return CUDA_R_16BF;
  default: // no kernel of the library has another type
    return CUDA_R_32F;
  }
}

/// Returns what every matrix of a tensor is aligned to, in bytes; `of` is the
/// tensor's offset. The library has kernels that read pairs of elements. They
/// read one element too many in a row of an odd length, and there may be no
/// memory behind the last row of a view. So the length of a row counts, too.
uint32_t alignmentOf(const TensorView &view, const Batches &batches,
                     int64_t Batches::Offsets::*of) {
  auto bits = reinterpret_cast<uintptr_t>(view.start()) | 256;
  for (int d = 0; d < batches.rank; ++d)
    bits |= uintptr_t(batches.loops[d].stride.*of) * sizeOf(view.desc.dtype);
  if (view.desc.layout == Layout::Strided)
    bits |= uintptr_t(view.desc.width()) * sizeOf(view.desc.dtype);
  return uint32_t(bits & (~bits + 1));
}

cublasLtEpilogue_t epilogueOf(const Product &product) {
  switch (product.epilogue) {
  case Product::Epilogue::Bias:
    return CUBLASLT_EPILOGUE_BIAS;
  case Product::Epilogue::BiasRelu:
    return CUBLASLT_EPILOGUE_RELU_BIAS;
  case Product::Epilogue::BiasGelu:
    return product.geluOperand.start() ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                                       : CUBLASLT_EPILOGUE_GELU_BIAS;
  case Product::Epilogue::GeluBwd:
    return CUBLASLT_EPILOGUE_DGELU;
  case Product::Epilogue::Reduce:
    return CUBLASLT_EPILOGUE_BGRADB;
  default:
    return CUBLASLT_EPILOGUE_DEFAULT;
  }
}

/// A problem in our terms, read off a call.
struct Problem : Product {
  bool isTF32;
  DType in, out;
  cublasLtEpilogue_t epilogue;
  uint64_t workspaceBytes = 0;
  uint32_t alignments[3]; ///< bytes, of a, b and c
  /// One library call; `batches` are calls, or the matrices of its addresses.
  Batches::Loop batch;
  bool hasPointers = false;
  uint64_t pointerBytes = 0; ///< in front of the library's workspace

  Problem(const Product &product, const ResolvedCall &call, bool mayPoint);
  /// What a tuned choice is kept under.
  std::string key() const;
};

/// Up to so many multiplications, what is in front of a call of the library
/// costs more than the product.
constexpr int64_t kSmallProduct = int64_t(1) << 22;

Problem::Problem(const Product &product, const ResolvedCall &call,
                 bool mayPoint)
    : Product(product), isTF32(call.row->math == Math::TF32), in(a.desc.dtype),
      out(c.desc.dtype), epilogue(epilogueOf(product)),
      workspaceBytes(call.workspace.start() ? call.workspace.desc.spanBytes()
                                            : 0),
      alignments{alignmentOf(a, batches, &Batches::Offsets::a),
                 alignmentOf(b, batches, &Batches::Offsets::b),
                 alignmentOf(c, batches, &Batches::Offsets::c)} {
  const Batches all = batches;
  batch = batches.takeLargest();
  const uint64_t bytes = cuda::BatchPointers::bytesOf(all.count);
  if (!mayPoint || batches.count == 1 || m * n * k > kSmallProduct ||
      workspaceBytes <= bytes)
    return;
  hasPointers = true;
  pointerBytes = bytes;
  workspaceBytes -= bytes;
  batches = all;
  batch = {all.count, {}};
}

std::string Problem::key() const {
  std::string text = std::to_string(m) + "x" + std::to_string(n) + "x" +
                     std::to_string(k) + (transA ? "_T" : "_N") +
                     (transB ? "T_" : "N_") + std::string(nameOf(in)) +
                     (isTF32 ? "tf32_" : "_") + std::string(nameOf(out)) +
                     "_e" + std::to_string(int(epilogue)) + "_w" +
                     std::to_string(workspaceBytes);
  for (uint32_t alignment : alignments)
    text += "_" + std::to_string(alignment);
  if (lda != (transA ? m : k) || ldb != (transB ? k : n) || ldc != n)
    for (int64_t pitch : {lda, ldb, ldc}) // rows with something in between
      text += "_p" + std::to_string(pitch);
  if (hasPointers)
    text += "_addresses" + std::to_string(batch.size);
  else if (batch.size > 1)
    for (int64_t number :
         {batch.size, batch.stride.a, batch.stride.b, batch.stride.c})
      text += "_b" + std::to_string(number);
  return text;
}

/// The descriptors of a problem.
struct Descriptors {
  MatmulDesc operation;
  MatrixLayout a, b, c; ///< ours

  static StatusOr<Descriptors> create(const CudaApi &api, const Problem &p);
  /// Sets the addresses of a bias or of sums, and of gelu's operand; null where
  /// the call has none.
  Status setPointers(const CudaApi &api, const void *extra,
                     const void *geluOperand) const {
    if (extra)
      AICF_CUDA_TRY(api, cublasLtMatmulDescSetAttribute, operation.get(),
                    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &extra, sizeof(extra));
    if (geluOperand)
      AICF_CUDA_TRY(api, cublasLtMatmulDescSetAttribute, operation.get(),
                    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &geluOperand,
                    sizeof(geluOperand));
    return {};
  }
};

StatusOr<MatrixLayout> makeLayout(const CudaApi &api, DType dtype,
                                  int64_t columns, int64_t rows, int64_t pitch,
                                  const Problem &p, int64_t batchStride) {
  cublasLtMatrixLayout_t layout = nullptr;
  // Our rows are its columns.
  AICF_CUDA_TRY(api, cublasLtMatrixLayoutCreate, &layout, cudaTypeOf(dtype),
                uint64_t(columns), uint64_t(rows), pitch);
  MatrixLayout made(api, layout);
  auto count = int32_t(p.batch.size);
  const uint32_t addresses = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
  if (p.hasPointers) {
    AICF_CUDA_TRY(api, cublasLtMatrixLayoutSetAttribute, layout,
                  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
    AICF_CUDA_TRY(api, cublasLtMatrixLayoutSetAttribute, layout,
                  CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &addresses,
                  sizeof(addresses));
  } else if (count > 1) {
    AICF_CUDA_TRY(api, cublasLtMatrixLayoutSetAttribute, layout,
                  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
    AICF_CUDA_TRY(api, cublasLtMatrixLayoutSetAttribute, layout,
                  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batchStride,
                  sizeof(batchStride));
  }
  return made;
}

StatusOr<Descriptors> Descriptors::create(const CudaApi &api,
                                          const Problem &p) {
  Descriptors d;
  cublasLtMatmulDesc_t operation = nullptr;
  AICF_CUDA_TRY(api, cublasLtMatmulDescCreate, &operation,
                p.isTF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                CUDA_R_32F);
  d.operation = MatmulDesc(api, operation);
  auto set = [&](cublasLtMatmulDescAttributes_t name, const auto &value) {
    return checkCuda(api,
                     api.cublasLtMatmulDescSetAttribute(operation, name, &value,
                                                        sizeof(value)),
                     "cublasLtMatmulDescSetAttribute");
  };
  cublasOperation_t first = p.transB ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t second = p.transA ? CUBLAS_OP_T : CUBLAS_OP_N;
  AICF_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSA, first));
  AICF_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_TRANSB, second));
  if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
    AICF_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, p.epilogue));
    cudaDataType_t type = cudaTypeOf(p.out);
    AICF_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type));
  }
  if (p.geluOperand.start()) // our rows are its columns
    AICF_RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.n));
  auto operand = [&](int64_t rows, int64_t columns, bool isTransposed,
                     int64_t pitch, int64_t batchStride) {
    if (isTransposed)
      std::swap(rows, columns);
    return makeLayout(api, p.in, columns, rows, pitch, p, batchStride);
  };
  AICF_ASSIGN_OR_RETURN(d.a,
                        operand(p.m, p.k, p.transA, p.lda, p.batch.stride.a));
  AICF_ASSIGN_OR_RETURN(d.b,
                        operand(p.k, p.n, p.transB, p.ldb, p.batch.stride.b));
  AICF_ASSIGN_OR_RETURN(
      d.c, makeLayout(api, p.out, p.n, p.m, p.ldc, p, p.batch.stride.c));
  return d;
}

/// Pointers of a product; that of a bias or of sums is the descriptor's.
struct Pointers {
  const void *a, *b;
  void *c, *workspace;
  uint64_t workspaceBytes; ///< the library's
};

/// Library calls of one product: what its descriptors do not loop over.
struct Calls {
  Batches batches;
  size_t inBytes, outBytes; ///< of an element
};

class MatmulCall : public CUDACall {
public:
  MatmulCall(const CudaApi &api, cublasLtHandle_t handle, Descriptors d,
             Pointers p, const cublasLtMatmulAlgo_t &algorithm,
             const Problem &problem)
      : api(api), handle(handle), d(std::move(d)), p(p), algorithm(algorithm),
        calls{problem.batches, sizeOf(problem.in), sizeOf(problem.out)} {
    if (!problem.hasPointers)
      return;
    // The library's workspace comes behind the addresses.
    auto **array = static_cast<const void **>(p.workspace);
    addresses = cuda::planBatchPointers(
        {static_cast<const char *>(p.a), static_cast<const char *>(p.b),
         static_cast<char *>(p.c), calls.batches, int64_t(calls.inBytes),
         int64_t(calls.outBytes), array});
    this->p.a = array;
    this->p.b = array + calls.batches.count;
    this->p.c = array + 2 * calls.batches.count;
    this->p.workspace = static_cast<char *>(p.workspace) + problem.pointerBytes;
    calls.batches = Batches();
  }

  Status launch(cudaStream_t stream) const override {
    const float one = 1, zero = 0;
    if (addresses)
      AICF_RETURN_IF_ERROR(launchPlanned(api, *addresses, stream));
    for (int64_t i = 0; i < calls.batches.count; ++i) {
      Batches::Offsets at = calls.batches.at(i);
      auto *a = static_cast<const char *>(p.a) + at.a * int64_t(calls.inBytes);
      auto *b = static_cast<const char *>(p.b) + at.b * int64_t(calls.inBytes);
      auto *c = static_cast<char *>(p.c) + at.c * int64_t(calls.outBytes);
      AICF_CUDA_TRY(api, cublasLtMatmul, handle, d.operation.get(), &one, b,
                    d.b.get(), a, d.a.get(), &zero, c, d.c.get(), c, d.c.get(),
                    &algorithm, p.workspace, p.workspaceBytes, stream);
    }
    return {};
  }
  std::vector<PlannedFunction> functions() const override { return {}; }

private:
  const CudaApi &api;
  cublasLtHandle_t handle;
  Descriptors d;
  Pointers p;
  cublasLtMatmulAlgo_t algorithm;
  Calls calls;
  std::optional<cuda::PlannedLaunch> addresses; ///< of a batch
};

class CublasLt : public Provider {
public:
  explicit CublasLt(const CudaApi &api) : api(api) {}
  ~CublasLt() override {
    if (handle)
      (void)api.cublasLtDestroy(handle);
  }
  Status initialize(const PrepareContext &context);
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &context) override;

private:
  StatusOr<std::shared_ptr<const CUDACall>>
  prepareProblem(const Problem &p, const ResolvedCall &call,
                 const PrepareContext &context);
  StatusOr<std::vector<cublasLtMatmulAlgo_t>>
  candidates(const Problem &p, const Descriptors &d, int wanted);
  StatusOr<cublasLtMatmulAlgo_t> choose(const Problem &p, const Descriptors &d,
                                        const PrepareContext &context);
  StatusOr<size_t> fastest(const Problem &p,
                           const std::vector<cublasLtMatmulAlgo_t> &all,
                           double &micros);
  StatusOr<double> timeAlgorithm(const MatmulCall &call, cudaStream_t stream);

  const CudaApi &api;
  cublasLtHandle_t handle = nullptr;
  std::mutex mutex; ///< of tuning
  TuningFile tuned;
  std::map<std::string, cublasLtMatmulAlgo_t> chosen;
};

Status CublasLt::initialize(const PrepareContext &context) {
  if (api.cublasLtVersion == 0)
    return {}; // kernels of our own still run
  AICF_CUDA_TRY(api, cublasLtCreate, &handle);
  return tuned.load(context.options.tuningFile, context.description);
}

/// Up to `wanted` algorithms within the cap, the library's favourite first.
StatusOr<std::vector<cublasLtMatmulAlgo_t>>
CublasLt::candidates(const Problem &p, const Descriptors &d, int wanted) {
  cublasLtMatmulPreference_t raw = nullptr;
  AICF_CUDA_TRY(api, cublasLtMatmulPreferenceCreate, &raw);
  Preference preference(api, raw);
  auto set = [&](cublasLtMatmulPreferenceAttributes_t name, const auto &value) {
    return checkCuda(api,
                     api.cublasLtMatmulPreferenceSetAttribute(raw, name, &value,
                                                              sizeof(value)),
                     "cublasLtMatmulPreferenceSetAttribute");
  };
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, p.workspaceBytes));
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK &
                     ~uint32_t(CUBLASLT_REDUCTION_SCHEME_INPLACE);
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes));
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.alignments[1]));
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.alignments[0]));
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.alignments[2]));
  AICF_RETURN_IF_ERROR(
      set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.alignments[2]));
  std::vector<cublasLtMatmulHeuristicResult_t> found(
      static_cast<size_t>(wanted));
  int count = 0;
  cublasStatus_t status = api.cublasLtMatmulAlgoGetHeuristic(
      handle, d.operation.get(), d.b.get(), d.a.get(), d.c.get(), d.c.get(),
      raw, wanted, found.data(), &count);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED)
    AICF_RETURN_IF_ERROR(
        checkCuda(api, status, "cublasLtMatmulAlgoGetHeuristic"));
  std::vector<cublasLtMatmulAlgo_t> all;
  for (int i = 0; i < count; ++i)
    if (found[size_t(i)].state == CUBLAS_STATUS_SUCCESS)
      all.push_back(found[size_t(i)].algo);
  if (all.empty())
    return makeError(StatusCode::NotImplemented,
                     "cuBLASLt has no algorithm for ", p.key());
  return all;
}

StatusOr<double> CublasLt::timeAlgorithm(const MatmulCall &call,
                                         cudaStream_t stream) {
  AICF_ASSIGN_OR_RETURN(EventHandle start, makeEvent(api, true));
  AICF_ASSIGN_OR_RETURN(EventHandle stop, makeEvent(api, true));
  std::vector<double> times;
  AICF_RETURN_IF_ERROR(call.launch(stream)); // loads the kernel
  for (int i = 0; i < 7; ++i) {
    AICF_CUDA_TRY(api, cudaEventRecord, start.get(), stream);
    for (int repeat = 0; repeat < 3; ++repeat)
      AICF_RETURN_IF_ERROR(call.launch(stream));
    AICF_CUDA_TRY(api, cudaEventRecord, stop.get(), stream);
    AICF_CUDA_TRY(api, cudaEventSynchronize, stop.get());
    float milliseconds = 0;
    AICF_CUDA_TRY(api, cudaEventElapsedTime, &milliseconds, start.get(),
                  stop.get());
    times.push_back(double(milliseconds) * 1000 / 3);
  }
  std::nth_element(times.begin(), times.begin() + 3, times.end());
  return times[3];
}

/// Times all on scratch memory with random bits of small exponents; the user's
/// tensors are never touched.
StatusOr<size_t> CublasLt::fastest(const Problem &p,
                                   const std::vector<cublasLtMatmulAlgo_t> &all,
                                   double &micros) {
  uint64_t bytesA = p.a.desc.spanBytes(), bytesB = p.b.desc.spanBytes(),
           bytesC = p.c.desc.spanBytes();
  AICF_ASSIGN_OR_RETURN(DeviceMemory a, makeDeviceMemory(api, bytesA));
  AICF_ASSIGN_OR_RETURN(DeviceMemory b, makeDeviceMemory(api, bytesB));
  AICF_ASSIGN_OR_RETURN(DeviceMemory c, makeDeviceMemory(api, bytesC));
  AICF_ASSIGN_OR_RETURN(
      DeviceMemory extra,
      makeDeviceMemory(api, uint64_t(std::max(p.m, p.n)) * sizeOf(p.out)));
  AICF_ASSIGN_OR_RETURN(
      DeviceMemory geluOperand,
      makeDeviceMemory(api, p.geluOperand.start() ? bytesC : 1));
  AICF_ASSIGN_OR_RETURN(DeviceMemory workspace,
                        makeDeviceMemory(api, p.pointerBytes +
                                                  p.workspaceBytes + 1));
  AICF_ASSIGN_OR_RETURN(StreamHandle stream, makeStream(api));
  for (auto [memory, bytes] :
       {std::pair(a.get(), bytesA), std::pair(b.get(), bytesB)})
    AICF_RETURN_IF_ERROR(fillWithNoise(api, memory, bytes, p.in, stream.get()));
  size_t best = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(Descriptors d, Descriptors::create(api, p));
    AICF_RETURN_IF_ERROR(
        d.setPointers(api, p.extra.start() ? extra.get() : nullptr,
                      p.geluOperand.start() ? geluOperand.get() : nullptr));
    MatmulCall call(
        api, handle, std::move(d),
        {a.get(), b.get(), c.get(), workspace.get(), p.workspaceBytes}, all[i],
        p);
    StatusOr<double> time = timeAlgorithm(call, stream.get());
    if (!time.ok())
      continue; // some offers do not run; the others do
    // A later candidate must be clearly faster: noise must not choose.
    if (best == all.size() || *time < micros * 0.98) {
      best = i;
      micros = *time;
    }
  }
  if (best == all.size())
    return makeError(StatusCode::DeviceError, "none of the ", all.size(),
                     " algorithms of cuBLASLt runs for ", p.key());
  return best;
}

StatusOr<cublasLtMatmulAlgo_t> CublasLt::choose(const Problem &p,
                                                const Descriptors &d,
                                                const PrepareContext &context) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string key = p.key();
  if (auto it = chosen.find(key); it != chosen.end())
    return it->second;
  cublasLtMatmulAlgo_t algorithm;
  if (tuned.find(key, &algorithm, sizeof(algorithm))) {
    cublasLtMatmulHeuristicResult_t result{};
    cublasStatus_t status = api.cublasLtMatmulAlgoCheck(
        handle, d.operation.get(), d.b.get(), d.a.get(), d.c.get(), d.c.get(),
        &algorithm, &result);
    if (status == CUBLAS_STATUS_SUCCESS &&
        result.workspaceSize <= p.workspaceBytes) {
      chosen[key] = algorithm;
      return algorithm;
    }
  }
  // Timing waits and allocates, which would spoil a capture.
  Tuning tuning = context.isCapturing ? Tuning::Off : context.options.tuning;
  int wanted = tuning == Tuning::Off ? 1 : tuning == Tuning::Fast ? 8 : 64;
  AICF_ASSIGN_OR_RETURN(std::vector<cublasLtMatmulAlgo_t> all,
                        candidates(p, d, wanted));
  size_t best = 0;
  if (all.size() > 1) {
    double micros = 0;
    AICF_ASSIGN_OR_RETURN(best, fastest(p, all, micros));
    tuned.add(key, &all[best], sizeof(algorithm), micros);
    if (!context.options.tuningFile.empty())
      AICF_RETURN_IF_ERROR(
          tuned.save(context.options.tuningFile, context.description));
  }
  if (!context.isCapturing)
    chosen[key] = all[best];
  return all[best];
}

StatusOr<std::shared_ptr<const CUDACall>>
CublasLt::prepare(const ResolvedCall &call, const PrepareContext &context) {
  ProductReader read = findProductReader(call.row->kid);
  if (!read)
    return std::shared_ptr<const CUDACall>();
  if (!handle)
    return makeError(StatusCode::NotImplemented, call.row->kid,
                     " needs cuBLASLt: ", api.cublasLtProblem);
  const Product product = read(call.launchArgs());
  Problem p(product, call, /*mayPoint=*/true);
  if (p.hasPointers) {
    StatusOr<std::shared_ptr<const CUDACall>> made =
        prepareProblem(p, call, context);
    if (made.ok() || made.status().code() != StatusCode::NotImplemented)
      return made;
    p = Problem(product, call, /*mayPoint=*/false); // an older library
  }
  return prepareProblem(p, call, context);
}

StatusOr<std::shared_ptr<const CUDACall>>
CublasLt::prepareProblem(const Problem &p, const ResolvedCall &call,
                         const PrepareContext &context) {
  AICF_ASSIGN_OR_RETURN(Descriptors d, Descriptors::create(api, p));
  // The library is not told, and may load 16 bytes at a time.
  for (auto [what, pointer] :
       {std::pair(p.epilogue == CUBLASLT_EPILOGUE_BGRADB ? "result 1 (sums)"
                                                         : "operand 2 (bias)",
                  p.extra.start()),
        std::pair("gelu's operand", p.geluOperand.start())})
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0)
      return makeError(StatusCode::Misaligned, call.row->kid, ": ", what,
                       " has address ", pointer,
                       ", which is not a multiple of 16 bytes");
  AICF_RETURN_IF_ERROR(
      d.setPointers(api, p.extra.start(), p.geluOperand.start()));
  StatusOr<cublasLtMatmulAlgo_t> algorithm = choose(p, d, context);
  if (!algorithm.ok())
    return algorithm.status().withContext(std::string(call.row->kid));
  return std::shared_ptr<const CUDACall>(std::make_shared<MatmulCall>(
      api, handle, std::move(d),
      Pointers{p.a.start(), p.b.start(), p.c.start(), call.workspace.start(),
               p.workspaceBytes},
      *algorithm, p));
}

} // namespace

StatusOr<std::unique_ptr<Provider>>
makeCublasLt(const PrepareContext &context) {
  auto made = std::make_unique<CublasLt>(context.api);
  AICF_RETURN_IF_ERROR(made->initialize(context));
  return std::unique_ptr<Provider>(std::move(made));
}

#else

namespace {

/// Says why its kernels do not run: all that are not our own are the library's.
class NoCublasLt : public Provider {
  StatusOr<std::shared_ptr<const CUDACall>>
  prepare(const ResolvedCall &call, const PrepareContext &) override {
    return makeError(StatusCode::NotImplemented, call.row->kid,
                     ": this build was made without cublasLt.h");
  }
};

} // namespace

StatusOr<std::unique_ptr<Provider>> makeCublasLt(const PrepareContext &) {
  return std::unique_ptr<Provider>(std::make_unique<NoCublasLt>());
}

#endif // AICF_HAVE_CUBLASLT

} // namespace aicf
