//===- FileFormatsTest.cpp - weights and arrays, strictly -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Checkpoint.h"
#include "lib/Base/Element.h"
#include "lib/Base/File.h"
#include "lib/Runtime/IO/Npy.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace aicf;
using namespace aicf::test;
namespace fs = std::filesystem;

namespace {

std::vector<uint8_t> safetensors(const std::string &header, size_t dataBytes) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 8; ++i)
    bytes.push_back(uint8_t(uint64_t(header.size()) >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.resize(bytes.size() + dataBytes);
  return bytes;
}

/// The last byte is another.
std::vector<uint8_t> withByte(std::vector<uint8_t> bytes, uint8_t last) {
  bytes.back() = last;
  return bytes;
}

TEST(Safetensors, RoundTrips) {
  std::map<std::string, HostTensor> tensors;
  tensors["a \"quoted\" name"] = {TensorDesc(DType::F32, {2}),
                                  {1, 2, 3, 4, 5, 6, 7, 8}};
  tensors["scalar"] = {TensorDesc(DType::I64, {}), {9, 0, 0, 0, 0, 0, 0, 0}};
  tensors["half"] = {TensorDesc(DType::BF16, {1, 3}), {1, 2, 3, 4, 5, 6}};
  tensors["bits"] = {TensorDesc(DType::I1, {3}), {1, 0, 1}};
  auto parsed = parseSafetensors(*serializeSafetensors(tensors));
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  ASSERT_EQ(parsed->size(), 4u);
  for (auto &[name, tensor] : tensors) {
    EXPECT_EQ((*parsed)[name].desc, tensor.desc);
    EXPECT_EQ((*parsed)[name].bytes, tensor.bytes);
  }
}

TEST(Safetensors, HoldsTextsBesideTheTensors) {
  std::map<std::string, HostTensor> tensors;
  tensors["a"] = {TensorDesc(DType::I32, {}), {1, 0, 0, 0}};
  FileMetadata written = {{"run", "{\"epoch\": 3}"}, {"note", "\xc3\xa9"}},
               read;
  auto bytes = serializeSafetensors(tensors, written);
  ASSERT_TRUE(bytes.ok()) << bytes.status().toString();
  ASSERT_EQ(parseSafetensors(*bytes, &read)->size(), 1u);
  EXPECT_EQ(read, written);
  EXPECT_EQ(parseSafetensors(*bytes)->size(), 1u) << "nobody has to ask";
  EXPECT_EQ(serializeSafetensors(tensors, {{"a", "\xff"}}).status().code(),
            StatusCode::InvalidArgument);
  auto strange = safetensors(R"({"__metadata__":{"k":[1],"s":"t"}})", 0);
  ASSERT_TRUE(parseSafetensors(strange, &read).ok());
  EXPECT_EQ(read, (FileMetadata{{"s", "t"}})) << "what is not text is left out";
  strange = safetensors(R"({"__metadata__":["t"]})", 0);
  ASSERT_TRUE(parseSafetensors(strange, &read).ok());
  EXPECT_EQ(read, FileMetadata()) << "a list has no names";
  bytes = serializeSafetensors(tensors);
  EXPECT_EQ(std::string(bytes->begin(), bytes->end()).find("__metadata__"),
            std::string::npos)
      << "no texts, no key";
}

/// A quadratic parser takes hours for these.
TEST(Safetensors, ReadsHeadersOfManyTensors) {
  const size_t many = 200000;
  std::string header = "{", separator;
  for (size_t i = 0; i < many; ++i, separator = ",")
    header += separator + "\"t" + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" +
              std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]}";
  auto tensors = parseSafetensors(safetensors(header + "}", 4 * many));
  ASSERT_TRUE(tensors.ok()) << tensors.status().toString();
  EXPECT_EQ(tensors->size(), many);
}

TEST(Safetensors, RefusesMalformedFiles) {
  const std::string a =
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  ASSERT_TRUE(parseSafetensors(safetensors("{" + a + "}", 8)).ok());
  ASSERT_TRUE(parseSafetensors(
                  safetensors(R"({"__metadata__":{"k":"v"},)" + a + "}", 8))
                  .ok());
  const std::pair<std::vector<uint8_t>, const char *> cases[] = {
      {{1, 2, 3}, "expected 8 or more"},
      {{255, 255, 255, 255, 255, 255, 255, 255, 0}, "does not fit"},
      {safetensors("[]", 0), "JSON object"},
      {safetensors("{", 0), "JSON object"},
      {safetensors(std::string(5000, '['), 0), "JSON object"},
      {safetensors("{" + a + "," + a + "}", 8), "twice"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2]}})", 8), "exactly"},
      {safetensors(R"({"a":3})", 8), "exactly"},
      {safetensors(R"({"a":[1,2,3]})", 8), "exactly"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})",
           8),
       "exactly"},
      {safetensors(
           R"({"a":{"b":{"c":{"d":{"e":{"f":{"g":{"h":{"i":{}}}}}}}}}})", 0),
       "JSON object"},
      {safetensors(R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
                   8),
       "not an array"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})",
           4),
       "not an array of up to"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2147483648],"data_offsets":[0,8]}})",
           8),
       "dimension"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":{"0":0,"1":8}}})",
           8),
       "outside"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,9]}})", 8),
       "outside"},
      {safetensors(R"({"a":{"dtype":"F8","shape":[2],"data_offsets":[0,8]}})",
                   8),
       "unknown dtype"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                   0),
       "dimension"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
                   8),
       "dimension"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,8]}})", 8),
       "dimension"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[1073741824,1073741824,4],"data_offsets":[0,0]}})",
           0),
       "too many elements"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0.0,8]}})", 8),
       "outside"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,"8"]}})", 8),
       "outside"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,99]}})",
                   8),
       "outside"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
                   8),
       "outside"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
                   8),
       "data_offsets hold 8"},
      {safetensors("{" + a + "}", 9), "the last 1 bytes"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                   12),
       "belong to no tensor"},
      {safetensors(
           "{" + a +
               R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
           12),
       "belong to two tensors"},
      {withByte(safetensors(
                    R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})",
                    3),
                2),
       "element 2 of \"a\" is the byte 2, expected 0 or 1"},
  };
  for (const auto &[bytes, message] : cases) {
    Status status = parseSafetensors(bytes).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidFile) << message;
    EXPECT_NE(status.message().find(message), std::string::npos)
        << status.message() << " does not say: " << message;
  }
}

TEST(Npy, RoundTrips) {
  for (DType dtype : {DType::F32, DType::F64, DType::F16, DType::I32,
                      DType::I64, DType::I1})
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {1}, {5}, {2, 3}, {1, 2, 3, 4}}) {
      TensorDesc desc(dtype, shape);
      std::vector<uint8_t> data(desc.spanBytes(), 1);
      auto bytes = serializeNpy(desc, data);
      ASSERT_TRUE(bytes.ok());
      EXPECT_EQ((bytes->size() - data.size()) % 64, 0u);
      auto parsed = parseNpy(*bytes);
      ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
      EXPECT_EQ(parsed->desc, desc);
      EXPECT_EQ(parsed->bytes, data);
    }
  EXPECT_EQ(serializeNpy(TensorDesc(DType::BF16, {1}), {}).status().code(),
            StatusCode::NotImplemented);
}

std::vector<uint8_t> npy(const std::string &header, size_t dataBytes,
                         uint8_t major = 1) {
  std::string text = std::string("\x93NUMPY") + char(major) + '\0';
  text += char(header.size());
  text += char(header.size() >> 8);
  if (major == 2) {
    text += char(header.size() >> 16);
    text += char(header.size() >> 24);
  }
  text += header;
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.resize(bytes.size() + dataBytes);
  return bytes;
}

TEST(Npy, RefusesMalformedFiles) {
  const std::string good =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  ASSERT_TRUE(parseNpy(npy(good, 8)).ok());
  ASSERT_TRUE(parseNpy(npy(good, 8, 2)).ok());
  ASSERT_TRUE(parseNpy(npy(good + std::string(70000, ' '), 8, 2)).ok());
  ASSERT_TRUE(parseNpy(npy("{'shape':(2,),'fortran_order':False,"
                           "'descr':\"<f4\"}",
                           8))
                  .ok());
  auto with = [&](const char *from, const char *to) {
    std::string header = good;
    header.replace(header.find(from), std::string(from).size(), to);
    return npy(header, 8);
  };
  const std::pair<std::vector<uint8_t>, const char *> cases[] = {
      {{'x'}, "magic"},
      {{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 1, 0}, "magic"},
      {[&] {
         std::vector<uint8_t> bytes = npy(good, 8);
         bytes[1] = 'X';
         return bytes;
       }(),
       "magic"},
      {[&] {
         std::vector<uint8_t> bytes = npy(good, 8);
         bytes[7] = 1;
         return bytes;
       }(),
       "version 1.1"},
      {[&] {
         std::vector<uint8_t> bytes = npy(good, 8);
         bytes[9] = 0xff;
         return bytes;
       }(),
       "does not fit in a file"},
      {with("'descr': '<f4', ", ""), "lacks a key"},
      {with("'fortran_order': False, ", ""), "lacks a key"},
      {with("(2,)", "(1,1,1,1,1,1,1,1,2)"), "or more than"},
      {with("(2,)", "(,)"), "dimension"},
      {npy(good, 8, 3), "version"},
      {npy(good, 7), "the file holds 7"},
      {npy(good, 9), "the file holds 9"},
      {with("<f4", ">f4"), "dtype"},
      {with("<f4", "|O"), "dtype"},
      {with("False", "True"), "C order"},
      {with("(2,)", "(0,)"), "dimension"},
      {with("(2,)", "(-2,)"), "dimension"},
      {with("(2,)", "(9999999999,)"), "dimension"},
      {npy("{'descr': '<f4', 'fortran_order': False, "
           "'shape': (1073741824,1073741824,4)}",
           0),
       "overflows"},
      {with("'descr': ", "'descr' "), "lacks a ':' behind \"descr\""},
      {with("'<f4', ", "'<f4' "), "lacks a ',' or '}'"},
      {with("'descr'", "xdescrx"), "unknown or repeated key \"\""},
      {with("'<f4'", "''"), "dtype \"\""},
      {npy("{'fortran_order': False, 'shape': (2,), 'descr': '<f4", 8),
       "dtype \"\""},
      // What stands behind the header is not part of it.
      {[&] {
         std::vector<uint8_t> bytes = npy(good, 8);
         size_t end = bytes.size() - 8;
         bytes[8] -= 2;
         EXPECT_EQ(bytes[end - 2], '}');
         return bytes;
       }(),
       "unknown or repeated key \"\""},
      {with("(2,)", "[2]"), "tuple"},
      {with("(2,)", "(2 2)"), "','"},
      {with("shape", "shade"), "unknown or repeated key"},
      {with("fortran_order", "descr"), "unknown or repeated key"},
      {with("(2,), }", "(2,), } x"), "text behind"},
      {with("{", ""), "start with '{'"},
      {with(", 'shape': (2,)", ""), "lacks a key"},
      {withByte(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}",
                    3),
                7),
       "element 2 of 3xi1 is the byte 7, expected 0 or 1"},
  };
  for (const auto &[bytes, message] : cases) {
    Status status = parseNpy(bytes).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidFile) << message;
    EXPECT_NE(status.message().find(message), std::string::npos)
        << status.message() << " does not say: " << message;
  }
}

TEST(Readers, SurviveRandomDamage) {
  std::map<std::string, HostTensor> tensors;
  tensors["w"] = {TensorDesc(DType::F32, {3, 4}), std::vector<uint8_t>(48)};
  std::vector<uint8_t> weights = *serializeSafetensors(tensors);
  std::vector<uint8_t> array =
      *serializeNpy(TensorDesc(DType::F32, {3, 4}), std::vector<uint8_t>(48));
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes = seed % 2 ? weights : array;
    for (int i = 0; i < 1 + int(random() % 4); ++i)
      bytes[random() % bytes.size()] = uint8_t(random());
    bytes.resize(random() % 4 ? bytes.size() : random() % bytes.size());
    (void)(seed % 2 ? parseSafetensors(bytes).status()
                    : parseNpy(bytes).status());
  }
}

class CheckpointTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / "aicf-checkpoint";
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::unique_ptr<Executor> make() {
    auto plan = std::make_shared<const Plan>(makeTrainPlan());
    auto executor = Executor::create(plan, createCPUDevice({1}));
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, t[6] = {}, lr = 0.01f;
    EXPECT_TRUE((*executor)->write("train/x", x, sizeof(x)).ok());
    EXPECT_TRUE((*executor)->write("t", t, sizeof(t)).ok());
    EXPECT_TRUE((*executor)->write("lr", &lr, sizeof(lr)).ok());
    return std::move(*executor);
  }
  static std::vector<float> weights(Executor &executor) {
    std::vector<float> w(12);
    EXPECT_TRUE(executor.read("W", w.data(), 48).ok());
    return w;
  }
  fs::path folder;
};

TEST_F(CheckpointTest, ResumingGivesTheSameBits) {
  auto whole = make(), first = make(), second = make();
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(whole->run("train").ok());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(first->run("train").ok());
  ASSERT_TRUE(saveCheckpoint(*first, folder.string()).ok());
  ASSERT_TRUE(saveCheckpoint(*first, folder.string()).ok()) << "again";
  ASSERT_TRUE(loadCheckpoint(*second, folder.string()).ok());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(second->run("train").ok());
  EXPECT_EQ(weights(*second), weights(*whole));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1)
      << "no temporary file is left";
}

TEST_F(CheckpointTest, RefusesWhatDoesNotFit) {
  auto executor = make();
  std::vector<float> before = weights(*executor);
  EXPECT_EQ(loadCheckpoint(*executor, folder.string()).code(),
            StatusCode::FileNotFound);
  auto refuses = [&](auto change, const char *message) {
    ASSERT_TRUE(saveCheckpoint(*executor, folder.string()).ok());
    std::string path = (folder / "state.safetensors").string();
    auto tensors = parseSafetensors(*readFile(path));
    ASSERT_TRUE(tensors.ok());
    change(*tensors);
    ASSERT_TRUE(
        writeFileAtomically(path, *serializeSafetensors(*tensors)).ok());
    Status status = loadCheckpoint(*executor, folder.string());
    EXPECT_EQ(status.code(), StatusCode::InvalidFile);
    EXPECT_NE(status.message().find(message), std::string::npos)
        << status.message();
    EXPECT_EQ(weights(*executor), before) << "nothing was written";
  };
  using Tensors = std::map<std::string, HostTensor>;
  refuses([](Tensors &t) { t.erase("mb"); }, "lacks state \"mb\"");
  refuses([](Tensors &t) { t["extra"] = t["b"]; }, "not a param or state");
  refuses([](Tensors &t) { t["b"] = t["W"]; }, "3x4xf32 in the file but 3xf32");
  refuses(
      [](Tensors &t) {
        t["lr"] = {TensorDesc(DType::F32, {}), std::vector<uint8_t>(4)};
      },
      "\"lr\" is not a param or state");
}

TEST_F(CheckpointTest, WeightsAreTheParams) {
  auto executor = make();
  fs::create_directories(folder);
  const std::string path = (folder / "w.safetensors").string();
  ASSERT_TRUE(saveWeights(*executor, path).ok());
  auto saved = parseSafetensors(*readFile(path));
  ASSERT_TRUE(saved.ok()) << saved.status().toString();
  std::set<std::string> names;
  for (const auto &[name, tensor] : *saved)
    names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"W", "b"}));
}

/// Names and types of a weight file become the plan's, or nothing is written.
TEST_F(CheckpointTest, WeightsBecomeThePlans) {
  auto executor = make();
  const std::vector<float> before = weights(*executor);
  fs::create_directories(folder);
  const std::string path = (folder / "w.safetensors").string();
  HostTensor ones{TensorDesc(DType::F32, {3, 4}), std::vector<uint8_t>(48)};
  for (size_t i = 0; i < 12; ++i)
    storeElement(DType::F32, ones.bytes.data() + 4 * i, 1);
  HostTensor wide{TensorDesc(DType::F64, {3, 4}), std::vector<uint8_t>(96)};
  for (size_t i = 0; i < 12; ++i)
    storeElement(DType::F64, wide.bytes.data() + 8 * i, 2);
  auto load = [&](std::map<std::string, HostTensor> tensors,
                  const WeightFileOptions &options) {
    EXPECT_TRUE(writeFileAtomically(path, *serializeSafetensors(tensors)).ok());
    return loadWeights(*executor, path, options);
  };
  auto refuses = [&](std::map<std::string, HostTensor> tensors,
                     const WeightFileOptions &options, const char *message) {
    Status status = load(std::move(tensors), options);
    EXPECT_NE(status.message().find(message), std::string::npos)
        << status.toString();
    EXPECT_EQ(weights(*executor), before) << message;
  };
  HostTensor huge = wide, count{TensorDesc(DType::I64, {3, 4}), wide.bytes};
  storeElement(DType::F64, huge.bytes.data(), 1e300);
  refuses({{"a.W", ones}}, {{{"b.*", "*"}}}, "the file has no \"b.*\"");
  refuses({{"a.W", ones}}, {{{"a.*", "W"}}}, "the file has no \"a.*\"");
  refuses({{"a.W", ones}}, {{{"a.", "*"}}}, "the file has no \"a.\"");
  refuses({{"W", ones}, {"V", ones}}, {{{"V", "W"}}}, "two tensors");
  refuses({{"W", ones}, {"V", ones}}, {}, "\"V\"");
  refuses({{"W", wide}}, {}, "3x4xf64 in the file but 3x4xf32");
  refuses({{"W", huge}}, {{}, false, true}, "1e+300 is too large for f32");
  refuses({{"W", count}}, {{}, false, true}, "3x4xi64 in the file");
  refuses({{"b", wide}}, {{}, false, true}, "3x4xf64 in the file but 3xf32");
  refuses({{"step", {TensorDesc(DType::F32, {}), {0, 0, 0, 0}}}},
          {{}, false, true}, "f32 in the file but i64 in the plan");
  ASSERT_TRUE(load({{"a.W", ones}, {"V", ones}},
                   {{{"", "x"}, {"a.*", "*"}}, true, false})
                  .message()
                  .find("no \"\"") != std::string::npos);
  ASSERT_TRUE(load({{"a.W", ones}, {"V", wide}}, {{{"a.*", "*"}}, true}).ok());
  EXPECT_EQ(weights(*executor), std::vector<float>(12, 1));
  ASSERT_TRUE(load({{"W", wide}, {"V", wide}}, {{}, true, true}).ok());
  EXPECT_EQ(weights(*executor), std::vector<float>(12, 2));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  storeElement(DType::F64, wide.bytes.data(), kInfinity);
  ASSERT_TRUE(load({{"W", wide}}, {{}, false, true}).ok());
  EXPECT_EQ(weights(*executor)[0], float(kInfinity)) << "f32 has that, too";
}

TEST_F(CheckpointTest, LeftoversOfAKilledWriterAreInNobodysWay) {
  auto executor = make();
  fs::create_directories(folder);
  for (int i = 0; i < 1000; ++i)
    std::ofstream(folder /
                  ("state.safetensors.tmp." + std::to_string(::getpid()) + "." +
                   std::to_string(i)));
  EXPECT_TRUE(saveCheckpoint(*executor, folder.string()).ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1001);
}

/// Of writers that are dead and have been for a while, by the name that they
/// give; one that lives holds a lock.
TEST_F(CheckpointTest, LeftoversOfKilledWritersGo) {
  auto executor = make();
  fs::create_directories(folder);
  auto make = [&](const char *name, int secondsOld) {
    std::string path = (folder / name).string();
    std::ofstream(path) << "left";
    const time_t then = ::time(nullptr) - secondsOld;
    const timespec times[] = {{then, 0}, {then, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
    return path;
  };
  std::string old = make(".aicf-0123456789abcdef.tmp", 3600),
              fresh = make(".aicf-1123456789abcdef.tmp", 0),
              held = make(".aicf-2123456789abcdef.tmp", 3600),
              other = make(".aicf-mine.tmp", 3600),
              longer = make(".aicf-0123456789abcdefg.tmp", 3600);
  fs::create_symlink(other, folder / ".aicf-3123456789abcdef.tmp");
  int writer = ::open(held.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(writer, LOCK_SH), 0);
  ASSERT_TRUE(saveCheckpoint(*executor, folder.string()).ok());
  EXPECT_FALSE(fs::exists(old));
  for (const std::string &path : {fresh, held, other, longer})
    EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_TRUE(fs::is_symlink(folder / ".aicf-3123456789abcdef.tmp"));
  ::close(writer);
  ASSERT_TRUE(saveCheckpoint(*executor, folder.string()).ok());
  EXPECT_FALSE(fs::exists(held));
}

TEST_F(CheckpointTest, IsAskedForBeforeTheRun) {
  Plan plan = makeTrainPlan();
  plan.buffers[0].init = InitKind::None; // W, which nobody writes
  auto executor = Executor::create(
      std::make_shared<const Plan>(std::move(plan)), createCPUDevice({1}));
  Status status = checkCheckpoint(**executor, folder.string(), "predict");
  EXPECT_EQ(status.code(), StatusCode::NotInitialized);
  EXPECT_NE(status.message().find("\"W\" was never written"),
            std::string::npos);
  EXPECT_TRUE(checkCheckpoint(**executor, folder.string(), "train").ok())
      << "the entry writes it";
  EXPECT_EQ(checkCheckpoint(**executor, folder.string(), "none").code(),
            StatusCode::InvalidArgument);
  fs::create_directories(folder / "state.safetensors");
  EXPECT_EQ(checkCheckpoint(**executor, folder.string(), "train").code(),
            StatusCode::FileError);
  EXPECT_EQ(checkCheckpoint(**executor, "/nonexistent/folder", "train").code(),
            StatusCode::FileNotFound);
}

TEST_F(CheckpointTest, AFileIsNoFolder) {
  fs::create_directories(folder);
  std::ofstream(folder / "file").put('x');
  fs::permissions(folder / "file", fs::perms::all);
  EXPECT_FALSE(checkCheckpointFolder((folder / "file").string()).ok());
}

TEST_F(CheckpointTest, BadFilesAreNamed) {
  auto executor = make();
  fs::create_directories(folder);
  std::string path = (folder / "bad").string();
  std::ofstream(path) << "x";
  EXPECT_NE(loadWeights(*executor, path).message().find(path),
            std::string::npos);
}

/// Derived states are recomputed, never saved.
TEST_F(CheckpointTest, LeavesDerivedStatesOut) {
  Plan plan = makeInitPlan();
  plan.buffers[5].role = Role::State;
  plan.buffers[5].init = InitKind::None;
  plan.buffers[5].derivedFrom = 3;
  auto made = Executor::create(std::make_shared<const Plan>(std::move(plan)),
                               createCPUDevice({1}));
  ASSERT_TRUE(saveCheckpoint(**made, folder.string()).ok());
  auto saved =
      parseSafetensors(*readFile((folder / "state.safetensors").string()));
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->count("uniform"), 1u);
  EXPECT_EQ(saved->count("bf16"), 0u);
  ASSERT_TRUE(loadCheckpoint(**made, folder.string()).ok());
}

TEST_F(CheckpointTest, NamesThatTheFormatCannotHold) {
  HostTensor one{TensorDesc(DType::F32, {}), std::vector<uint8_t>(4)};
  for (const char *name : {"__metadata__", "w\xff", "w\xed\xa0\x80"})
    EXPECT_EQ(serializeSafetensors({{name, one}}).status().code(),
              StatusCode::InvalidArgument);
}

TEST_F(CheckpointTest, WritableIsWhatWritingSays) {
  fs::create_directories(folder / "sub");
  std::string file = (folder / "file").string();
  fs::create_symlink("nowhere", folder / "dangling");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::ofstream(folder / "private").put('x');
  fs::permissions(folder / "private",
                  fs::perms::owner_read | fs::perms::owner_write);
  for (const char *path : {"file", "private", "sub", "dangling", "no/such",
                           "file/below", "fifo"}) {
    std::string full = (folder / path).string();
    Status asked = checkWritable(full),
           written = writeFileAtomically(full, {1});
    if (std::string_view(path) == "fifo") // a reader may still come
      EXPECT_TRUE(asked.ok() && !written.ok()) << asked.toString();
    else
      EXPECT_EQ(asked.ok(), written.ok()) << path << ": " << asked.toString();
  }
  EXPECT_FALSE(checkWritable("").ok());
  Status pipe = readFile((folder / "fifo").string()).status();
  EXPECT_EQ(pipe.code(), StatusCode::FileError);
  EXPECT_NE(pipe.message().find("': not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(fs::status(folder / "private").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

/// A file that says it is longer than what it gives: sysfs says a page.
TEST(Files, ShorterThanTheySay) {
  const char *path = "/sys/kernel/mm/transparent_hugepage/enabled";
  std::error_code error;
  if (fs::file_size(path, error) == 0 || error)
    GTEST_SKIP() << "no sysfs here";
  Status status = readFile(path).status();
  EXPECT_NE(status.message().find("': ends after "), std::string::npos)
      << status.toString();
}

TEST_F(CheckpointTest, WritingKeepsPipesAndFollowsLinks) {
  fs::create_directories(folder);
  std::string file = (folder / "file").string(),
              link = (folder / "link").string();
  ASSERT_TRUE(writeFileAtomically(file, {1}).ok());
  fs::create_symlink(file, link);
  ASSERT_TRUE(writeFileAtomically(link, {1, 2}).ok());
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(readFile(file)->size(), 2u);
  EXPECT_TRUE(writeFileAtomically("/dev/null", {1}).ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_FALSE(writeFileAtomically((folder / "no/such").string(), {1}).ok());
  EXPECT_FALSE(checkCheckpointFolder((folder / "no/such").string()).ok());
}

} // namespace
