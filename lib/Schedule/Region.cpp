//===- Region.cpp - the bytes of a value in its buffer --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Boxes are compared in a frame: the strides of all of them, where each divides
// the one before. A byte's address is a number in that mixed radix, and a box
// is a range of every digit. Other regions are a few boxes: rows 0 to 3 of
// four, where another region has each third one, are a whole group of three and
// the first of the next.
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Region.h"

#include <algorithm>
#include <functional>

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
  mergeRuns();
}

void Region::mergeRuns() {
  for (size_t i = 0; i + 1 < rank; ++i)
    isExact &= dims[i].stride >= dims[i + 1].count * dims[i + 1].stride;
  if (!isExact)
    return;
  // From the inside: a dimension whose pieces lie behind each other is one run.
  for (size_t i = rank - 1; i-- > 0;) {
    if (dims[i].stride != dims[i + 1].count * dims[i + 1].stride)
      continue;
    dims[i + 1].count *= dims[i].count;
    std::copy(dims + i + 1, dims + rank, dims + i);
    --rank;
  }
}

Region Region::asBoxes() const {
  Region run = *this;
  if (!isExact) {
    run.rank = 1;
    run.dims[0] = {last - first, 1};
  }
  return run;
}

bool Region::operator==(const Region &other) const {
  return isExact && other.isExact && first == other.first &&
         rank == other.rank &&
         std::equal(dims, dims + rank, other.dims,
                    [](const Dimension &a, const Dimension &b) {
                      return a.count == b.count && a.stride == b.stride;
                    });
}

/// A range of one digit of an address.
struct Range {
  uint64_t begin, end;
};
/// One of every digit, the most significant one first.
using Box = std::vector<Range>;

static bool doOverlap(const Range *a, const Range *b, size_t numDigits) {
  for (size_t i = 0; i < numDigits; ++i)
    if (a[i].end <= b[i].begin || b[i].end <= a[i].begin)
      return false;
  return true;
}

/// A region is made of few boxes. Pairs of regions are many.
constexpr size_t kMaxBoxesOfPair = 16;
constexpr size_t kMaxBoxes = 256;

/// The radix that some regions are boxes in.
class BoxFrame {
public:
  /// Adds the strides of a region, unless no radix has them all.
  bool add(const Region &region) {
    uint64_t all[kMostDigits + kMaxRank + 1];
    size_t count = numStrides;
    std::copy(strides, strides + numStrides, all);
    for (size_t i = 0; i < region.rank; ++i)
      all[count++] = region.dims[i].stride;
    std::sort(all, all + count, std::greater<uint64_t>());
    count = size_t(std::unique(all, all + count) - all);
    for (size_t i = 1; i < count; ++i)
      if (all[i - 1] % all[i] != 0)
        return false;
    std::copy(all, all + count, strides);
    numStrides = count;
    return true;
  }
  size_t numDigits() const { return numStrides; }

  /// Returns a region of the strides of this frame that has all bytes of
  /// `region`: of a step that is none of them, what it leaves out, too.
  Region hullOf(const Region &region) const {
    Region hull = region;
    hull.rank = 0;
    hull.isExact = true;
    const Region::Dimension *end = region.dims + region.rank;
    std::vector<uint64_t> extents(numStrides, 1); // from first to last piece
    for (const Region::Dimension *dim = region.dims; dim != end; ++dim) {
      size_t i = 0;
      while (dim->stride % strides[i] != 0)
        ++i;
      extents[i] += (dim->count - 1) * (dim->stride / strides[i]);
    }
    for (size_t i = 0; i < numStrides; ++i)
      if (extents[i] > 1 || i + 1 == numStrides)
        hull.dims[hull.rank++] = {extents[i], strides[i]};
    hull.mergeRuns();
    return hull;
  }

  /// Appends the digits of the boxes that a region of strides of this frame is
  /// made of; false where they are more than `most`.
  bool appendBoxes(const Region &region, size_t most,
                   std::vector<Range> &digits) const {
    Range box[kMostDigits];
    Walk walk{region, box, digits, digits.size() + most * numStrides};
    return addDimension(walk, region.rank, 0);
  }

private:
  static constexpr size_t kMostDigits =
      64; // each stride is twice the next, or more

  struct Walk {
    const Region &region;
    Range *box; ///< the digits that are known: from the last one on
    std::vector<Range> &digits;
    size_t most;
  };
  /// Digits `first` to `last` count the pieces of dimension `dim`.
  struct Pieces {
    size_t dim, first, last;
    uint64_t carry;
  };

  size_t digitOf(uint64_t stride) const {
    return size_t(std::lower_bound(strides, strides + numStrides, stride,
                                   std::greater<uint64_t>()) -
                  strides);
  }

  /// The dimensions from `dim` on are known: they lie in the piece of the one
  /// in front where the region begins, or, with a carry, in the next.
  bool addDimension(Walk &walk, size_t dim, uint64_t carry) const {
    const Region &region = walk.region;
    if (dim-- == 0) {
      walk.digits.insert(walk.digits.end(), walk.box, walk.box + numStrides);
      return walk.digits.size() <= walk.most;
    }
    size_t last = digitOf(region.dims[dim].stride);
    uint64_t begin = region.first / strides[last];
    uint64_t count = region.dims[dim].count;
    if (dim == 0)
      return addRange(walk, begin + carry, begin + carry + count,
                      {dim, 0, last, 0}, 0);
    size_t outer = digitOf(region.dims[dim - 1].stride);
    uint64_t limit = strides[outer] / strides[last];
    begin = begin % limit + carry;
    uint64_t end = begin + count;
    return (begin >= limit || addRange(walk, begin, std::min(end, limit),
                                       {dim, outer + 1, last, 0}, outer + 1)) &&
           (end <= limit ||
            addRange(walk, std::max(begin, limit) - limit, end - limit,
                     {dim, outer + 1, last, 1}, outer + 1));
  }

  /// Adds `begin` to `end`, which the digits from `digit` on write: the rest of
  /// the first row, whole rows, the beginning of the last one.
  bool addRange(Walk &walk, uint64_t begin, uint64_t end, const Pieces &pieces,
                size_t digit) const {
    uint64_t row = strides[digit] / strides[pieces.last];
    uint64_t first = begin / row, last = end / row;
    auto withRow = [&](uint64_t of, uint64_t from, uint64_t to) {
      walk.box[digit] = {of, of + 1};
      return addRange(walk, from, to, pieces, digit + 1);
    };
    if (begin % row != 0) {
      bool isOneRow = first == last;
      if (!withRow(first, begin % row, isOneRow ? end % row : row))
        return false;
      if (first++ == last)
        return true;
    }
    if (first < last) {
      walk.box[digit] = {first, last};
      for (size_t i = digit + 1; i <= pieces.last; ++i)
        walk.box[i] = {0, strides[i - 1] / strides[i]};
      if (!addDimension(walk, pieces.dim, pieces.carry))
        return false;
    }
    return end % row == 0 || withRow(last, 0, end % row);
  }

  uint64_t strides[kMostDigits]; ///< falling; the last is 1
  size_t numStrides = 0;
};

bool Region::overlaps(const Region &other) const {
  if (last <= other.first || other.last <= first)
    return false;
  const Region mine = asBoxes(), theirs = other.asBoxes();
  if (mine.rank == 1 && theirs.rank == 1)
    return true;
  BoxFrame frame;
  std::vector<Range> a, b;
  if (!frame.add(mine) || !frame.add(theirs) ||
      !frame.appendBoxes(mine, kMaxBoxesOfPair, a) ||
      !frame.appendBoxes(theirs, kMaxBoxesOfPair, b))
    return true;
  const size_t n = frame.numDigits();
  for (size_t i = 0; i < a.size(); i += n)
    for (size_t j = 0; j < b.size(); j += n)
      if (doOverlap(&a[i], &b[j], n))
        return true;
  return false;
}

/// What is left of `boxes` without `hole`: a box that it cuts is split at each
/// of its sides.
static std::vector<Box> subtract(const std::vector<Box> &boxes,
                                 const Range *hole) {
  std::vector<Box> left;
  for (Box box : boxes) {
    if (!doOverlap(box.data(), hole, box.size())) {
      left.push_back(std::move(box));
      continue;
    }
    for (size_t i = 0; i < box.size(); ++i) {
      Range &range = box[i];
      const Range &cut = hole[i];
      Box piece = box;
      if (range.begin < cut.begin) {
        piece[i] = {range.begin, cut.begin};
        left.push_back(piece);
        range.begin = cut.begin;
      }
      if (cut.end < range.end) {
        piece[i] = {cut.end, range.end};
        left.push_back(piece);
        range.end = cut.end;
      }
    }
  }
  return left;
}

/// Whether `parts`, which are boxes of `frame`, cover `region`, which is one,
/// too.
static bool isCoveredIn(const BoxFrame &frame, const Region &region,
                        const std::vector<Region> &parts) {
  const size_t n = frame.numDigits();
  std::vector<Range> digits;
  if (!frame.appendBoxes(region, kMaxBoxes, digits))
    return false;
  std::vector<Box> left;
  for (size_t i = 0; i < digits.size(); i += n)
    left.emplace_back(digits.begin() + ptrdiff_t(i),
                      digits.begin() + ptrdiff_t(i + n));
  constexpr size_t kMaxPieces = 4096; // what nobody writes on purpose
  for (const Region &part : parts) {
    digits.clear();
    bool isFew = frame.appendBoxes(part, kMaxBoxes, digits);
    for (size_t i = 0; isFew && i < digits.size(); i += n)
      left = subtract(left, &digits[i]);
    if (left.empty() || left.size() > kMaxPieces)
      break;
  }
  return left.empty();
}

bool Region::isCovered(const Region &region, Span<const Region> parts) {
  // In the radix of the region, and in that of the parts: a slice in steps that
  // do not divide a row is not a box there, but a part of one. A part without a
  // place in the radix covers nothing.
  BoxFrame own, ofParts;
  const Region boxes = region.asBoxes();
  const bool isBox = own.add(boxes);
  std::vector<Region> inOwn, inTheirs;
  for (const Region &part : parts) {
    if (part.isExact && part.rank == 1 && part.first <= region.first &&
        part.last >= region.last)
      return true;
    if (part.isExact && isBox && own.add(part))
      inOwn.push_back(part);
    if (part.isExact && ofParts.add(part))
      inTheirs.push_back(part);
  }
  return (!inOwn.empty() && isCoveredIn(own, boxes, inOwn)) ||
         (!inTheirs.empty() &&
          isCoveredIn(ofParts, ofParts.hullOf(region).asBoxes(), inTheirs));
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
