//===- ViewsTest.cpp - views against lists of elements --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Random chains of views beside arrays of the numbers of their elements: what a
// view says lies at an index must be what NumPy's rules put there.
//===----------------------------------------------------------------------===//

#include "lib/Base/Views.h"
#include "lib/Base/Runs.h"
#include "lib/Base/Walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

using namespace aicf;

namespace {

using Numbers = std::vector<int64_t>;

/// A tensor of the numbers of a base's elements, in row-major order.
struct Array {
  Numbers shape, values;

  int64_t at(const Numbers &index) const {
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      place = place * shape[d] + index[d];
    return values[size_t(place)];
  }
};

Array make(const Numbers &shape, const std::function<int64_t(Numbers)> &value) {
  Array a{shape, {}};
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  for (int64_t i = 0; i < n; ++i) {
    Numbers index(shape.size());
    for (size_t d = shape.size(), rest = size_t(i); d-- > 0;) {
      index[d] = int64_t(rest) % shape[d];
      rest /= size_t(shape[d]);
    }
    a.values.push_back(value(index));
  }
  return a;
}

Numbers elementsOf(const ViewDesc &view) {
  Numbers places;
  forEachRun(view.desc, [&](int64_t, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      places.push_back(view.offset + start + i);
  });
  return places;
}

Numbers randomShape(std::mt19937 &random, int64_t elements) {
  Numbers shape;
  while (elements > 1) {
    Numbers divisors;
    for (int64_t d = 1; d <= elements; ++d)
      if (elements % d == 0)
        divisors.push_back(d);
    shape.push_back(divisors[random() % divisors.size()]);
    elements /= shape.back();
  }
  if (random() % 3 == 0)
    shape.insert(shape.begin() + long(random() % (shape.size() + 1)), 1);
  if (shape.size() > kMaxRank)
    shape = {std::accumulate(shape.begin(), shape.end(), int64_t(1),
                             std::multiplies<>())};
  return shape;
}

/// A view of a tensor that has each element once: transposed and reshaped.
ViewDesc shuffled(const ViewDesc &view, std::mt19937 &random) {
  Numbers permutation(view.desc.rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random);
  ViewDesc turned = transposed(view, permutation);
  return random() % 2
             ? turned
             : reshaped(turned, randomShape(random, turned.desc.elements()))
                   .value_or(turned);
}

/// Any strides under which no elements share a place.
ViewDesc randomPlace(const TensorDesc &shape, std::mt19937 &random) {
  Numbers order(shape.rank), strides(shape.rank);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  int64_t next = 1 + int64_t(random() % 2);
  for (int64_t d : order) {
    strides[size_t(d)] = next;
    next *= shape.dims[d] + int64_t(random() % 2);
  }
  return {TensorDesc::strided(shape.dtype, shape.shape(), strides),
          int64_t(random() % 5)};
}

TEST(Views, PlaceTheirBase) {
  std::mt19937 random(11);
  size_t numPlaced = 0, numRefused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    TensorDesc base(DType::F32, randomShape(random, 36));
    ViewDesc view = shuffled(shuffled({base, 0}, random), random);
    ViewDesc place = randomPlace(view.desc, random);
    std::optional<ViewDesc> placed = placedThrough(view, base, place);
    if (!placed) {
      // One dimension of the base in several of the view, which do not lie as
      // one: with a dense place there would be strides.
      ++numRefused;
      EXPECT_NE(view.desc.shape().size(), 1u);
      continue;
    }
    ++numPlaced;
    ASSERT_TRUE(placed->desc.sameShape(base));
    Numbers viewed = elementsOf(view), places = elementsOf(place),
            got = elementsOf(*placed);
    for (size_t i = 0; i < viewed.size(); ++i)
      ASSERT_EQ(got[size_t(viewed[i])], places[i]) << view.desc.toString();
  }
  EXPECT_GT(numPlaced, 500u);
  EXPECT_GT(numRefused, 10u);
}

TEST(Views, PlaceNoBaseOfWhichTheyHaveOnlyAPart) {
  TensorDesc base(DType::F32, {4, 6});
  auto isPlaced = [&](const ViewDesc &view) {
    return placedThrough(view, base, {view.desc.dense(), 0}).has_value();
  };
  EXPECT_TRUE(isPlaced({base, 0}));
  EXPECT_TRUE(isPlaced(transposed({base, 0}, Numbers{1, 0})));
  EXPECT_FALSE(isPlaced(
      sliced({base, 0}, Numbers{0, 0}, Numbers{4, 3}, Numbers{1, 1})));
  EXPECT_FALSE(isPlaced(
      sliced({base, 0}, Numbers{0, 0}, Numbers{2, 6}, Numbers{1, 1})));
  EXPECT_FALSE(isPlaced(broadcast({base, 0}, Numbers{2, 4, 6})));
}

TEST(Views, FollowTheirBase) {
  std::mt19937 random(13);
  size_t numFollowed = 0, numRefused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    TensorDesc base(DType::F32, randomShape(random, 36));
    ViewDesc view = shuffled({base, 0}, random);
    Numbers begin(view.desc.rank), end(begin), step(view.desc.rank, 1);
    for (size_t d = 0; d < begin.size(); ++d) {
      begin[d] = int64_t(random() % uint64_t(view.desc.dims[d]));
      end[d] = begin[d] + 1 +
               int64_t(random() % uint64_t(view.desc.dims[d] - begin[d]));
      step[d] = 1 + int64_t(random() % 2);
    }
    view = sliced(view, begin, end, step);
    ViewDesc placed = randomPlace(base, random);
    std::optional<ViewDesc> seen = followed(view, base, placed.desc);
    if (!seen) { // a dimension that goes along two of the base
      ++numRefused;
      continue;
    }
    ++numFollowed;
    placed.offset = 0;
    Numbers elements = elementsOf(view), places = elementsOf(placed),
            got = elementsOf(*seen);
    for (size_t i = 0; i < elements.size(); ++i)
      ASSERT_EQ(got[i], places[size_t(elements[i])]);
  }
  EXPECT_GT(numFollowed, 1000u);
  EXPECT_GT(numRefused, 10u);
}

/// Heads are parts of a row: a view has them as one dimension again.
TEST(Views, FollowDimensionsThatStayTogether) {
  const TensorDesc heads(DType::F32, {2, 3, 4, 5}), rows(DType::F32, {6, 20});
  const TensorDesc inRows =
      TensorDesc::strided(DType::F32, {2, 3, 4, 5}, {180, 60, 5, 1});
  std::optional<ViewDesc> seen = followed({rows, 0}, heads, inRows);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->desc, TensorDesc::strided(DType::F32, {6, 20}, {60, 1}));
  // Heads that lie apart make no row.
  const TensorDesc apart =
      TensorDesc::strided(DType::F32, {2, 3, 4, 5}, {180, 60, 8, 1});
  EXPECT_FALSE(followed({rows, 0}, heads, apart));
}

TEST(Views, AreWhatNumPySays) {
  std::mt19937 random(7);
  size_t reshapes = 0, refused = 0;
  for (int chain = 0; chain < 3000; ++chain) {
    Numbers shape = randomShape(random, 24);
    ViewDesc view{TensorDesc(DType::F32, shape), 0};
    Array array = make(shape, [](Numbers) { return 0; });
    std::iota(array.values.begin(), array.values.end(), 0);
    for (int step = 0; step < 4; ++step) {
      Numbers own(view.desc.shape().begin(), view.desc.shape().end());
      size_t rank = own.size();
      switch (random() % 4) {
      case 0: {
        Numbers to = randomShape(random, view.desc.elements());
        ++reshapes;
        std::optional<ViewDesc> made = reshaped(view, to);
        if (!made) { // no strides walk through the elements in this order
          ++refused;
          break;
        }
        view = *made;
        array.shape = to;
        break;
      }
      case 1: {
        Numbers permutation(rank), to;
        std::iota(permutation.begin(), permutation.end(), 0);
        std::shuffle(permutation.begin(), permutation.end(), random);
        for (int64_t from : permutation)
          to.push_back(own[size_t(from)]);
        view = transposed(view, permutation);
        array = make(to, [&](Numbers index) {
          Numbers from(rank);
          for (size_t d = 0; d < rank; ++d)
            from[size_t(permutation[d])] = index[d];
          return array.at(from);
        });
        break;
      }
      case 2: {
        Numbers begin, end, by, to;
        for (int64_t size : own) {
          begin.push_back(int64_t(random() % size_t(size)));
          end.push_back(begin.back() + 1 +
                        int64_t(random() % size_t(size - begin.back())));
          by.push_back(1 + int64_t(random() % 3));
          to.push_back((end.back() - begin.back() - 1) / by.back() + 1);
        }
        view = sliced(view, begin, end, by);
        array = make(to, [&](Numbers index) {
          for (size_t d = 0; d < rank; ++d)
            index[d] = begin[d] + index[d] * by[d];
          return array.at(index);
        });
        break;
      }
      default: {
        Numbers to = own;
        for (int64_t &size : to)
          size = size == 1 ? 1 + int64_t(random() % 3) : size;
        if (rank < 5 && random() % 2)
          to.insert(to.begin(), 2);
        size_t added = to.size() - rank;
        view = broadcast(view, to);
        array = make(to, [&](Numbers index) {
          Numbers from(index.begin() + long(added), index.end());
          for (size_t d = 0; d < rank; ++d)
            from[d] = own[d] == 1 ? 0 : from[d];
          return array.at(from);
        });
      }
      }
      if (view.desc.elements() > 4096)
        break;
      ASSERT_EQ(elementsOf(view), array.values) << view.desc.toString();
      Walk walk(view.desc);
      for (int64_t i = 0; i < view.desc.elements(); ++i)
        ASSERT_EQ(view.offset + walk.at(i), array.values[size_t(i)])
            << view.desc.toString();
    }
  }
  EXPECT_GT(reshapes, refused * 2);
  EXPECT_GT(refused, 100u);
}

/// A reshape that is refused would need strides that there are not: of two
/// neighbours along a dimension every pair must be as far apart.
TEST(Views, AreRefusedOnlyWhereNoStridesDo) {
  std::mt19937 random(11);
  size_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    Numbers shape = randomShape(random, 36), permutation(shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    ViewDesc view = transposed({TensorDesc(DType::F32, shape), 0}, permutation);
    Numbers to = randomShape(random, 36), places = elementsOf(view);
    bool exists = true;
    int64_t inner = 1;
    for (size_t d = to.size(); d-- > 0; inner *= to[d]) {
      std::optional<int64_t> stride;
      for (int64_t at = 0; at < 36; ++at) {
        if (at / inner % to[d] == to[d] - 1)
          continue;
        int64_t step = places[size_t(at + inner)] - places[size_t(at)];
        exists &= !stride || *stride == step;
        stride = step;
      }
    }
    refused += !exists;
    EXPECT_EQ(reshaped(view, to).has_value(), exists)
        << view.desc.toString() << " to "
        << TensorDesc(DType::F32, to).toString();
  }
  EXPECT_GT(refused, 100u);
}

TEST(Views, RowsAndMatrices) {
  auto strided = [](Numbers shape, Numbers strides) {
    return TensorDesc::strided(DType::F32, shape, strides);
  };
  EXPECT_TRUE(strided({4, 3}, {8, 1}).hasRows());
  EXPECT_EQ(strided({4, 3}, {8, 1}).pitch(), 8);
  EXPECT_FALSE(strided({4, 3}, {8, 2}).hasRows());
  EXPECT_FALSE(strided({4, 3}, {2, 1}).hasRows()); // rows overlap
  EXPECT_FALSE(strided({4, 3}, {0, 1}).hasRows());
  EXPECT_FALSE(strided({4, 3}, {0, 1}).hasMatrices());
  EXPECT_TRUE(strided({2, 4, 3}, {32, 8, 1}).hasRows());
  EXPECT_FALSE(strided({2, 4, 3}, {40, 8, 1}).hasRows());
  EXPECT_TRUE(strided({2, 4, 3}, {40, 8, 1}).hasMatrices());
  EXPECT_TRUE(strided({2, 4, 3}, {0, 8, 1}).hasMatrices());
  EXPECT_TRUE(strided({2, 4, 3}, {3, 6, 1}).hasMatrices()); // heads
  EXPECT_FALSE(strided({2, 1, 3}, {2, 9, 1}).hasRows());
  EXPECT_TRUE(strided({2, 1, 3}, {5, 9, 1}).hasRows());
  EXPECT_EQ(strided({2, 1, 3}, {5, 9, 1}).pitch(), 5);
  EXPECT_TRUE(TensorDesc(DType::F32, {}).hasRows());
}

/// Against the offsets of the elements themselves.
TEST(Walks, HaveVectorsWhereElementsLieSideBySide) {
  std::mt19937 random(5);
  int found = 0;
  for (int run = 0; run < 2000; ++run) {
    const Numbers shape = {1 + int64_t(random() % 3), 1 + int64_t(random() % 3),
                           2 * (1 + int64_t(random() % 4))};
    auto any = [&](bool isRepeated) {
      const int64_t of[] = {0, 1, 2, 3, 4, 6, 8, 12, 16};
      Numbers strides(3);
      for (int64_t &stride : strides)
        stride = of[random() % 9];
      strides[2] = isRepeated ? 0 : random() % 4 ? 1 : 2;
      return TensorDesc::strided(DType::F32, shape, strides);
    };
    const TensorDesc a = any(false), b = any(random() % 3 == 0);
    const TensorDesc *const both[] = {&a, &b};
    const Walks<2> walks(both);
    for (size_t n = 0; n < 2; ++n)
      for (int64_t width : {2, 4}) {
        bool areSideBySide = true, areOne = true;
        for (int64_t i = 0; i < a.elements(); ++i) {
          int64_t at[2], first[2];
          walks.at(uint64_t(i), at);
          walks.at(uint64_t(i / width * width), first);
          areSideBySide &= first[n] % width == 0 &&
                           at[n] == first[n] + i % width;
          areOne &= at[n] == first[n];
        }
        const bool holds = a.elements() % width == 0 &&
                           (walks.step(n) == 0 ? areOne : areSideBySide);
        EXPECT_TRUE(holds || !walks.hasVectors(n, width)) << "run " << run;
        found += walks.hasVectors(n, width);
      }
  }
  EXPECT_GT(found, 500);
}

} // namespace
