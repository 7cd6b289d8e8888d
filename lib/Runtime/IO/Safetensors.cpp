//===- Safetensors.cpp - weight files -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Checkpoint.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/Element.h"
#include "lib/Base/File.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace aicf {
namespace {

using Json = nlohmann::json;

/// The format's names of our dtypes, by number.
constexpr const char *kDTypeNames[kNumDTypes] = {"F32", "F16", "BF16", "F64",
                                                 "I32", "I64", "BOOL"};

template <typename... Args> Status refuse(const Args &...args) {
  return makeError(StatusCode::InvalidFile, "safetensors: ", args...);
}

/// Reads the header without keeping anything: an object that repeats a key is
/// refused, because parsers differ in which value they keep. (A callback of the
/// parser could say it, too, but takes a time that is quadratic in the number
/// of tensors.)
class HeaderCheck : public nlohmann::json_sax<Json> {
public:
  std::string duplicate;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    bool isFresh = keys.back().insert(name).second;
    if (!isFresh)
      duplicate = name;
    return isFresh;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::detail::exception &) override {
    return false;
  }

private:
  bool open() {
    keys.emplace_back();
    return keys.size() <= 8; // deeper than any header
  }
  bool close() {
    keys.pop_back();
    return true;
  }
  std::vector<std::set<std::string>> keys; ///< of what is open
};

StatusOr<Json> parseHeader(Span<const uint8_t> text) {
  HeaderCheck check;
  bool isLegal = Json::sax_parse(text.begin(), text.end(), &check);
  if (!check.duplicate.empty())
    return refuse("the header holds \"", check.duplicate, "\" twice");
  Json header;
  if (isLegal)
    header = Json::parse(text.begin(), text.end(), nullptr,
                         /*allow_exceptions=*/false);
  if (!header.is_object())
    return refuse("the header is not a flat JSON object");
  return header;
}

/// A non-negative integer. Of JSON floats, negatives and what is not a number
/// it makes the largest one, which is neither a dimension nor an offset.
uint64_t unsignedOf(const Json &value) {
  return value.is_number_unsigned() ? value.get<uint64_t>() : UINT64_MAX;
}

struct Range {
  uint64_t begin, end;
};

StatusOr<std::pair<TensorDesc, Range>>
parseEntry(const std::string &name, const Json &entry, uint64_t dataBytes) {
  // What is not an object contains nothing.
  if (entry.size() != 3 || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets"))
    return refuse("\"", name,
                  "\" does not have exactly dtype, shape and data_offsets");
  const Json &dtype = entry["dtype"], &shape = entry["shape"],
             &offsets = entry["data_offsets"];
  TensorDesc desc;
  bool known = false;
  for (uint8_t d = 0; d < kNumDTypes && dtype.is_string(); ++d)
    if (dtype.get_ref<const std::string &>() == kDTypeNames[d]) {
      desc.dtype = static_cast<DType>(d);
      known = true;
    }
  if (!known)
    return refuse("\"", name,
                  "\" has an unknown dtype, expected F32, F16, BF16, F64, I32, "
                  "I64 or BOOL");
  if (!shape.is_array() || shape.size() > kMaxRank)
    return refuse("\"", name, "\" has a shape that is not an array of up to ",
                  kMaxRank, " numbers");
  uint64_t bytes = sizeOf(desc.dtype);
  for (const Json &dim : shape) {
    uint64_t d = unsignedOf(dim);
    if (d == 0 || d > INT32_MAX || __builtin_mul_overflow(bytes, d, &bytes))
      return refuse("\"", name, "\" has a dimension that is not in 1 to ",
                    INT32_MAX, ", or too many elements");
    desc.dims[desc.rank++] = static_cast<int64_t>(d);
  }
  Range range{UINT64_MAX, UINT64_MAX};
  if (offsets.is_array() && offsets.size() == 2)
    range = {unsignedOf(offsets[0]), unsignedOf(offsets[1])};
  if (range.begin > range.end || range.end > dataBytes)
    return refuse("\"", name, "\" has data_offsets outside the ", dataBytes,
                  " bytes of data");
  if (range.end - range.begin != bytes)
    return refuse("\"", name, "\" is ", desc.toString(), " of ", bytes,
                  " bytes, but its data_offsets hold ",
                  range.end - range.begin);
  return std::pair(desc, range);
}

} // namespace

namespace {

struct Entry {
  std::string name;
  TensorDesc desc;
  Range range;
};

/// Sorted by offset; every byte of the data belongs to one tensor. Checked
/// before anything is copied, so that a file cannot ask for more than its size.
Status checkLayout(std::vector<Entry> &entries, uint64_t dataBytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.range.begin < b.range.begin;
  });
  uint64_t end = 0;
  for (const Entry &entry : entries) {
    uint64_t begin = entry.range.begin;
    if (begin != end)
      return refuse("bytes ", std::min(end, begin), " to ",
                    std::max(end, begin), " of the data belong to ",
                    begin < end ? "two tensors" : "no tensor");
    end = entry.range.end;
  }
  if (end != dataBytes)
    return refuse("the last ", dataBytes - end,
                  " bytes of the data belong to no tensor");
  return {};
}

constexpr const char *kMetadata = "__metadata__";

/// The format has strings there; another value is another program's to read.
FileMetadata stringsOf(const Json &object) {
  FileMetadata strings;
  if (object.is_object())
    for (const auto &[name, value] : object.items())
      if (value.is_string())
        strings[name] = value.get<std::string>();
  return strings;
}

StatusOr<std::map<std::string, HostTensor>>
parseChecked(Span<const uint8_t> bytes, FileMetadata *metadata) {
  if (bytes.size() < 8)
    return refuse("the file has ", bytes.size(), " bytes, expected 8 or more");
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | bytes[size_t(i)];
  if (headerBytes > bytes.size() - 8)
    return refuse("the header of ", headerBytes,
                  " bytes does not fit in a file "
                  "of ",
                  bytes.size());
  AICF_ASSIGN_OR_RETURN(Json header,
                        parseHeader({bytes.data() + 8, size_t(headerBytes)}));
  const uint8_t *data = bytes.data() + 8 + headerBytes;
  uint64_t dataBytes = bytes.size() - 8 - headerBytes;
  std::vector<Entry> entries;
  for (const auto &[name, value] : header.items()) {
    if (name == kMetadata) {
      if (metadata)
        *metadata = stringsOf(value);
      continue;
    }
    AICF_ASSIGN_OR_RETURN(auto parsed, parseEntry(name, value, dataBytes));
    entries.push_back({name, parsed.first, parsed.second});
  }
  AICF_RETURN_IF_ERROR(checkLayout(entries, dataBytes));
  std::map<std::string, HostTensor> tensors;
  for (const Entry &e : entries) {
    HostTensor tensor{e.desc, {data + e.range.begin, data + e.range.end}};
    int64_t wrong = findWrongElement(e.desc.dtype, tensor.bytes);
    if (wrong >= 0)
      return refuse("element ", wrong, " of \"", e.name, "\" is the byte ",
                    int(tensor.bytes[size_t(wrong)]), ", expected 0 or 1");
    tensors[e.name] = std::move(tensor);
  }
  return tensors;
}

} // namespace

StatusOr<std::map<std::string, HostTensor>>
parseSafetensors(Span<const uint8_t> bytes, FileMetadata *metadata) {
  return catchBadAlloc([&] { return parseChecked(bytes, metadata); });
}

StatusOr<std::vector<uint8_t>>
serializeSafetensors(const std::map<std::string, HostTensor> &tensors,
                     const FileMetadata &metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header[kMetadata] = metadata;
  uint64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    if (name == kMetadata)
      return makeError(StatusCode::InvalidArgument, "\"", name,
                       "\" is the format's own name, not a tensor's");
    nlohmann::ordered_json shape = nlohmann::ordered_json::array();
    for (int64_t d : tensor.desc.shape())
      shape.push_back(d);
    header[name] = {{"dtype", kDTypeNames[uint8_t(tensor.desc.dtype)]},
                    {"shape", shape},
                    {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::ordered_json::type_error &error) {
    return makeError(StatusCode::InvalidArgument,
                     "a name is not UTF-8: ", error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' '); // the data is 8-byte aligned
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 8; ++i)
    bytes.push_back(uint8_t(uint64_t(text.size()) >> (8 * i)));
  bytes.insert(bytes.end(), text.begin(), text.end());
  for (const auto &[name, tensor] : tensors)
    bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  return bytes;
}

namespace {

std::string checkpointPath(const std::string &directory) {
  return directory + "/state.safetensors";
}

using Tensors = std::map<std::string, HostTensor>;

std::map<std::string, TensorInfo> trainedOf(const Plan &plan) {
  std::map<std::string, TensorInfo> known;
  for (TensorInfo &t : plan.tensors())
    if (t.isSaved())
      known[t.name] = std::move(t);
  return known;
}

/// Takes out what the plan does not have; returns the names.
std::vector<std::string> dropExtra(const Plan &plan, Tensors &tensors) {
  auto known = trainedOf(plan);
  std::vector<std::string> extra;
  for (auto it = tensors.begin(); it != tensors.end();)
    if (known.count(it->first)) {
      ++it;
    } else {
      extra.push_back(it->first);
      it = tensors.erase(it);
    }
  return extra;
}

bool endsInStar(const std::string &pattern) {
  return (" " + pattern).back() == '*';
}

/// What `name` becomes, if the rename speaks of it.
std::optional<std::string>
renamed(const std::string &name,
        const std::pair<std::string, std::string> &rename) {
  const auto &[from, to] = rename;
  if (!endsInStar(from) || !endsInStar(to))
    return name == from ? std::optional(to) : std::nullopt;
  size_t stem = from.size() - 1;
  if (name.compare(0, stem, from, 0, stem) != 0)
    return std::nullopt;
  return to.substr(0, to.size() - 1) + name.substr(stem);
}

StatusOr<Tensors>
renameAll(Tensors tensors,
          const std::vector<std::pair<std::string, std::string>> &renames) {
  std::vector<bool> isUsed(renames.size());
  Tensors result;
  for (auto &[name, tensor] : tensors) {
    std::string to = name;
    for (size_t i = 0; i < renames.size(); ++i)
      if (std::optional<std::string> now = renamed(name, renames[i])) {
        to = *now;
        isUsed[i] = true;
        break;
      }
    if (!result.emplace(to, std::move(tensor)).second)
      return makeError(StatusCode::InvalidArgument,
                       "two tensors of the file would be named \"", to, "\"");
  }
  for (size_t i = 0; i < renames.size(); ++i)
    if (!isUsed[i])
      return makeError(StatusCode::InvalidArgument, "the file has no \"",
                       renames[i].first, "\" to rename to \"",
                       renames[i].second, "\"");
  return result;
}

StatusOr<HostTensor> castTo(const TensorDesc &desc, const HostTensor &from,
                            const std::string &name) {
  HostTensor to{desc, std::vector<uint8_t>(desc.spanBytes())};
  size_t fromBytes = sizeOf(from.desc.dtype), toBytes = sizeOf(desc.dtype);
  for (size_t i = 0; i < size_t(desc.elements()); ++i) {
    double value =
        loadElement(from.desc.dtype, from.bytes.data() + i * fromBytes);
    uint8_t *at = to.bytes.data() + i * toBytes;
    storeElement(desc.dtype, at, value);
    if (std::isfinite(value) && !std::isfinite(loadElement(desc.dtype, at)))
      return refuse("\"", name, "\": ", value, " is too large for ",
                    nameOf(desc.dtype));
  }
  return to;
}

/// Every tensor of the file exists in the plan, trained and of the same type.
/// With `cast`, floats of another type than the plan's get it.
Status fitToPlan(const Plan &plan, Tensors &tensors, bool cast) {
  auto known = trainedOf(plan);
  for (auto &[name, tensor] : tensors) {
    auto it = known.find(name);
    if (it == known.end())
      return refuse("\"", name, "\" is not a param or state of the plan");
    TensorDesc wanted = it->second.desc, sameType = tensor.desc;
    if (tensor.desc == wanted)
      continue;
    sameType.dtype = wanted.dtype;
    if (!cast || sameType != wanted || !isFloat(tensor.desc.dtype) ||
        !isFloat(wanted.dtype))
      return refuse("\"", name, "\" is ", tensor.desc.toString(),
                    " in the file but ", wanted.toString(), " in the plan");
    AICF_ASSIGN_OR_RETURN(tensor, castTo(wanted, tensor, name));
  }
  return {};
}

Status writeAll(Executor &executor,
                const std::map<std::string, HostTensor> &tensors) {
  for (const auto &[name, tensor] : tensors)
    AICF_RETURN_IF_ERROR(
        executor.write(name, tensor.bytes.data(), tensor.bytes.size()));
  return {};
}

StatusOr<Tensors> readTensors(const std::string &path,
                              FileMetadata *metadata = nullptr) {
  AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
  StatusOr<Tensors> tensors = parseSafetensors(bytes, metadata);
  if (!tensors.ok())
    return tensors.status().withContext("'" + path + "'");
  return tensors;
}

/// The file's tensors as the plan wants them.
StatusOr<Tensors> adapt(const Plan &plan, Tensors tensors,
                        const WeightFileOptions &options) {
  AICF_ASSIGN_OR_RETURN(tensors,
                        renameAll(std::move(tensors), options.renames));
  if (options.ignoreExtra)
    dropExtra(plan, tensors);
  AICF_RETURN_IF_ERROR(fitToPlan(plan, tensors, options.cast));
  return tensors;
}

} // namespace

Status checkCheckpointFolder(const std::string &directory) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST)
    return makeError(
        errno == ENOENT ? StatusCode::FileNotFound : StatusCode::FileError,
        "cannot make folder '", directory, "': ", std::strerror(errno));
  return checkWritable(checkpointPath(directory));
}

Status checkCheckpoint(Executor &executor, const std::string &directory,
                       std::string_view entry) {
  AICF_RETURN_IF_ERROR(checkCheckpointFolder(directory));
  for (const TensorInfo &t : executor.plan().tensors()) {
    Status known = t.isSaved() ? executor.checkRead(t.name, entry) : Status();
    if (!known.ok())
      return known.withContext("checkpoint '" + directory + "'");
  }
  return {};
}

/// The tensors that `isSaved` names.
static Status saveTensors(Executor &executor, const std::string &path,
                          const FileMetadata &metadata,
                          bool (*isSaved)(const TensorInfo &)) {
  std::map<std::string, HostTensor> tensors;
  for (const TensorInfo &t : executor.plan().tensors()) {
    if (!isSaved(t))
      continue;
    HostTensor tensor{t.desc, std::vector<uint8_t>(t.desc.spanBytes())};
    AICF_RETURN_IF_ERROR(
        executor.read(t.name, tensor.bytes.data(), tensor.bytes.size()));
    tensors[t.name] = std::move(tensor);
  }
  AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes,
                        serializeSafetensors(tensors, metadata));
  return writeFileAtomically(path, bytes);
}

Status saveCheckpoint(Executor &executor, const std::string &directory,
                      const FileMetadata &metadata) {
  AICF_RETURN_IF_ERROR(checkCheckpointFolder(directory));
  return catchBadAlloc([&] {
    return saveTensors(executor, checkpointPath(directory), metadata,
                       [](const TensorInfo &t) { return t.isSaved(); });
  });
}

Status saveWeights(Executor &executor, const std::string &path) {
  return catchBadAlloc([&] {
    return saveTensors(executor, path, {}, [](const TensorInfo &t) {
      return t.role == Role::Param;
    });
  });
}

Status loadCheckpoint(Executor &executor, const std::string &directory,
                      std::vector<std::string> *extra, FileMetadata *metadata) {
  std::string path = checkpointPath(directory);
  AICF_ASSIGN_OR_RETURN(Tensors tensors, readTensors(path, metadata));
  if (extra)
    *extra = dropExtra(executor.plan(), tensors);
  Status fits = fitToPlan(executor.plan(), tensors, /*cast=*/false);
  if (!fits.ok())
    return fits.withContext("'" + path + "'");
  for (const TensorInfo &t : executor.plan().tensors())
    if (t.isSaved() && !tensors.count(t.name))
      return refuse("'", path, "' lacks ", nameOf(t.role), " \"", t.name, "\"");
  return writeAll(executor, tensors);
}

Status loadWeights(Executor &executor, const std::string &path,
                   const WeightFileOptions &options) {
  AICF_ASSIGN_OR_RETURN(Tensors tensors, readTensors(path));
  StatusOr<Tensors> adapted = catchBadAlloc(
      [&] { return adapt(executor.plan(), std::move(tensors), options); });
  if (!adapted.ok())
    return adapted.status().withContext("'" + path + "'");
  return writeAll(executor, *adapted);
}

} // namespace aicf
