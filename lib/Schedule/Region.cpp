//===- Region.cpp - the bytes of a value in its buffer --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Boxes are compared in a frame: the strides of all of them, where each divides
// the one before. A byte's address is a number in that mixed radix, and a box
// is a range of every digit.
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Region.h"

#include <algorithm>
#include <optional>

namespace aicf {

Region::Region(uint64_t byteOffset, const TensorDesc &desc)
    : first(byteOffset), last(byteOffset + desc.spanBytes()) {
  const TensorDesc whole = desc.layout == Layout::Padded ? desc.stored() : desc;
  const uint64_t element = sizeOf(desc.dtype);
  for (size_t i = 0; i < whole.rank; ++i) {
    uint64_t stride = uint64_t(whole.stride(i)) * element;
    if (whole.dims[i] > 1 && stride > 0) // a broadcast adds no bytes
      dims[rank++] = {uint64_t(whole.dims[i]), stride};
  }
  std::sort(dims, dims + rank, [](const Dimension &a, const Dimension &b) {
    return a.stride > b.stride;
  });
  dims[rank++] = {element, 1};
  // From the inside: a dimension whose pieces lie behind each other is one run.
  for (size_t i = rank - 1; i-- > 0;) {
    uint64_t inner = dims[i + 1].count * dims[i + 1].stride;
    if (dims[i].stride == inner) {
      dims[i + 1].count *= dims[i].count;
      std::copy(dims + i + 1, dims + rank, dims + i);
      --rank;
    } else if (dims[i].stride < inner) { // pieces overlap each other: no box
      dims[0] = {last - first, 1};
      rank = 1;
      isExact = false;
      return;
    }
  }
}

bool Region::operator==(const Region &other) const {
  return isExact && other.isExact && first == other.first &&
         rank == other.rank &&
         std::equal(dims, dims + rank, other.dims,
                    [](const Dimension &a, const Dimension &b) {
                      return a.count == b.count && a.stride == b.stride;
                    });
}

/// A range of every digit of an address.
struct Box {
  struct Range {
    uint64_t begin, end;
  };
  std::vector<Range> digits; ///< the most significant one first

  bool overlaps(const Box &other) const {
    for (size_t i = 0; i < digits.size(); ++i)
      if (digits[i].end <= other.digits[i].begin ||
          other.digits[i].end <= digits[i].begin)
        return false;
    return true;
  }
};

/// The radix that some regions are boxes in.
class BoxFrame {
public:
  void add(const Region &region) {
    for (size_t i = 0; i < region.rank; ++i)
      strides.push_back(region.dims[i].stride);
  }
  /// False where no radix has all strides that were added.
  bool finish() {
    std::sort(strides.rbegin(), strides.rend());
    strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
    for (size_t i = 1; i < strides.size(); ++i)
      if (strides[i - 1] % strides[i] != 0)
        return false;
    return true;
  }
  /// Returns the box of a region, or nullopt for one that is not a box here: a
  /// run that begins in the middle of a row and ends in another.
  std::optional<Box> boxOf(const Region &region) const {
    Box box;
    uint64_t rest = region.first;
    for (uint64_t stride : strides) {
      box.digits.push_back({rest / stride, rest / stride + 1});
      rest %= stride;
    }
    size_t dim = region.rank;
    uint64_t carried = 1; // pieces of the next digit that inner ones fill
    for (size_t i = strides.size(); i-- > 0;) {
      uint64_t count = carried;
      if (dim > 0 && region.dims[dim - 1].stride == strides[i]) {
        if (carried != 1)
          return std::nullopt;
        count = region.dims[--dim].count;
      }
      Box::Range &digit = box.digits[i];
      uint64_t limit = i == 0 ? UINT64_MAX : strides[i - 1] / strides[i];
      carried = 1;
      if (digit.begin + count > limit) {
        if (digit.begin != 0 || count % limit != 0)
          return std::nullopt;
        carried = count / limit;
        count = limit;
      }
      digit.end = digit.begin + count;
    }
    return box;
  }

private:
  std::vector<uint64_t> strides; ///< falling; the last is 1
};

bool Region::overlaps(const Region &other) const {
  if (last <= other.first || other.last <= first)
    return false;
  if (rank == 1 && other.rank == 1)
    return true;
  BoxFrame frame;
  frame.add(*this);
  frame.add(other);
  if (!frame.finish())
    return true;
  std::optional<Box> a = frame.boxOf(*this), b = frame.boxOf(other);
  return !a || !b || a->overlaps(*b);
}

/// What is left of `boxes` without `hole`: a box that it cuts is split at each
/// of its sides.
static std::vector<Box> subtract(const std::vector<Box> &boxes,
                                 const Box &hole) {
  std::vector<Box> left;
  for (Box box : boxes) {
    if (!box.overlaps(hole)) {
      left.push_back(std::move(box));
      continue;
    }
    for (size_t i = 0; i < box.digits.size(); ++i) {
      Box::Range &range = box.digits[i];
      const Box::Range &cut = hole.digits[i];
      Box piece = box;
      if (range.begin < cut.begin) {
        piece.digits[i] = {range.begin, cut.begin};
        left.push_back(piece);
        range.begin = cut.begin;
      }
      if (cut.end < range.end) {
        piece.digits[i] = {cut.end, range.end};
        left.push_back(piece);
        range.end = cut.end;
      }
    }
  }
  return left;
}

bool Region::isCovered(const Region &region, Span<const Region> parts) {
  BoxFrame frame;
  frame.add(region);
  for (const Region &part : parts) {
    if (part == region)
      return true;
    frame.add(part);
  }
  if (!frame.finish())
    return false;
  std::optional<Box> whole = frame.boxOf(region);
  if (!whole)
    return false;
  std::vector<Box> left{*whole};
  constexpr size_t kMaxPieces = 4096; // what nobody writes on purpose
  for (size_t i = 0; i < parts.size() && left.size() <= kMaxPieces; ++i)
    if (std::optional<Box> part = frame.boxOf(parts[i]);
        part && parts[i].isExact)
      left = subtract(left, *part);
  return left.empty();
}

StatusOr<RegionMap> RegionMap::create(Span<const Entry> values) {
  RegionMap map;
  std::vector<uint32_t> order(values.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  auto key = [&](uint32_t i) {
    return std::pair(values[i].buffer, values[i].region.begin());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  map.regionOfValue.resize(values.size());
  map.regions.reserve(values.size());
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  constexpr size_t kMaxOpen = 4096;
  std::vector<uint32_t> open; // regions that may reach into the next one
  for (uint32_t value : order) {
    const Entry &entry = values[value];
    auto known = std::find_if(open.begin(), open.end(), [&](uint32_t r) {
      return map.regions[r].buffer == entry.buffer &&
             map.regions[r].region == entry.region;
    });
    if (known != open.end()) {
      map.regionOfValue[value] = *known;
      continue;
    }
    open.erase(std::remove_if(open.begin(), open.end(),
                              [&](uint32_t r) {
                                const Entry &o = map.regions[r];
                                return o.buffer != entry.buffer ||
                                       o.region.end() <= entry.region.begin();
                              }),
               open.end());
    auto fresh = uint32_t(map.regions.size());
    map.regionOfValue[value] = fresh;
    map.regions.push_back(entry);
    for (uint32_t r : open)
      if (map.overlap(r, fresh)) {
        pairs.push_back({r, fresh});
        pairs.push_back({fresh, r});
      }
    if (pairs.size() > 2 * kMaxOverlaps || open.size() > kMaxOpen)
      return makeError(StatusCode::InvalidArgument, "buffer ", entry.buffer,
                       ": too many of its values share bytes");
    open.push_back(fresh);
  }
  std::sort(pairs.begin(), pairs.end());
  map.firstOther.assign(map.regions.size() + 1, 0);
  for (auto [r, other] : pairs) {
    ++map.firstOther[r + 1];
    map.others.push_back(other);
  }
  for (size_t r = 0; r < map.regions.size(); ++r)
    map.firstOther[r + 1] += map.firstOther[r];
  return map;
}

bool RegionMap::isCovered(uint32_t r, const std::vector<bool> &isMarked) const {
  if (isMarked[r])
    return true;
  std::vector<Region> parts;
  for (uint32_t other : overlapping(r))
    if (isMarked[other])
      parts.push_back(regions[other].region);
  return Region::isCovered(regions[r].region, parts);
}

} // namespace aicf
