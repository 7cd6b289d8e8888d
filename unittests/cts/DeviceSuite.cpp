//===- DeviceSuite.cpp - memory, copies, streams, capture, errors ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CallArgs.h"
#include "unittests/cts/Suite.h"

#include <cstring>
#include <numeric>
#include <random>
#include <thread>

using namespace aicf;
using namespace aicf::cts;

namespace {

using MemoryTest = DeviceTest;
using CopyTest = DeviceTest;
using StreamTest = DeviceTest;
using CaptureTest = DeviceTest;
using ErrorTest = DeviceTest;

std::vector<uint8_t> pattern(size_t bytes, uint8_t seed) {
  std::vector<uint8_t> values(bytes);
  std::iota(values.begin(), values.end(), seed);
  return values;
}

std::vector<uint8_t> download(Device &device, Stream &stream, const void *from,
                              size_t bytes) {
  std::vector<uint8_t> values(bytes, 0xee);
  Status status = device.copyToHost(stream, values.data(), from, bytes);
  EXPECT_TRUE(status.ok()) << status.toString();
  return values;
}

TEST_P(MemoryTest, IsZeroedAlignedAndApart) {
  auto stream = makeStream();
  const uint64_t sizes[] = {1, 2, 255, 256, 257, 4096, 1000003};
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (uint64_t bytes : sizes) {
    buffers.push_back(std::make_unique<Buffer>(*device, bytes));
    char *at = buffers.back()->at();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % kTensorAlignment, 0u);
    EXPECT_EQ(download(*device, *stream, at, bytes),
              std::vector<uint8_t>(bytes, 0));
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    ASSERT_TRUE(
        device->fill(*stream, buffers[i]->at(), uint8_t(i + 1), sizes[i]).ok());
  for (size_t i = 0; i < buffers.size(); ++i)
    EXPECT_EQ(download(*device, *stream, buffers[i]->at(), sizes[i]),
              std::vector<uint8_t>(sizes[i], uint8_t(i + 1)))
        << "another buffer's fill";
}

TEST_P(MemoryTest, IsZeroedAgainAfterUse) {
  auto stream = makeStream();
  for (int i = 0; i < 4; ++i) {
    Buffer buffer(*device, 512);
    EXPECT_EQ(download(*device, *stream, buffer.at(), 512),
              std::vector<uint8_t>(512, 0));
    ASSERT_TRUE(device->fill(*stream, buffer.at(), 0xff, 512).ok());
    ASSERT_TRUE(stream->synchronize().ok());
  }
}

TEST_P(MemoryTest, TooMuchIsAnError) {
  for (uint64_t bytes : {uint64_t(1) << 46, UINT64_MAX - 3, UINT64_MAX}) {
    auto made = device->allocate(bytes);
    EXPECT_EQ(made.status().code(), StatusCode::DeviceError) << bytes;
  }
  Buffer small(*device, 64); // and the device still works
}

TEST_P(MemoryTest, AllocationsAreCounted) {
  uint64_t before = device->counters().allocations;
  {
    Buffer a(*device, 1), b(*device, 1);
  }
  EXPECT_EQ(device->counters().allocations, before + 2);
  device->deallocate(nullptr);
}

TEST_P(CopyTest, RoundTripsEverySize) {
  auto stream = makeStream();
  for (size_t bytes : {1u, 3u, 255u, 256u, 1001u, 300000u}) {
    Buffer buffer(*device, bytes);
    std::vector<uint8_t> values = pattern(bytes, uint8_t(bytes));
    ASSERT_TRUE(
        device->copyToDevice(*stream, buffer.at(), values.data(), bytes).ok());
    EXPECT_EQ(download(*device, *stream, buffer.at(), bytes), values);
  }
}

TEST_P(CopyTest, LeavesNeighboursAlone) {
  auto stream = makeStream();
  Buffer buffer(*device, 1024);
  std::vector<uint8_t> values = pattern(100, 1);
  ASSERT_TRUE(device->fill(*stream, buffer.at(), 0xaa, 1024).ok());
  ASSERT_TRUE(
      device->copyToDevice(*stream, buffer.at(256), values.data(), 100).ok());
  ASSERT_TRUE(device->fill(*stream, buffer.at(512), 0x55, 17).ok());
  std::vector<uint8_t> expected(1024, 0xaa);
  std::copy(values.begin(), values.end(), expected.begin() + 256);
  std::fill(expected.begin() + 512, expected.begin() + 529, 0x55);
  EXPECT_EQ(download(*device, *stream, buffer.at(), 1024), expected);
}

TEST_P(CopyTest, HostMemoryIsFreeOnReturn) {
  auto stream = makeStream();
  Buffer buffer(*device, 64 * 4096);
  for (uint8_t i = 0; i < 64; ++i) { // many in flight, one host buffer
    std::vector<uint8_t> values(4096, i);
    ASSERT_TRUE(device
                    ->copyToDevice(*stream, buffer.at(4096 * i), values.data(),
                                   values.size())
                    .ok());
    std::memset(values.data(), 0xff, values.size());
  }
  for (uint8_t i = 0; i < 64; ++i)
    EXPECT_EQ(download(*device, *stream, buffer.at(4096 * i), 4096),
              std::vector<uint8_t>(4096, i));
}

TEST_P(CopyTest, FromOnePlaceOnTheDeviceToAnother) {
  auto stream = makeStream();
  Buffer buffer(*device, 1024);
  std::vector<uint8_t> values = pattern(100, 1), expected(1024, 0xaa);
  ASSERT_TRUE(device->fill(*stream, buffer.at(), 0xaa, 1024).ok());
  ASSERT_TRUE(
      device->copyToDevice(*stream, buffer.at(), values.data(), 100).ok());
  ASSERT_TRUE(
      device->copyOnDevice(*stream, buffer.at(512), buffer.at(), 100).ok());
  ASSERT_TRUE(device->fill(*stream, buffer.at(), 0xaa, 100).ok());
  std::copy(values.begin(), values.end(), expected.begin() + 512);
  EXPECT_EQ(download(*device, *stream, buffer.at(), 1024), expected);
  EXPECT_EQ(stream->nativeHandle() != nullptr,
            device->kind() == DeviceKind::CUDA);
}

TEST_P(CopyTest, RowsFromOnePitchToAnother) {
  auto stream = makeStream();
  Buffer buffer(*device, 1024);
  std::vector<uint8_t> values = pattern(5 * 24, 3), expected(1024, 0xaa);
  ASSERT_TRUE(device->fill(*stream, buffer.at(), 0xaa, 1024).ok());
  ASSERT_TRUE(
      device->copyToDevice(*stream, buffer.at(), values.data(), values.size())
          .ok());
  ASSERT_TRUE(
      device->copy2D(*stream, buffer.at(512), 17, buffer.at(), 24, 17, 5).ok());
  ASSERT_TRUE(
      device->copy2D(*stream, buffer.at(768), 40, buffer.at(1), 24, 3, 5).ok());
  std::copy(values.begin(), values.end(), expected.begin());
  for (size_t row = 0; row < 5; ++row) {
    std::copy_n(&values[row * 24], 17, &expected[512 + row * 17]);
    std::copy_n(&values[row * 24 + 1], 3, &expected[768 + row * 40]);
  }
  EXPECT_EQ(download(*device, *stream, buffer.at(), 1024), expected);
}

TEST_P(CopyTest, OrderIsThatOfTheCalls) {
  auto stream = makeStream();
  Buffer buffer(*device, 256);
  std::vector<uint8_t> values = pattern(256, 9);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(device->fill(*stream, buffer.at(), uint8_t(i), 256).ok());
    ASSERT_TRUE(
        device->copyToDevice(*stream, buffer.at(), values.data(), 256).ok());
    ASSERT_TRUE(device->fill(*stream, buffer.at(128), uint8_t(i), 128).ok());
  }
  std::fill(values.begin() + 128, values.end(), 19);
  EXPECT_EQ(download(*device, *stream, buffer.at(), 256), values);
}

/// y = relu(x) on tensors of 64 f32 in one buffer: slot i is at 256 * i.
struct Relus {
  Relus(Device &device, Stream &stream)
      : device(device), stream(stream), buffer(device, 8 * 256) {
    std::vector<float> x(64);
    for (size_t i = 0; i < 64; ++i)
      x[i] = float(i) - 32;
    EXPECT_TRUE(device.copyToDevice(stream, buffer.at(), x.data(), 256).ok());
  }
  TensorView view(size_t slot) {
    return {buffer.at(256 * slot), TensorDesc(DType::F32, {64})};
  }
  ResolvedCall resolveCall(size_t from, size_t to) {
    TensorView x = view(from), y = view(to);
    auto call = resolve(
        device,
        {std::make_shared<Body>(makeBody(OpKind::Relu, {}, {true}, {true})),
         {&x, 1},
         {&y, 1}});
    EXPECT_TRUE(call.ok()) << call.status().toString();
    return std::move(*call);
  }
  std::vector<float> read(size_t slot) {
    std::vector<float> y(64);
    EXPECT_TRUE(
        device.copyToHost(stream, y.data(), buffer.at(256 * slot), 256).ok());
    return y;
  }
  static std::vector<float> expected() {
    std::vector<float> y(64);
    for (size_t i = 33; i < 64; ++i)
      y[i] = float(i) - 32;
    return y;
  }

  Device &device;
  Stream &stream;
  Buffer buffer;
};

TEST_P(StreamTest, CallsRunInTheirOrder) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  for (size_t i = 0; i < 5; ++i) {
    Status status = launch(relus.resolveCall(i, i + 1), *stream);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  ASSERT_TRUE(stream->synchronize().ok());
  ASSERT_TRUE(stream->synchronize().ok()) << "again";
  if (runsKernels()) {
    EXPECT_EQ(relus.read(5), Relus::expected());
  }
}

TEST_P(StreamTest, BranchesFollowTheirEvents) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  ASSERT_TRUE(stream->reserve(3, 4).ok());
  ASSERT_TRUE(stream->reserve(1, 0).ok()) << "never shrinks";
  for (int run = 0; run < 3; ++run) {
    ASSERT_TRUE(stream->fork().ok());
    ResolvedCall first = relus.resolveCall(0, 1),
                 left = relus.resolveCall(1, 2),
                 right = relus.resolveCall(1, 3),
                 last = relus.resolveCall(2, 4);
    first.signals = {0};
    left.stream = 1;
    left.waits = {0};
    left.signals = {1};
    right.stream = 2;
    right.waits = {0};
    right.signals = {2};
    last.waits = {1, 2};
    for (const ResolvedCall *call : {&first, &left, &right, &last}) {
      Status status = launch(*call, *stream);
      ASSERT_TRUE(status.ok()) << status.toString();
    }
  }
  ASSERT_TRUE(stream->synchronize().ok());
  if (runsKernels()) {
    EXPECT_EQ(relus.read(4), Relus::expected());
    EXPECT_EQ(relus.read(3), Relus::expected());
  }
}

TEST_P(StreamTest, TimedCallsAreDoneOnReturn) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  auto micros = stream->enqueueTimed(relus.resolveCall(0, 1));
  ASSERT_TRUE(micros.ok()) << micros.status().toString();
  EXPECT_GE(*micros, 0);
  if (runsKernels()) {
    EXPECT_EQ(relus.read(1), Relus::expected());
  }
}

TEST_P(StreamTest, AreIndependent) {
  auto a = makeStream(), b = makeStream();
  Relus first(*device, *a), second(*device, *b);
  ASSERT_TRUE(a->beginCapture().ok());
  EXPECT_FALSE(b->isCapturing());
  // Not waited for yet: CUDA lets a thread that captures wait for no stream.
  ASSERT_TRUE(launch(second.resolveCall(0, 1), *b).ok());
  ASSERT_TRUE(launch(first.resolveCall(0, 1), *a).ok());
  ASSERT_TRUE(a->endCapture().ok());
  ASSERT_TRUE(b->synchronize().ok());
  if (runsKernels()) {
    EXPECT_EQ(second.read(1), Relus::expected());
    EXPECT_EQ(first.read(1), std::vector<float>(64)) << "recorded, not run";
  }
}

TEST_P(StreamTest, ThreadsHaveTheirOwn) {
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      auto stream = makeStream();
      Relus relus(*device, *stream);
      for (int i = 0; i < 50; ++i)
        failures += !launch(relus.resolveCall(0, 1), *stream).ok();
      failures += !stream->synchronize().ok();
      failures += runsKernels() && relus.read(1) != Relus::expected();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures, 0);
}

TEST_P(CaptureTest, RecordsAndReplays) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_TRUE(stream->isCapturing());
  ASSERT_TRUE(launch(relus.resolveCall(0, 1), *stream).ok());
  ASSERT_TRUE(launch(relus.resolveCall(1, 2), *stream).ok());
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  EXPECT_FALSE(stream->isCapturing());
  EXPECT_EQ((*graph)->numCalls(), 2u);
  EXPECT_GE((*graph)->numNodes(), 2u);
  EXPECT_EQ(ReluArgs((*graph)->call(1).launchArgs()).x().start(),
            relus.view(1).start());
  if (runsKernels()) {
    EXPECT_EQ(relus.read(2), std::vector<float>(64)) << "recorded, not run";
  }
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(stream->launch(**graph).ok());
  StatusOr<LaunchTimes> times = stream->launchTimed(**graph);
  ASSERT_TRUE(times.ok()) << times.status().toString();
  EXPECT_GE(times->micros, 0);
  // Of every call or of none.
  EXPECT_TRUE(times->calls.empty() ||
              times->calls.size() == (*graph)->numCalls());
  if (runsKernels()) {
    EXPECT_EQ(relus.read(2), Relus::expected());
  }
  (*graph).reset();
  EXPECT_EQ(graph->get(), nullptr);
}

TEST_P(CaptureTest, ManyGraphsShareAStream) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  std::vector<std::unique_ptr<Graph>> graphs;
  for (size_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(stream->beginCapture().ok());
    ASSERT_TRUE(launch(relus.resolveCall(i, i + 1), *stream).ok());
    auto graph = stream->endCapture();
    ASSERT_TRUE(graph.ok()) << graph.status().toString();
    graphs.push_back(std::move(*graph));
  }
  for (auto &graph : graphs)
    ASSERT_TRUE(stream->launch(*graph).ok());
  graphs.erase(graphs.begin() + 1);
  for (auto &graph : graphs)
    ASSERT_TRUE(stream->launch(*graph).ok());
  if (runsKernels()) {
    EXPECT_EQ(relus.read(5), Relus::expected());
  }
}

/// Sums of random windows of one buffer, whose order matters as soon as windows
/// overlap; large enough for several threads.
TEST_P(CaptureTest, ManyCallsOnSharedMemoryGiveTheBitsOfARun) {
  constexpr uint64_t kWindow = 32768, kStep = 8192, kTotal = 16 * kWindow;
  std::mt19937 random(7);
  auto stream = makeStream();
  Buffer buffer(*device, 4 * kTotal);
  std::vector<float> start(kTotal);
  for (float &x : start)
    x = float(random() % 1000) / 997;
  auto upload = [&] {
    ASSERT_TRUE(
        device->copyToDevice(*stream, buffer.at(), start.data(), 4 * kTotal)
            .ok());
  };
  auto body =
      std::make_shared<Body>(makeBody(OpKind::Add, {}, {true, true}, {true}));
  for (int run = 0; run < 10; ++run) {
    std::vector<ResolvedCall> calls;
    auto window = [&] {
      uint64_t first = random() % ((kTotal - kWindow) / kStep + 1) * kStep;
      return TensorView{buffer.at(4 * first),
                        TensorDesc(DType::F32, {int64_t(kWindow)})};
    };
    while (calls.size() < 40) {
      TensorView ins[] = {window(), window()}, out = window();
      auto call = resolve(*device, {body, {ins, 2}, {&out, 1}});
      if (call.ok())
        calls.push_back(std::move(*call));
      else // the result is partly an operand
        ASSERT_EQ(call.status().code(), StatusCode::InvalidArgument)
            << call.status().toString();
    }
    upload();
    for (const ResolvedCall &call : calls)
      ASSERT_TRUE(launch(call, *stream).ok());
    auto expected = download(*device, *stream, buffer.at(), 4 * kTotal);
    upload();
    ASSERT_TRUE(stream->beginCapture().ok());
    for (const ResolvedCall &call : calls)
      ASSERT_TRUE(launch(call, *stream).ok());
    auto graph = stream->endCapture();
    ASSERT_TRUE(graph.ok()) << graph.status().toString();
    ASSERT_TRUE(stream->launch(**graph).ok());
    ASSERT_TRUE(download(*device, *stream, buffer.at(), 4 * kTotal) == expected)
        << "run " << run;
  }
}

TEST_P(CaptureTest, BranchesAreJoined) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  ASSERT_TRUE(stream->reserve(2, 2).ok());
  ASSERT_TRUE(stream->beginCapture().ok());
  ASSERT_TRUE(stream->fork().ok());
  ResolvedCall side = relus.resolveCall(0, 1), main = relus.resolveCall(0, 2),
               last = relus.resolveCall(1, 3);
  side.stream = 1;
  side.signals = {0};
  last.waits = {0};
  for (const ResolvedCall *call : {&side, &main, &last}) {
    Status status = launch(*call, *stream);
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  EXPECT_EQ((*graph)->numCalls(), 3u);
  ASSERT_TRUE(stream->launch(**graph).ok());
  if (runsKernels()) {
    EXPECT_EQ(relus.read(3), Relus::expected());
  }
}

TEST_P(ErrorTest, CaptureOutOfTurn) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  EXPECT_EQ(stream->endCapture().status().code(), StatusCode::FailedState);
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_EQ(stream->beginCapture().code(), StatusCode::FailedState);
  EXPECT_EQ(stream->synchronize().code(), StatusCode::FailedState);
  ASSERT_TRUE(launch(relus.resolveCall(0, 1), *stream).ok());
  auto graph = stream->endCapture();
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  EXPECT_EQ(stream->endCapture().status().code(), StatusCode::FailedState);
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_EQ(stream->launch(**graph).code(), StatusCode::FailedState);
  EXPECT_TRUE(stream->endCapture().ok()) << "the stream stays usable";
  EXPECT_TRUE(stream->launch(**graph).ok());
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(ErrorTest, WrongCallsAreRefusedBeforeTheyRun) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  TensorView x = relus.view(0), y = relus.view(1);
  auto code = [&](TensorView in, TensorView out,
                  std::string_view kid = "auto") {
    return opCall(*device, OpKind::Relu, {in}, {out}, 0, {}, *stream, kid)
        .code();
  };
  TensorView crooked(y.dense<char>() + 1, y.desc), nothing(nullptr, y.desc),
      wide(y.start(), TensorDesc(DType::F32, {65})),
      overlapping(x.dense<char>() + 4, x.desc),
      strided(x.start(), TensorDesc::strided(DType::F32, {32}, {2}));
  EXPECT_EQ(code(x, crooked), StatusCode::Misaligned);
  EXPECT_EQ(code(x, nothing), StatusCode::InvalidArgument);
  EXPECT_EQ(code(x, wide), StatusCode::ShapeMismatch);
  EXPECT_EQ(code(strided, {y.start(), TensorDesc(DType::F32, {32})}),
            StatusCode::NotImplemented);
  EXPECT_EQ(code(x, overlapping), StatusCode::InvalidArgument);
  EXPECT_EQ(code(x, y, "relu_f32_v99"), StatusCode::InvalidArgument);
  EXPECT_EQ(code(x, y), StatusCode::Ok);
  EXPECT_TRUE(stream->synchronize().ok());
}

/// What is wrong, and with which operand or result, before anything runs.
TEST_P(ErrorTest, MessagesOfCallsNameTheOperand) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  const TensorDesc empty(DType::F32, {0});
  TensorView x = relus.view(0), y = relus.view(1), nothing(nullptr, x.desc),
             shapeless(x.start(), empty),
             crooked(y.dense<char>() + 2, y.desc);
  auto relu =
      std::make_shared<Body>(makeBody(OpKind::Relu, {}, {true}, {true}));
  auto expect = [&](const CallRequest &request, StatusCode code,
                    std::string_view words) {
    Status status = resolve(*device, request).status();
    EXPECT_EQ(status.code(), code) << words;
    EXPECT_NE(status.message().find(words), std::string::npos)
        << status.message();
  };
  const StatusCode invalid = StatusCode::InvalidArgument;
  expect({nullptr, {&x, 1}, {&y, 1}}, invalid, "the call has no body");
  expect({std::make_shared<Body>(), {&x, 1}, {&y, 1}}, invalid,
         "the body has 0 primitives");
  expect({relu, {}, {&y, 1}}, invalid,
         "relu: got 0 operands and 1 results, expected 1 and 1");
  expect({relu, {&x, 1}, {}}, invalid,
         "relu: got 1 operands and 0 results, expected 1 and 1");
  expect({relu, {&nothing, 1}, {&y, 1}}, invalid,
         "relu: operand 0 (x) has a null pointer");
  expect({relu, {&x, 1}, {&nothing, 1}}, invalid,
         "relu: result 0 (y) has a null pointer");
  expect({relu, {&shapeless, 1}, {&y, 1}}, StatusCode::ShapeMismatch,
         "relu: operand 0 (x) has a rank above");
  expect({relu, {&x, 1}, {&shapeless, 1}}, StatusCode::ShapeMismatch,
         "relu: result 0 (y) has a rank above");
  expect({relu, {&crooked, 1}, {&x, 1}}, StatusCode::Misaligned,
         "relu: operand 0 (x) has address");
  expect({relu, {&x, 1}, {&crooked, 1}}, StatusCode::Misaligned,
         "relu: result 0 (y) has address");
  auto copy = resolve(
      *device,
      {std::make_shared<Body>(makeBody(OpKind::Copy, {}, {true}, {true})),
       {&x, 1},
       {&y, 1}});
  ASSERT_TRUE(copy.ok()) << copy.status().toString();
  expect({relu, {&x, 1}, {&y, 1}, copy->row->kid}, invalid,
         "is not a kernel for these operands on");
  expect({relu, {&x, 1}, {&y, 1}, "relu_f32_v99"}, invalid,
         "relu: kid \"relu_f32_v99\" is unknown on");
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(ErrorTest, WorkspacesLieApart) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  TensorView x = relus.view(0), y = relus.view(1), free = relus.view(2);
  auto relu =
      std::make_shared<Body>(makeBody(OpKind::Relu, {}, {true}, {true}));
  auto code = [&](TensorView workspace) {
    return resolve(*device, {relu, {&x, 1}, {&y, 1}, "auto", workspace})
        .status()
        .code();
  };
  const TensorDesc empty(DType::F32, {0});
  EXPECT_EQ(code(free), StatusCode::Ok);
  EXPECT_EQ(code({nullptr, empty}), StatusCode::Ok) << "there is none";
  EXPECT_EQ(code({free.start(), empty}), StatusCode::Misaligned);
  EXPECT_EQ(code({free.dense<char>() + 4, TensorDesc(DType::F32, {4})}),
            StatusCode::Misaligned);
  EXPECT_EQ(code(x), StatusCode::InvalidArgument);
  EXPECT_EQ(code(y), StatusCode::InvalidArgument);
  EXPECT_TRUE(stream->synchronize().ok());
}

/// Results may lie where a tied operand does, with the same layout, and not
/// where another result does.
TEST_P(ErrorTest, ResultsLieApart) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  auto message = [&](OpKind kind, std::vector<uint8_t> attrs,
                     std::vector<TensorView> ins,
                     std::vector<TensorView> outs) {
    return opCall(*device, kind, ins, outs, infoOf(kind).schema, attrs, *stream)
        .message();
  };
  TensorView lr(relus.buffer.at(7 * 256), TensorDesc(DType::F32, {})), none;
  auto sgd = encodeAttrs(SgdStepAttrs{0.5, 0, 0});
  std::vector<TensorView> ins = {relus.view(0), relus.view(1), lr,
                                 relus.view(2), none,          none};
  EXPECT_EQ(message(OpKind::SgdStep, sgd, ins, {relus.view(0), relus.view(2)}),
            "");
  EXPECT_EQ(message(OpKind::SgdStep, sgd, ins, {relus.view(4), relus.view(4)}),
            "sgd_step: result 1 (m_out) shares memory with result 0");
  const TensorDesc square(DType::F32, {8, 8});
  TensorView a(relus.buffer.at(), square), b(relus.buffer.at(256), square);
  EXPECT_EQ(message(OpKind::Gemm, encodeAttrs(GemmAttrs{0, 0}), {a, b}, {a}),
            "gemm: result 0 (c) shares memory with operand 0, where the op may "
            "not work in place");
  TensorView dense(relus.buffer.at(), TensorDesc(DType::F16, {8, 8})),
      padded = dense;
  padded.desc.layout = Layout::Padded;
  EXPECT_EQ(message(OpKind::Relu, {}, {padded}, {padded}), "");
  EXPECT_EQ(message(OpKind::Relu, {}, {padded}, {dense}),
            "relu: result 0 (y) shares memory with operand 0, where the op may "
            "not work in place");
  EXPECT_TRUE(stream->synchronize().ok());
}

/// One that is absent has no memory; what stands in its type is nobody's.
TEST_P(ErrorTest, AbsentOperandsHaveNoType) {
  auto stream = makeStream();
  Relus relus(*device, *stream);
  const TensorDesc empty(DType::F32, {0});
  TensorView x = relus.view(0), y = relus.view(1), none(nullptr, empty),
             lr(relus.buffer.at(7 * 256), TensorDesc(DType::F32, {}));
  Status status =
      opCall(*device, OpKind::SgdStep, std::vector{x, y, lr, none, none, none},
             std::vector{x, none}, infoOf(OpKind::SgdStep).schema,
             encodeAttrs(SgdStepAttrs{0, 0, 0}), *stream);
  EXPECT_TRUE(status.ok()) << status.toString();
  TensorView shapeless(x.start(), empty);
  status = opCall(*device, OpKind::Relu, {shapeless}, {y}, 0, {}, *stream);
  EXPECT_EQ(status.code(), StatusCode::ShapeMismatch);
  EXPECT_NE(status.message().find("relu: an operand or result has a rank"),
            std::string::npos)
      << status.message();
  status = opCall(*device, OpKind(4095), {x}, {y}, 0, {}, *stream);
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(ErrorTest, DescribesItself) {
  EXPECT_FALSE(device->description().empty());
  EXPECT_GE(device->numThreads(), 1);
  if (device->freeBytes() > 0) {
    EXPECT_GT(device->freeBytes(), uint64_t(1) << 20);
  }
}

AICF_INSTANTIATE_FOR_DEVICES(MemoryTest);
AICF_INSTANTIATE_FOR_DEVICES(CopyTest);
AICF_INSTANTIATE_FOR_DEVICES(StreamTest);
AICF_INSTANTIATE_FOR_DEVICES(CaptureTest);
AICF_INSTANTIATE_FOR_DEVICES(ErrorTest);

/// What --device takes.
TEST(DeviceName, Parses) {
  auto is = [](std::string_view name, DeviceKind kind, int ordinal) {
    auto parsed = parseDeviceName(name);
    return parsed.ok() && parsed->kind == kind && parsed->ordinal == ordinal;
  };
  EXPECT_TRUE(is("cpu", DeviceKind::CPU, 0));
  EXPECT_TRUE(is("cuda", DeviceKind::CUDA, 0));
  EXPECT_TRUE(is("cuda:0", DeviceKind::CUDA, 0));
  EXPECT_TRUE(is("cuda:17", DeviceKind::CUDA, 17));
  for (const char *name :
       {"", ":", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:1x",
        "cuda:99999999999", "cuda 1", "tpu", "tpu:0"}) {
    Status status = parseDeviceName(name).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << name;
    EXPECT_NE(status.message().find("expected cpu, cuda or cuda:N"),
              std::string::npos)
        << status.message();
  }
}

} // namespace
