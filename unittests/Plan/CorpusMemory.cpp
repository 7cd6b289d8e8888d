//===- CorpusMemory.cpp - wrong buffers and values ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Plan/CorpusBuilder.h"
#include "unittests/Plan/FlatPlans.h"

#include <cmath>
#include <limits>

namespace aicf::test {

void CorpusBuilder::addNames() {
  auto first = [](Plan &p) -> PlanBuffer & { return p.buffers[0]; };
  add(PlanError::BufferName, "empty", [=](Plan &p) { first(p).name = ""; });
  add(PlanError::BufferName, "twice", [=](Plan &p) { first(p).name = "b"; });
  add(PlanError::BufferName, "reserved",
      [=](Plan &p) { first(p).name = "__metadata__"; });
  add(PlanError::BufferName, "not-utf8",
      [=](Plan &p) { first(p).name = "w\xff"; });
  const std::pair<const char *, const char *> malformed[] = {
      {"surrogate", "\xed\xa0\x80"},
      {"overlong-2", "\xc0\xaf"},
      {"overlong-3", "\xe0\x80\xaf"},
      {"overlong-4", "\xf0\x80\x80\xaf"},
      {"above", "\xf4\x90\x80\x80"},
      {"control", "\xc2\x9b"},
      {"cut", "w\xe2\x82"},
      {"no-continuation", "\xe2\x82w"},
      {"delete", "\x7f"},
      {"newline", "a\nb"},
      {"five-bytes", "\xf8\x88\x80\x80\x80"}};
  for (auto [what, name] : malformed)
    add(PlanError::BufferName, what,
        [=, text = std::string(name)](Plan &p) { first(p).name = text; });
  add(PlanError::BufferName, "too-long",
      [=](Plan &p) { first(p).name = std::string(1025, 'w'); });
  add(PlanError::BufferName, "like-qualified",
      [=](Plan &p) { first(p).name = "train/x"; });
  add(PlanError::BufferName, "io-like-qualified",
      [](Plan &p) { p.entries[1].buffers[0].name = "train/x"; });
  add(
      PlanError::BufferName, "qualified-twice",
      [](Plan &p) {
        p.entries[0].buffers[0].name = "a/c"; // of "train", and of "train/a"
        p.entries[1].name = "train/a";
        p.entries[1].buffers[1].name = "c";
      },
      "\"train/a/c\" would name two buffers");
  add(
      PlanError::BufferName, "temp-like-qualified",
      [](Plan &p) { p.entries[1].buffers.back().name = "train/x"; },
      "\"train/x\" would name two buffers");
  add(
      PlanError::BufferName, "twice-in-an-entry",
      [](Plan &p) { p.entries[0].buffers[0].name = "t"; }, "is used twice");
  add(PlanError::BufferName, "io-unnamed",
      [](Plan &p) { p.entries[0].buffers[0].name = ""; });
  add(PlanError::BufferName, "io-like-param",
      [](Plan &p) { p.entries[0].buffers[0].name = "W"; });
}

void CorpusBuilder::addTypes() {
  auto first = [](Plan &p) -> PlanBuffer & { return p.buffers[0]; };
  auto firstDesc = [](Plan &p) -> TensorDesc & { return p.values[0].desc; };
  add(PlanError::ValueDType, "number",
      [=](Plan &p) { firstDesc(p).dtype = static_cast<DType>(77); });
  add(PlanError::BufferRole, "number",
      [=](Plan &p) { first(p).role = static_cast<Role>(99); });
  add(PlanError::BufferRole, "temp-as-persistent",
      [=](Plan &p) { first(p).role = Role::Temp; });
  add(
      PlanError::BufferRole, "param-in-entry",
      [](Plan &p) { p.entries[0].buffers[0].role = Role::Param; },
      "belongs in the plan's persistent table");
  add(PlanError::ValueShape, "zero",
      [=](Plan &p) { firstDesc(p).dims[0] = 0; });
  add(PlanError::ValueShape, "huge", [=](Plan &p) {
    firstDesc(p).dims[0] = firstDesc(p).dims[1] = INT32_MAX;
  });
  add(PlanError::ValueShape, "above-int",
      [=](Plan &p) { firstDesc(p).dims[0] = int64_t(INT32_MAX) + 1; });
  const std::pair<const char *, size_t> halves[] = {{"half-a-stride", 3},
                                                    {"nine-strides", 18}};
  for (auto [what, count] : halves)
    addBytes(PlanError::ValueLayout, what,
             build([count = count](FlatBufferBuilder &b) {
               auto shape = b.CreateVector(std::vector<uint32_t>{2, 3});
               auto strides = b.CreateVector(std::vector<uint32_t>(count, 1));
               std::vector<flatbuffers::Offset<fb::Value>> values = {
                   fb::CreateValue(b, 0, 0, 0, shape, 0, strides)};
               PlanFields plan = PlanFields::empty(b);
               plan.values = b.CreateVector(values);
               return plan.create(b);
             }),
             "halves, expected an even number up to 16");
  addBytes(PlanError::ValueShape, "rank-9", build([](FlatBufferBuilder &b) {
             std::vector<flatbuffers::Offset<fb::Value>> values = {
                 fb::CreateValue(b, 0, 0, 0,
                                 b.CreateVector(std::vector<uint32_t>(9, 1)))};
             PlanFields plan = PlanFields::empty(b);
             plan.values = b.CreateVector(values);
             return plan.create(b);
           }));
  add(PlanError::BufferOffset, "unaligned",
      [=](Plan &p) { first(p).offset = 4; });
  add(PlanError::BufferOffset, "unaligned-io",
      [](Plan &p) { p.entries[0].buffers[0].offset = 4; });
  add(PlanError::BufferRange, "empty",
      [](Plan &p) { p.entries[0].buffers[3].bytes = 0; });
  add(PlanError::BufferRange, "beyond",
      [=](Plan &p) { first(p).offset = p.persistentBytes; });
  add(PlanError::BufferRange, "overflow", [=](Plan &p) {
    first(p).offset = std::numeric_limits<uint64_t>::max() - 255;
    first(p).bytes = 512;
  });
}

void CorpusBuilder::addLayouts() {
  auto firstDesc = [](Plan &p) -> TensorDesc & { return p.values[0].desc; };
  add(PlanError::ValueLayout, "number",
      [=](Plan &p) { firstDesc(p).layout = static_cast<Layout>(3); });
  add(PlanError::ValueLayout, "strided",
      [=](Plan &p) { firstDesc(p).layout = Layout::Strided; });
  add(PlanError::ValueLayout, "strided-temp",
      [](Plan &p) { p.entries[0].values[3].desc.layout = Layout::Strided; });
  add(PlanError::ValueLayout, "param", [=](Plan &p) {
    firstDesc(p).dtype = DType::BF16;
    firstDesc(p).layout = Layout::Padded;
  });
  add(PlanError::ValueLayout, "input", [](Plan &p) {
    p.entries[0].values[0].desc.dtype = DType::F16;
    p.entries[0].values[0].desc.layout = Layout::Padded;
  });
  auto pad = [](DType dtype, Span<const int64_t> shape) {
    return
        [=, dims = std::vector<int64_t>(shape.begin(), shape.end())](Plan &p) {
          for (PlanValue &v : p.entries[0].values)
            if (p.buffer(p.entries[0], v.buffer).role == Role::Temp) {
              v.desc = TensorDesc(dtype, dims);
              v.desc.layout = Layout::Padded;
            }
        };
  };
  add(PlanError::ValueLayout, "f32", pad(DType::F32, {3, 5}));
  add(PlanError::ValueLayout, "rank-3", pad(DType::F16, {2, 3, 5}));
  add(PlanError::ValueLayout, "scalar", pad(DType::F16, {}));
  add(PlanError::ValueShape, "padded-above-int",
      pad(DType::F16, {1, INT32_MAX}));
}

void CorpusBuilder::addInitializers() {
  auto first = [](Plan &p) -> PlanBuffer & { return p.buffers[0]; };
  auto firstDesc = [](Plan &p) -> TensorDesc & { return p.values[0].desc; };
  add(PlanError::BufferInit, "number",
      [=](Plan &p) { first(p).init = static_cast<InitKind>(50); });
  add(PlanError::BufferInit, "of-hyper",
      [](Plan &p) { p.buffers[5].init = InitKind::Ones; });
  add(PlanError::BufferInit, "of-temp",
      [](Plan &p) { p.entries[0].buffers[3].init = InitKind::Ones; });
  add(PlanError::BufferInit, "of-input",
      [](Plan &p) { p.entries[0].buffers[0].init = InitKind::Ones; });
  add(PlanError::BufferInit, "fan-in-of-vector",
      [](Plan &p) { p.buffers[1].init = InitKind::UniformFanIn; });
  add(PlanError::BufferInit, "normal-of-integer",
      [](Plan &p) { p.buffers[4].init = InitKind::Normal; });
  add(PlanError::BufferInit, "fan-in-of-integer",
      [=](Plan &p) { firstDesc(p).dtype = DType::I32; });
  add(PlanError::BufferInit, "negative-deviation", [=](Plan &p) {
    first(p).init = InitKind::Normal;
    first(p).initValue = -0.5;
  });
  add(PlanError::BufferInit, "fraction-of-integer", [](Plan &p) {
    p.buffers[4].init = InitKind::Constant;
    p.buffers[4].initValue = 1.5;
  });
  add(PlanError::BufferInit, "too-large-integer", [](Plan &p) {
    p.buffers[4].init = InitKind::Constant;
    p.buffers[4].initValue = 1e12;
  });
  add(PlanError::BufferInit, "too-large-half", [=](Plan &p) {
    TensorDesc half = firstDesc(p);
    half.dtype = DType::F16;
    retype(first(p), p.values[0], half);
    first(p).init = InitKind::Constant;
    first(p).initValue = 70000;
  });
  add(PlanError::BufferInit, "nan", [=](Plan &p) {
    first(p).init = InitKind::Constant;
    first(p).initValue = NAN;
  });
}

void CorpusBuilder::addDerived() {
  // Tensor 2 is the moment of W (tensor 0); lr is a hyper.
  auto derive = [](Plan &p, int32_t from, DType dtype) {
    p.buffers[2].derivedFrom = from;
    TensorDesc desc = p.values[2].desc;
    desc.dtype = dtype;
    retype(p.buffers[2], p.values[2], desc);
  };
  add(
      PlanError::BufferDerived, "nothing",
      [=](Plan &p) { derive(p, 99, DType::F16); }, "no such persistent buffer");
  add(
      PlanError::BufferDerived, "negative",
      [=](Plan &p) { derive(p, -2, DType::F16); }, "no such persistent buffer");
  const char *other = "the same shape and another float type";
  add(
      PlanError::BufferDerived, "same-type",
      [=](Plan &p) { derive(p, 0, DType::F32); }, other);
  add(
      PlanError::BufferDerived, "integer",
      [=](Plan &p) { derive(p, 0, DType::I32); }, other);
  add(
      PlanError::BufferDerived, "of-integer",
      [=](Plan &p) {
        derive(p, 4, DType::F16);
        retype(p.buffers[2], p.values[2], TensorDesc(DType::F16, {}));
      },
      other);
  add(
      PlanError::BufferDerived, "other-shape",
      [=](Plan &p) { derive(p, 1, DType::F16); }, other);
  add(
      PlanError::BufferDerived, "itself",
      [=](Plan &p) { derive(p, 2, DType::F16); }, "derived itself");
  add(
      PlanError::BufferDerived, "hyper",
      [=](Plan &p) {
        derive(p, 5, DType::F16);
        retype(p.buffers[2], p.values[2], TensorDesc(DType::F16, {}));
      },
      "derived from a param or state");
  const std::tuple<const char *, Layout, bool> stale[] = {
      {"stale", Layout::Dense, false},
      {"stale-padded", Layout::Padded, false}, // both layouts are legal
      {"stale-read", Layout::Dense, true},
      {"stale-part", Layout::Dense, false}}; // its cast is in another part
  for (auto [what, layout, isRead] : stale)
    add(
        PlanError::BufferDerived, what,
        [layout = layout, isRead = isRead,
         isInPart = std::string_view(what) == "stale-part"](Plan &p) {
          // predict never writes; train writes W, and nothing its copy.
          PlanBuffer copy = p.buffers[0];
          TensorDesc desc = p.values[0].desc;
          copy.name = "W.f16";
          copy.role = Role::State;
          desc.dtype = DType::F16;
          copy.init = InitKind::None;
          copy.derivedFrom = 0;
          desc.layout = layout;
          p.buffers[5] = copy; // in place of lr, which no check needs before
          p.buffers[5].offset = 4096;
          retype(p.buffers[5], p.values[5], desc);
          p.persistentBytes = 1 << 16;
          for (PlanEntry &entry : p.entries)
            entry.calls.erase(
                std::remove_if(entry.calls.begin(), entry.calls.end(),
                               [](const PlanCall &c) {
                                 return c.body->isOnly(OpKind::SgdStep);
                               }),
                entry.calls.end());
          PlanCall write = p.entries[0].calls[4]; // dW, straight into W
          write.outs = {0};
          p.entries[0].calls.push_back(write);
          if (isRead)
            p.entries[0].calls.push_back(
                makeCall(OpKind::Cast, "cast_f16_f32_v0", {5}, {11}));
          if (!isInPart)
            return;
          p.entries[0].parts = {{uint32_t(p.entries[0].calls.size()), 1},
                                {1, 1}};
          p.entries[0].calls.push_back(
              makeCall(OpKind::Cast, "cast_f32_f16_v0", {0}, {5}));
        },
        "which is derived from it");
  add(
      PlanError::BufferDerived, "param",
      [](Plan &p) {
        TensorDesc half = p.values[0].desc;
        half.dtype = DType::F16;
        retype(p.buffers[0], p.values[0], half);
        p.buffers[0].derivedFrom = 2;
      },
      "a state is derived");
  add(PlanError::BufferDerived, "io",
      [](Plan &p) { p.entries[0].buffers[0].derivedFrom = 0; });
}

void CorpusBuilder::addConstants() {
  auto change = [this](PlanError expected, const char *what,
                       const std::function<void(Plan &)> &change,
                       const char *text) {
    Plan plan = makeConstantsPlan();
    change(plan);
    addBytes(expected, what, plan.serialize(), text);
  };
  auto dataOf = [](Plan &p, size_t i) -> std::vector<uint8_t> & {
    return p.buffers[i].data.bytes;
  };
  change(
      PlanError::BufferData, "none", [=](Plan &p) { dataOf(p, 0).clear(); },
      "data has 0 bytes for 2x3xf32 of role constant, expected 24");
  change(
      PlanError::BufferData, "long",
      [=](Plan &p) { dataOf(p, 0).push_back(0); }, "data has 25 bytes");
  change(
      PlanError::BufferData, "of-state",
      [=](Plan &p) { dataOf(p, 2) = {0, 0, 0, 0, 0}; },
      "of role state, expected 0");
  change(
      PlanError::BufferData, "of-input",
      [](Plan &p) {
        p.entries[0].buffers[0].data.bytes.resize(24);
      },
      "a buffer of role input has data of 24 bytes");
  change(
      PlanError::BufferData, "of-bits", [=](Plan &p) { dataOf(p, 1)[3] = 2; },
      "element 3 of 5xi1 is the byte 2, expected 0 or 1");
  change(
      PlanError::BufferData, "large",
      [=](Plan &p) {
        p.persistentBytes = 8 << 20;
        p.buffers[1].offset = 4 << 20;
        retype(p.buffers[1], p.values[1],
               TensorDesc(DType::I1, {int64_t(kMaxConstantBytes) + 1}));
        dataOf(p, 1).resize(kMaxConstantBytes + 1);
      },
      "and at most 1048576");
  change(
      PlanError::BufferData, "many",
      [=](Plan &p) {
        for (uint64_t i = 0; i <= kMaxConstantsBytes / kMaxConstantBytes; ++i) {
          SampleTensor more = makeTensor(
              "more" + std::to_string(i), Role::Constant,
              TensorDesc(DType::I32, {int64_t(kMaxConstantBytes) / 4}),
              (i + 1) * kMaxConstantBytes);
          more.buffer.data.bytes.resize(kMaxConstantBytes);
          more.buffer.data.bytes[0] = i % 9; // equal ones are one in the file
          more.value.buffer = uint32_t(p.buffers.size());
          p.buffers.push_back(more.buffer);
          p.values.push_back(more.value);
        }
        p.persistentBytes = kMaxConstantsBytes + 2 * kMaxConstantBytes;
      },
      "the constants up to here have 67108893 bytes, the limit is 67108864");
  change(
      PlanError::BufferInit, "of-constant",
      [](Plan &p) { p.buffers[0].init = InitKind::Ones; },
      "role constant has initialiser");
  change(
      PlanError::BufferInit, "of-bits",
      [](Plan &p) {
        p.buffers[2].init = InitKind::Constant;
        p.buffers[2].initValue = 2;
      },
      "init_value is 2 for constant of 5xi1");
  change(
      PlanError::CallWrites, "constant",
      [](Plan &p) { p.entries[0].calls[2].outs = {1}; }, "of role constant");
  change(
      PlanError::BufferRole, "constant-in-entry",
      [](Plan &p) { p.entries[0].buffers[0].role = Role::Constant; },
      "belongs in the plan's persistent table");
  change(
      PlanError::BufferDerived, "of-constant",
      [](Plan &p) {
        TensorDesc half(DType::F16, {2, 3});
        retype(p.buffers[2], p.values[2], half);
        p.buffers[2].init = InitKind::None;
        p.buffers[2].derivedFrom = 0;
      },
      "derived from a param or state");
}

/// Two values in the buffer of the temp y (number 9) of makeTrainPlan(), at
/// these bytes; returns the first one's number.
static uint32_t addParts(Plan &p, uint64_t first, uint64_t second,
                         TensorDesc desc) {
  PlanEntry &e = p.entries[0];
  auto number = uint32_t(p.values.size() + e.values.size());
  e.values.push_back({9, first, desc});
  e.values.push_back({9, second, desc});
  return number;
}

void CorpusBuilder::addValues() {
  const TensorDesc row(DType::F32, {3});
  add(PlanError::ValueBuffer, "number",
      [](Plan &p) { p.entries[0].values[4].buffer = 99; });
  add(
      PlanError::ValueBuffer, "workspace",
      [](Plan &p) { p.entries[0].buffers[3].role = Role::Workspace; },
      "is a workspace");
  add(PlanError::BufferRole, "io-behind-temps", [](Plan &p) {
    addTensor(p, p.entries[0],
              makeTensor("late", Role::Input, TensorDesc(DType::F32, {1}), 0));
  });
  add(
      PlanError::ValueWhole, "persistent-count",
      [](Plan &p) { p.values.pop_back(); }, "5 values for 6 buffers");
  add(PlanError::ValueWhole, "of-another-buffer",
      [](Plan &p) { p.values[0].buffer = 2; });
  add(PlanError::ValueWhole, "io-count",
      [](Plan &p) { p.entries[1].values.pop_back(); });
  add(PlanError::ValueWhole, "part",
      [](Plan &p) { p.entries[0].values[0].desc.dims[0] = 1; });
  add(PlanError::ValueRange, "beyond",
      [](Plan &p) { p.entries[0].values[4].byteOffset = 4; });
  add(PlanError::ValueRange, "overflow",
      [](Plan &p) { p.entries[0].values[4].byteOffset = UINT64_MAX - 3; });
  add(PlanError::ValueRange, "half-an-element",
      [=](Plan &p) { addParts(p, 2, 0, row); });
  add(PlanError::ValueOverlaps, "many", [](Plan &p) {
    p.entries[0].tempBytes = p.entries[0].buffers[3].bytes = 1 << 20;
    for (int64_t n = 1; n < 5000; ++n)
      p.entries[0].values.push_back({9, 0, TensorDesc(DType::F32, {n})});
  });
  add(
      PlanError::ReadBeforeWrite, "half-written",
      [=](Plan &p) { // the first row of y alone, which a later call reads
        uint32_t part = addParts(p, 0, 12, row);
        p.entries[0].calls[0] =
            makeCall(OpKind::Relu, "relu_f32_v0", {1}, {part});
      },
      "reads value 9");
  add(
      PlanError::CallInplace, "part-of-an-operand",
      [=](Plan &p) {
        uint32_t part = addParts(p, 0, 12, row);
        p.entries[0].calls.insert(p.entries[0].calls.begin() + 1,
                                  makeCall(OpKind::ReduceSum,
                                           "reduce_sum_f32_v0", {9}, {part},
                                           encodeAttrs(ReduceSumAttrs{0})));
      },
      "share bytes");
  add(PlanError::CallWrites, "overlapping-results", [](Plan &p) {
    PlanEntry &e = p.entries[0];
    e.buffers[3].bytes = 64;
    uint32_t part = addParts(p, 0, 16, TensorDesc(DType::F32, {3, 4}));
    e.calls[7].outs = {part, part + 1};
  });
  add(PlanError::CallAlignment, "vectors", [](Plan &p) {
    p = withKernelsOf(makeTwoStreamPlan(), DeviceKind::CUDA);
    PlanEntry &e = p.entries[0]; // relu_f32_vec4_v0 on a temp, 4 bytes in
    e.buffers[2].bytes = 36;
    e.values[2].byteOffset = 4;
  });
}

void CorpusBuilder::addSegments() {
  add(PlanError::SegmentBytes, "persistent",
      [](Plan &p) { p.persistentBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentBytes, "temp",
      [](Plan &p) { p.entries[0].tempBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentBytes, "io",
      [](Plan &p) { p.entries[0].ioBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentOverlap, "persistent",
      [](Plan &p) { p.buffers[1].offset = 0; });
  add(PlanError::SegmentOverlap, "io",
      [](Plan &p) { p.entries[0].buffers[2].offset = 0; });
}

} // namespace aicf::test
