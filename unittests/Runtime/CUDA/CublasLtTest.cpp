//===- CublasLtTest.cpp - products by cuBLASLt over a fake library --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the library is told of a product, and which of its algorithms run.
//===----------------------------------------------------------------------===//

#include "CUDATestDevice.h"

#include <cstring>
#include <fstream>
#include <map>

using namespace aicf;
using namespace aicf::test;

namespace {

#ifdef AICF_HAVE_CUBLASLT
/// Products of samples with 8 rows and 16 columns, over the fake library.
class CublasLt : public testing::Test {
protected:
  using Attributes = std::map<int, uint64_t>;
  using Numbers = std::vector<int64_t>;

  void SetUp() override {
    if (isReal())
      GTEST_SKIP() << "needs the fake table";
    fakeLibrary() = {};
    use(makeDevice());
  }
  void TearDown() override {
    if (device)
      device->deallocate(memory);
    fakeLibrary() = {};
  }
  /// Another device, which has chosen nothing yet.
  void use(std::shared_ptr<Device> other) {
    if (device)
      device->deallocate(memory);
    device = std::move(other);
    auto made = device->allocate(1 << 16);
    ASSERT_TRUE(made.ok());
    memory = static_cast<char *>(*made);
    stream = std::move(*device->createStream());
  }
  void tune(Tuning tuning, const std::string &file = {}) {
    CUDADeviceOptions options;
    options.tuning = tuning;
    options.tuningFile = file;
    use(makeDevice(baseApi(), options));
  }

  /// Reads the sample `name`. Its tensors lie 4096 bytes apart, operands first.
  void take(std::string_view name, DType dtype = DType::BF16) {
    const std::vector<KindRow> &rows = allCallRows();
    auto row = std::find_if(rows.begin(), rows.end(), [&](const KindRow &row) {
      return row.name == name;
    });
    ASSERT_NE(row, rows.end()) << name;
    sample = toCall(makeSample(*row, 8, 16, dtype));
    ins.clear();
    outs.clear();
    char *at = memory;
    for (const TensorDesc &desc : sample.ins)
      ins.push_back({std::exchange(at, at + 4096), desc});
    for (const TensorDesc &desc : sample.outs)
      outs.push_back({std::exchange(at, at + 4096), desc});
  }
  StatusOr<ResolvedCall> prepare(std::string_view kid = "gemm_bf16_lt_v0") {
    return resolve(*device, {sample.body, ins, outs, kid, workspace});
  }
  /// Runs the call, and returns what the library was told.
  FakeLibrary run(std::string_view kid = "gemm_bf16_lt_v0") {
    auto call = prepare(kid);
    EXPECT_TRUE(call.ok()) << call.status().toString();
    if (call.ok()) {
      Status status = stream->enqueue(*call);
      EXPECT_TRUE(status.ok()) << status.toString();
    }
    return fakeLibrary();
  }
  uint64_t addressOf(const TensorView &view) {
    return reinterpret_cast<uintptr_t>(view.start());
  }

  CudaApi api = baseApi(); ///< for devices of a test
  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  char *memory = nullptr;
  Sample sample;
  std::vector<TensorView> ins, outs;
  TensorView workspace = {};
};

/// The library stores columns: its first matrix is our second one, and its rows
/// are our columns.
TEST_F(CublasLt, IsToldTheMatricesAsTheyAreStored) {
  take("gemm NN");
  FakeLibrary told = run();
  EXPECT_EQ(told.matrices[0].numbers, (Numbers{CUDA_R_16BF, 16, 13, 16}));
  EXPECT_EQ(told.matrices[1].numbers, (Numbers{CUDA_R_16BF, 13, 8, 13}));
  EXPECT_EQ(told.matrices[2].numbers, (Numbers{CUDA_R_16BF, 16, 8, 16}));
  for (const FakeLibrary::Object &matrix : told.matrices)
    EXPECT_EQ(matrix.attributes, Attributes()) << "one product";
  EXPECT_EQ(told.product.numbers, (Numbers{CUBLAS_COMPUTE_32F, CUDA_R_32F}));
  EXPECT_EQ(told.workspaceBytes, 0u);
  take("gemm TT");
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  told = run();
  EXPECT_EQ(told.matrices[0].numbers, (Numbers{CUDA_R_16BF, 13, 16, 13}));
  EXPECT_EQ(told.matrices[1].numbers, (Numbers{CUDA_R_16BF, 8, 13, 8}));
  EXPECT_EQ(told.matrices[2].numbers, (Numbers{CUDA_R_16BF, 16, 8, 16}));
  EXPECT_EQ(told.workspaceBytes, 1024u);
  take("batched_gemm NN");
  told = run("batched_gemm_bf16_lt_v0");
  const uint64_t strides[] = {7 * 16, 8 * 7, 8 * 16};
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(told.matrices[i].attributes,
              (Attributes{{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 3},
                          {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                           strides[i]}}));
  take("gemm NN", DType::F32);
  told = run("gemm_tf32_lt_v0");
  EXPECT_EQ(told.product.numbers,
            (Numbers{CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F}));
}

/// Heads of attention lie side by side in a token, so that no stride leads from
/// each matrix to the next one. A kernel of ours writes the addresses to the
/// workspace, in front of the library's.
TEST_F(CublasLt, TakesTheAddressesOfSmallMatricesInNestedBatches) {
  take("batched_gemm NN");
  auto nest = [&](int64_t m, int64_t n, int64_t k) {
    ins[0].desc = TensorDesc::strided(DType::BF16, {2, 3, m, k},
                                      {m * k, 2 * m * k, k, 1});
    ins[1].desc = TensorDesc(DType::BF16, {2, 3, k, n});
    outs[0].desc = TensorDesc(DType::BF16, {2, 3, m, n});
  };
  auto runs = [&] {
    fakeLibrary().runs = 0;
    return run("batched_gemm_bf16_lt_v0").runs;
  };
  nest(8, 16, 7);
  EXPECT_EQ(runs(), 2u) << "without a workspace, a run for each outer index";
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  uint64_t before = fakeKernelsRun();
  EXPECT_EQ(runs(), 1u);
  EXPECT_EQ(fakeKernelsRun() - before, 2u) << "ours and the library's";
  FakeLibrary told = fakeLibrary();
  for (const FakeLibrary::Object &matrix : told.matrices)
    EXPECT_EQ(matrix.attributes,
              (Attributes{{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 6},
                          {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE,
                           CUBLASLT_BATCH_MODE_POINTER_ARRAY}}));
  EXPECT_EQ(told.workspaceBytes, 1024u - 256u) << "18 addresses, rounded up";
  tune(Tuning::Fast); // on memory of its own
  take("batched_gemm NN");
  nest(8, 16, 7);
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  runs();
  EXPECT_EQ(runs(), 1u);
  use(makeDevice());
  take("batched_gemm NN");
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {64})};
  nest(8, 16, 7);
  EXPECT_EQ(runs(), 2u) << "no room for the library behind the addresses";
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  fakeLibrary().takesAddresses = false;
  EXPECT_EQ(runs(), 2u) << "a library that has no such batches";
  EXPECT_EQ(fakeLibrary().workspaceBytes, 1024u);
  fakeLibrary().takesAddresses = true;
  // Nothing looks at these addresses.
  for (size_t i = 0; i < 3; ++i) {
    TensorView &view = i < 2 ? ins[i] : outs[0];
    view = {memory + ((i + 1) << 26), view.desc};
  }
  nest(256, 256, 65);
  EXPECT_EQ(runs(), 2u) << "large products are worth runs of their own";
}

TEST_F(CublasLt, IsToldOnlyWhatAProductHas) {
  Attributes expected = {{CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N},
                         {CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N}};
  take("gemm NN");
  EXPECT_EQ(run().product.attributes, expected);
  take("gemm_bias_gelu NN last tanh");
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_GELU_BIAS;
  expected[CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE] = CUDA_R_16BF;
  expected[CUBLASLT_MATMUL_DESC_BIAS_POINTER] = addressOf(ins[2]);
  EXPECT_EQ(run("gemm_bias_gelu_bf16_lt_v0").product.attributes, expected);
  take("gemm_bias_gelu NN last tanh kept");
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  expected[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD] = 16;
  uint64_t &kept = expected[CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER];
  kept = addressOf(outs[0]);
  Attributes told = run("gemm_bias_gelu_bf16_lt_v0").product.attributes;
  kept = addressOf(outs[told == expected ? 0 : 1]);
  EXPECT_EQ(told, expected);
  take("gemm TN");
  told = run().product.attributes;
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSA], uint64_t(CUBLAS_OP_N));
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSB], uint64_t(CUBLAS_OP_T));
  take("gemm NT");
  told = run().product.attributes;
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSA], uint64_t(CUBLAS_OP_T));
  EXPECT_EQ(told[CUBLASLT_MATMUL_DESC_TRANSB], uint64_t(CUBLAS_OP_N));
}

/// Each is a pair of tensors that kernels of the library load in whole.
TEST_F(CublasLt, RefusesWhatTheLibraryIsNotToldTheAlignmentOf) {
  auto says = [&](std::string_view kid, const char *what) {
    Status status = prepare(kid).status();
    EXPECT_EQ(status.code(), StatusCode::Misaligned) << status.toString();
    EXPECT_NE(status.message().find(what), std::string::npos)
        << status.message();
  };
  auto move = [](TensorView &view) {
    view = {static_cast<char *>(view.start()) + 4, view.desc};
  };
  take("gemm_bias_gelu NN last tanh kept");
  move(ins[2]);
  says("gemm_bias_gelu_bf16_lt_v0", "operand 2 (bias)");
  take("gemm_gelu_bwd NN tanh");
  move(ins[2]);
  says("gemm_gelu_bwd_bf16_lt_v0", "gelu's operand");
  take("gemm_reduce TN 0");
  for (TensorView &out : outs)
    if (out.desc.rank == 1)
      move(out);
  says("gemm_reduce_bf16_lt_v0", "result 1 (sums)");
}

/// Files of earlier runs have these names: others would not be found in them.
TEST_F(CublasLt, KeepsItsChoicesUnderTheseNames) {
  std::string file = testing::TempDir() + "aicf-tuning-names.json";
  std::remove(file.c_str());
  tune(Tuning::Fast, file);
  take("gemm NN");
  run();
  auto strided = [&](size_t operand, int64_t pitch) {
    TensorDesc &desc = ins[operand].desc;
    desc = TensorDesc::strided(desc.dtype,
                               std::vector<int64_t>{desc.rows(), desc.width()},
                               std::vector<int64_t>{pitch, 1});
  };
  strided(0, 24);
  run();
  take("gemm TT");
  run();
  strided(1, 32);
  workspace = {memory + (1 << 15), TensorDesc(DType::F32, {256})};
  run();
  workspace = {};
  take("gemm NN", DType::F32);
  run("gemm_tf32_lt_v0");
  take("batched_gemm NN");
  run("batched_gemm_bf16_lt_v0");
  take("gemm_bias_gelu NN last tanh kept");
  run("gemm_bias_gelu_bf16_lt_v0");
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {}), names;
  for (size_t at = 0; (at = text.find("\n  \"", at)) != std::string::npos;) {
    at += 4;
    names += text.substr(at, text.find('"', at) - at) + "\n";
  }
  EXPECT_EQ(names, "8x16x13_NN_bf16_bf16_e164_w0_256_256_256\n"
                   "8x16x13_NN_bf16_bf16_e1_w0_256_256_256\n"
                   "8x16x13_NN_bf16_bf16_e1_w0_2_256_256_p24_p16_p16\n"
                   "8x16x13_NN_f32tf32_f32_e1_w0_256_256_256\n"
                   "8x16x13_TT_bf16_bf16_e1_w0_256_256_256\n"
                   "8x16x13_TT_bf16_bf16_e1_w1024_256_2_256_p8_p32_p16\n"
                   "8x16x7_NN_bf16_bf16_e1_w0_16_32_256_b3_b56_b112_b128\n");
  std::remove(file.c_str());
}

/// Scratch memory as large as the tensors, one byte for what a product has not.
TEST_F(CublasLt, TimesOnScratchMemory) {
  static std::vector<size_t> sizes;
  api.cudaMalloc = [](void **at, size_t bytes) {
    sizes.push_back(bytes);
    return baseApi().cudaMalloc(at, bytes);
  };
  CUDADeviceOptions options;
  options.tuning = Tuning::Fast;
  use(makeDevice(api, options));
  auto isUsers = [&](uint64_t address) {
    return address - reinterpret_cast<uintptr_t>(memory) < 1 << 16;
  };
  take("gemm NN");
  sizes.clear();
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(sizes, (std::vector<size_t>{208, 416, 256, 32, 1, 1}));
  EXPECT_EQ(fakeLibrary().product.attributes.size(), 2u) << "trans, trans";
  take("gemm_bias_gelu NN last tanh kept");
  sizes.clear();
  ASSERT_TRUE(prepare("gemm_bias_gelu_bf16_lt_v0").ok());
  EXPECT_EQ(sizes, (std::vector<size_t>{208, 416, 256, 32, 256, 1}));
  for (auto name : {CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER}) {
    uint64_t address = fakeLibrary().product.attributes[name];
    EXPECT_NE(address, 0u) << name;
    EXPECT_FALSE(isUsers(address)) << name;
  }
}

TEST_F(CublasLt, AsksForAsManyAlgorithmsAsAreTimed) {
  for (auto [tuning, wanted] : {std::pair(Tuning::Off, 1),
                                std::pair(Tuning::Fast, 8),
                                std::pair(Tuning::Full, 64)}) {
    fakeLibrary() = {};
    tune(tuning);
    take("gemm NN");
    ASSERT_TRUE(prepare().ok());
    EXPECT_EQ(fakeLibrary().wanted, std::vector<int>{wanted});
    EXPECT_EQ(fakeLibrary().runs > 0, tuning != Tuning::Off);
  }
}

/// A later one has to be faster by two percent.
TEST_F(CublasLt, TakesTheFastest) {
  using Times = std::vector<float>;
  for (auto [times, chosen] :
       {std::pair(Times{1, 0.99f}, 1u), std::pair(Times{1, 0.9f}, 2u),
        std::pair(Times{1, 0.9f, 0.95f}, 2u), std::pair(Times{3, 1, 2}, 2u)}) {
    fakeLibrary().algorithms.clear();
    for (float time : times)
      fakeLibrary().algorithms.push_back({{}, {}, time});
    tune(Tuning::Fast);
    take("gemm NN");
    EXPECT_EQ(run().algorithm, chosen) << times.size() << " " << times[1];
  }
}

TEST_F(CublasLt, TakesNoneThatDoesNotRun) {
  FakeLibrary::Algorithm fails{{}, CUBLAS_STATUS_INTERNAL_ERROR},
      unfit{CUBLAS_STATUS_NOT_SUPPORTED};
  fakeLibrary().algorithms = {fails, {}};
  tune(Tuning::Fast);
  take("gemm NN");
  EXPECT_EQ(run().algorithm, 2u);
  fakeLibrary().algorithms = {fails, fails};
  tune(Tuning::Fast);
  take("gemm NN");
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::DeviceError);
  EXPECT_NE(status.message().find("none of the 2 algorithms"),
            std::string::npos)
      << status.message();
  fakeLibrary().algorithms = {unfit, {}};
  tune(Tuning::Fast);
  take("gemm NN");
  fakeLibrary().runs = 0;
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().runs, 0u) << "there is nothing to choose from";
  EXPECT_EQ(run().algorithm, 2u);
}

TEST_F(CublasLt, SaysWhetherItHasNoAlgorithmOrFailed) {
  take("gemm NN");
  fakeLibrary().offered = CUBLAS_STATUS_NOT_SUPPORTED;
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_NE(status.message().find("has no algorithm for 8x16x13"),
            std::string::npos)
      << status.message();
  fakeLibrary().offered = CUBLAS_STATUS_INTERNAL_ERROR;
  EXPECT_EQ(prepare().status().code(), StatusCode::DeviceError);
}

/// Not while a capture runs, which timing would spoil: that choice is not kept.
TEST_F(CublasLt, ChoosesOnce) {
  take("gemm NN");
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1}));
  fakeLibrary() = {};
  tune(Tuning::Fast);
  take("gemm NN");
  ASSERT_TRUE(stream->beginCapture().ok());
  ASSERT_TRUE(prepare().ok());
  EXPECT_EQ(fakeLibrary().runs, 0u);
  EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1}));
  ASSERT_TRUE(stream->endCapture().ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(prepare().ok());
    EXPECT_GT(fakeLibrary().runs, 0u);
    EXPECT_EQ(fakeLibrary().wanted, (std::vector<int>{1, 8}));
  }
}

TEST_F(CublasLt, AKeptChoiceIsUsedWhereTheLibraryStillTakesIt) {
  std::string file = testing::TempDir() + "aicf-tuning-kept.json";
  std::remove(file.c_str());
  fakeLibrary().algorithms[1].milliseconds = 0.0001f;
  tune(Tuning::Fast, file);
  take("gemm NN");
  EXPECT_EQ(run().algorithm, 2u);
  auto again = [&](cublasStatus_t checked, uint64_t needs) {
    fakeLibrary().wanted.clear();
    fakeLibrary().checked = checked;
    fakeLibrary().checkedWorkspace = needs;
    tune(Tuning::Off, file);
    take("gemm NN");
    return run();
  };
  FakeLibrary kept = again(CUBLAS_STATUS_SUCCESS, 0);
  EXPECT_EQ(kept.algorithm, 2u);
  EXPECT_TRUE(kept.wanted.empty());
  EXPECT_EQ(again(CUBLAS_STATUS_NOT_SUPPORTED, 0).algorithm, 1u);
  EXPECT_EQ(again(CUBLAS_STATUS_SUCCESS, 1).algorithm, 1u)
      << "it needs a workspace, and there is none";
  std::remove(file.c_str());
}

TEST_F(CublasLt, WithoutItsLibraryTheOtherKernelsRun) {
  api.cublasLtVersion = 0;
  api.cublasLtProblem = "it is gone";
  use(makeDevice(api));
  take("gemm NN");
  Status status = prepare().status();
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_NE(status.message().find("needs cuBLASLt: it is gone"),
            std::string::npos)
      << status.message();
  EXPECT_TRUE(stream->enqueue(makeRelu(*device, memory)).ok());
}
#endif

} // namespace
