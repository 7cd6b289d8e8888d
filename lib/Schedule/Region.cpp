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
  const TensorDesc whole = desc.stored(); // for the dimensions of a padded one
  const uint64_t element = sizeOf(desc.dtype);
  for (size_t i = 0; i < whole.rank; ++i) {
    uint64_t stride = uint64_t(desc.stride(i)) * element;
    uint64_t added = uint64_t(whole.dims[i] - 1) * stride; // bytes
    if (added > 0) // by a broadcast, none
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
    const Region::Dimension *end = region.dims + region.rank;
    uint64_t carried = 1; // pieces of the next digit that inner ones fill
    for (size_t i = strides.size(); i-- > 0;) {
      auto dim = std::find_if(
          region.dims, end,
          [&](const Region::Dimension &d) { return d.stride == strides[i]; });
      // Inner dimensions end before the next piece of an outer one, so they
      // carry nothing into its digit.
      uint64_t count = dim == end ? carried : dim->count;
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

  /// Returns the boxes that a region is made of: one, or those of a run that
  /// begins in the middle of a row. None for what is not made of a few.
  std::vector<Box> boxesOf(const Region &region) const {
    if (std::optional<Box> box = boxOf(region))
      return {*box};
    std::vector<Box> boxes;
    if (region.rank == 1)
      split(region.first, region.last, {}, boxes);
    return boxes;
  }

private:
  /// Takes bytes `begin` to `end` of what the digits in `front` lead to apart:
  /// the rest of the first row, whole rows, the beginning of the last one.
  void split(uint64_t begin, uint64_t end, const Box &front,
             std::vector<Box> &boxes) const {
    uint64_t stride = strides[front.digits.size()];
    auto with = [&](uint64_t first, uint64_t last) {
      Box box = front;
      box.digits.push_back({first, last});
      return box;
    };
    uint64_t first = begin / stride, last = end / stride;
    if (begin % stride != 0) {
      split(begin % stride, first == last ? end % stride : stride,
            with(first, first + 1), boxes);
      if (first++ == last)
        return;
    }
    if (first < last) {
      Box rows = with(first, last);
      for (size_t i = rows.digits.size(); i < strides.size(); ++i)
        rows.digits.push_back({0, strides[i - 1] / strides[i]});
      boxes.push_back(std::move(rows));
    }
    if (end % stride != 0)
      split(0, end % stride, with(last, last + 1), boxes);
  }

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
  std::vector<Box> a = frame.boxesOf(*this), b = frame.boxesOf(other);
  auto meets = [&](const Box &box) {
    return std::any_of(b.begin(), b.end(),
                       [&](const Box &o) { return box.overlaps(o); });
  };
  return a.empty() || b.empty() || std::any_of(a.begin(), a.end(), meets);
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
    bool isRun = part.isExact && part.rank == 1;
    if (isRun && part.first <= region.first && part.last >= region.last)
      return true;
    frame.add(part);
  }
  if (!frame.finish())
    return false;
  std::vector<Box> left = frame.boxesOf(region);
  if (left.empty())
    return false;
  constexpr size_t kMaxPieces = 4096; // what nobody writes on purpose
  for (size_t i = 0; i < parts.size() && left.size() <= kMaxPieces; ++i)
    for (const Box &part :
         parts[i].isExact ? frame.boxesOf(parts[i]) : std::vector<Box>())
      left = subtract(left, part);
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
                       ": too many of its values share bytes, the limits are ",
                       kMaxOverlaps, " pairs and ", kMaxOpen, " at one place");
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
