//===- CudnnTest.cpp - attention by cuDNN over a stub of it ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which calls the library gets, what it is told of them, and what runs where it does not
// run one.
//===----------------------------------------------------------------------===//

#include "CUDATestDevice.h"

#include <dlfcn.h>

using namespace aicf;
using namespace aicf::test;

namespace {

#ifdef AICF_CUDNN_STUB

/// A function of the stub, which stays in the process: its code is looked up once.
template <typename Function> Function *ofStub(const char *name) {
  static void *library = dlopen(AICF_CUDNN_STUB, RTLD_NOW);
  EXPECT_NE(library, nullptr) << dlerror();
  return reinterpret_cast<Function *>(dlsym(library, name));
}
int64_t stubs(const char *name) { return ofStub<int64_t()>(name)(); }
int64_t pointerOf(int64_t tensor) {
  return ofStub<int64_t(int64_t)>("aicf_cudnn_stub_pointer")(tensor);
}

class Cudnn : public testing::Test {
protected:
  void SetUp() override {
    if (isReal())
      GTEST_SKIP() << "needs the fake table";
    ::setenv("AICF_CUDNN_LIBRARY", AICF_CUDNN_STUB, 1);
    answer(/*takes=*/true, 256);
    use(makeDevice());
  }
  void TearDown() override {
    if (device)
      device->deallocate(memory);
    ::unsetenv("AICF_CUDNN_LIBRARY");
  }
  /// Another device, which has loaded nothing yet.
  void use(std::shared_ptr<Device> other) {
    if (device)
      device->deallocate(memory);
    device = std::move(other);
    auto made = device->allocate(1 << 20);
    ASSERT_TRUE(made.ok());
    memory = static_cast<char *>(*made);
    stream = std::move(*device->createStream());
  }
  static void answer(bool takes, int64_t workspaceBytes) {
    ofStub<void(int64_t, int64_t)>("aicf_cudnn_stub_answer")(takes, workspaceBytes);
  }

  /// Prepares attention, or its gradients, of 2 x 4 heads of 16 elements and 32 tokens.
  /// Its tensors lie 64 KiB apart, operands first.
  StatusOr<ResolvedCall> prepare(bool isGradient = false, double scale = 0.25) {
    return prepare(isGradient, {scale, 0, -1, 0, 0, 0, 0}); // causal
  }
  StatusOr<ResolvedCall> prepare(bool isGradient, const AttentionAttrs &attrs) {
    const TensorDesc heads(DType::BF16, {2, 32, 4, 16}), rows(DType::F32, {2, 4, 32});
    const AttentionBwdAttrs gradient = {
        attrs.scale, attrs.softcap, attrs.window_left, attrs.window_right, attrs.offset,
        attrs.p,     attrs.seed};
    ins.clear(), outs.clear();
    char *at = memory;
    auto add = [&](std::vector<TensorView> &to, const TensorDesc &desc) {
      to.push_back({std::exchange(at, at + (64 << 10)), desc});
    };
    for (size_t i = 0; i < (isGradient ? 5u : 3u); ++i)
      add(ins, heads);
    if (isGradient)
      add(ins, rows);
    for (size_t i = 0; i < (isGradient ? 3u : 1u); ++i)
      add(outs, heads);
    if (!isGradient)
      add(outs, rows);
    std::vector<bool> there(isGradient ? 9 : 6, false);
    std::fill_n(there.begin(), ins.size(), true);
    Body body =
        isGradient ? makeBody(OpKind::AttentionBwd, encodeAttrs(gradient), there,
                              std::vector<bool>(3, true))
                   : makeBody(OpKind::Attention, encodeAttrs(attrs), there, {true, true});
    workspace = {at, TensorDesc(DType::F32, {1 << 14})};
    return resolve(*device, {std::make_shared<Body>(std::move(body)), ins, outs,
                             isGradient ? "attention_bwd_bf16_cudnn_v0"
                                        : "attention_bf16_cudnn_v0",
                             workspace});
  }
  void run(const StatusOr<ResolvedCall> &call) {
    ASSERT_TRUE(call.ok()) << call.status().toString();
    const Status status = stream->enqueue(*call);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  static int64_t addressOf(const TensorView &view) {
    return int64_t(reinterpret_cast<uintptr_t>(view.start()));
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  char *memory = nullptr;
  std::vector<TensorView> ins, outs;
  TensorView workspace = {};
};

TEST_F(Cudnn, GetsTheAddressesOfACall) {
  run(prepare());
  ASSERT_EQ(stubs("aicf_cudnn_stub_runs"), 1);
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(pointerOf(1 + i), addressOf(ins[size_t(i)])) << "q, k or v";
  for (int64_t i = 0; i < 2; ++i)
    EXPECT_EQ(pointerOf(4 + i), addressOf(outs[size_t(i)])) << "y or lse";
  EXPECT_EQ(stubs("aicf_cudnn_stub_workspace"), addressOf(workspace));

  run(prepare(/*isGradient=*/true));
  ASSERT_EQ(stubs("aicf_cudnn_stub_runs"), 2);
  const size_t places[] = {1, 2, 3, 4, 5, 0}; // q, k, v, y, lse, dy
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(pointerOf(1 + i), addressOf(ins[places[i]]));
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(pointerOf(7 + i), addressOf(outs[size_t(i)])) << "dq, dk or dv";
}

TEST_F(Cudnn, IsLoadedByTheFirstCallAndBuildsAGraphOnce) {
  EXPECT_EQ(stubs("aicf_cudnn_stub_handles"), 0);
  for (int i = 0; i < 3; ++i)
    run(prepare());
  EXPECT_EQ(stubs("aicf_cudnn_stub_handles"), 1);
  EXPECT_EQ(stubs("aicf_cudnn_stub_plans"), 1);
  run(prepare(false, /*scale=*/0.5));
  run(prepare(true));
  EXPECT_EQ(stubs("aicf_cudnn_stub_plans"), 3) << "another scale, and gradients";
  use(makeDevice());
  EXPECT_EQ(stubs("aicf_cudnn_stub_handles"), 0) << "the device had it";
}

/// Fields in the order of the record: scale, softcap, window_left, window_right, offset,
/// p, seed.
TEST_F(Cudnn, IsNotForFactorsThatTurnTheOrderOfScoresNorForOtherWindows) {
  for (double scale : {0.0, -0.25, 1e-60, 1e60})
    EXPECT_FALSE(prepare(false, scale).ok()) << scale;
  for (const AttentionAttrs &attrs :
       {AttentionAttrs{1, 5, -1, -1, 0, 0, 0}, {1, 0, -1, 2, 0, 0, 0},
        {1, 0, 3, -1, 0, 0, 0}, {1, 0, -1, 0, 4, 0, 0}})
    for (bool isGradient : {false, true})
      EXPECT_FALSE(prepare(isGradient, attrs).ok()) << attrs.window_right;
  EXPECT_TRUE(prepare(false, {1, 0, 3, 0, 0, 0, 0}).ok());
}

/// Kernels of ours are what the fake card counts.
TEST_F(Cudnn, MakesPlaceForOursWhereItDoesNotRunACall) {
  auto launched = [&](bool isGradient) {
    const uint64_t before = fakeKernelsRun();
    run(prepare(isGradient));
    return fakeKernelsRun() - before;
  };
  EXPECT_EQ(launched(false), 0u);
  answer(/*takes=*/false, 0);
  use(makeDevice());
  EXPECT_EQ(launched(false), 1u) << "no plan for it";
  EXPECT_EQ(launched(true), 3u);
  answer(/*takes=*/true, 1 << 20);
  use(makeDevice());
  EXPECT_EQ(launched(false), 1u) << "more workspace than the plan has";
  for (const char *library : {"/nothing.so", "libm.so.6"}) {
    ::setenv("AICF_CUDNN_LIBRARY", library, 1);
    use(makeDevice());
    EXPECT_EQ(launched(false), 1u) << library;
  }
  EXPECT_EQ(stubs("aicf_cudnn_stub_runs"), 0);
}

#endif

} // namespace
