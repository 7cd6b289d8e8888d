//===- CpuRun.cpp - the steps of a graph, piece by piece ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Runs what CpuProgram.cpp makes. Which thread has which pieces changes no
// bits: sums are added up in the parts of RowSum.h.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/RowSum.h"
#include "kernels/cpu/Stream.h"
#include "kernels/graph/CpuProgram.h"
#include "lib/Base/Element.h"
#include "lib/Base/ElementSize.h"

#include <algorithm>
#include <cstring>

namespace aicf::cpu {
namespace {

/// Calls run(at, step, count) for the runs of `count` elements, from element
/// `begin` on, that lie `step` apart, in elements from the first one.
template <typename Run>
void forEachRun(const Walk &walk, int64_t begin, int64_t count, Run run) {
  const int last = walk.rank - 1;
  const int64_t width = walk.dims[last], step = walk.strides[last];
  int64_t index[kMaxRank], start = 0, row = begin / width;
  for (int d = last - 1; d >= 0; --d) {
    index[d] = row % walk.dims[d];
    row /= walk.dims[d];
    start += index[d] * walk.strides[d];
  }
  for (int64_t column = begin % width; count > 0; column = 0) {
    const int64_t length = std::min(count, width - column);
    run(start + column * step, step, length);
    count -= length;
    for (int d = last - 1; d >= 0; --d) {
      start += walk.strides[d];
      if (++index[d] < walk.dims[d])
        break;
      start -= index[d] * walk.strides[d];
      index[d] = 0;
    }
  }
}

template <typename T>
void gather(const Walk &walk, const T *from, int64_t begin, int64_t count,
            T *to) {
  forEachRun(walk, begin, count, [&](int64_t at, int64_t step, int64_t length) {
    if (step == 1)
      std::memcpy(to, from + at, size_t(length) * sizeof(T));
    else if (step == 0)
      std::fill_n(to, length, from[at]);
    else
      for (int64_t i = 0; i < length; ++i)
        to[i] = from[at + i * step];
    to += length;
  });
}
template <typename T>
void scatter(const Walk &walk, const T *from, int64_t begin, int64_t count,
             T *to) {
  forEachRun(walk, begin, count, [&](int64_t at, int64_t step, int64_t length) {
    if (step == 1 && to + at != from) // in place there is nothing to do
      std::memcpy(to + at, from, size_t(length) * sizeof(T));
    else
      for (int64_t i = 0; i < length; ++i)
        to[at + i * step] = from[i];
    from += length;
  });
}

} // namespace

/// Runs a program on ranges of elements.
class GraphWorker {
public:
  using Place = GraphProgram::Place;
  using Step = GraphProgram::Step;

  /// `registers` has GraphProgram::memoryBytes().
  GraphWorker(const GraphProgram &program, Span<const TensorView> values,
              char *registers)
      : program(program), values(values), registers(registers) {
    for (size_t v = 0; v < program.views.size(); ++v) {
      const Place place = program.views[v];
      starts[v] = addressOf(place, 0);
      if (!program.isPlain[v])
        new (&views()[v])
            TensorView(starts[v], GraphProgram::descOf(place, program.cut.piece,
                                                       program.cut.width));
    }
    for (const Step &step : program.steps)
      if (step.kind == Step::Kernel && !step.elements)
        new (&callOf(step))
            LaunchArgs(*step.body, {views() + step.firstView, step.numViews});
  }
  ~GraphWorker() {
    if (program.streams)
      endStreaming();
  }

  void run(int64_t begin, int64_t end) {
    const int64_t most = program.cut.piece;
    for (int64_t at = begin; at < end; at += most) {
      nextBegin = at + most;
      nextEnd = std::min(at + 2 * most, end);
      runPiece(at, std::min(most, end - at), at == begin);
    }
  }
  /// Columns [first, first + width) of rows [begin, end).
  void runStrip(int64_t first, int64_t width, int64_t begin, int64_t end) {
    const int64_t inner = program.cut.inner;
    if (width == inner)
      return run(begin * inner, end * inner);
    for (int64_t row = begin; row < end; ++row)
      runPiece(row * inner + first, width, row == begin);
  }
  /// Where sums are added up: in as many columns, or in lanes.
  void addTo(double *memory, int64_t columns) {
    sums = memory;
    sumsOfOne = columns;
  }

private:
  TensorView *views() { return reinterpret_cast<TensorView *>(viewBytes); }
  LaunchArgs &callOf(const Step &step) {
    return reinterpret_cast<LaunchArgs *>(callBytes)[step.firstView / 2];
  }
  char *registerAt(uint32_t number) {
    return registers + number * program.registerBytes;
  }
  /// A number of elements from the first on, as a place counts them.
  int64_t countOf(Place place, int64_t number) const {
    return place.form == Place::Left  ? number / program.cut.width
           : place.form == Place::One ? 0
                                      : number;
  }
  char *addressOf(Place place, int64_t at) {
    return place.kind == Place::Register
               ? registerAt(place.number)
               : static_cast<char *>(values[place.number].start()) +
                     countOf(place, at) * int64_t(sizeOf(place.dtype));
  }
  void setLength(int64_t elements) {
    for (size_t v = 0; v < program.views.size() && elements != count; ++v)
      if (Place::Form form = program.views[v].form;
          form != Place::One && !program.isPlain[v])
        views()[v].desc.dims[0] =
            form == Place::Flat ? elements : elements / program.cut.width;
    count = elements;
  }
  /// Elements [at, at + length), with what all pieces share if it `isFirst`.
  void runPiece(int64_t at, int64_t length, bool isFirst) {
    setLength(length);
    for (uint32_t v : program.moving) {
      starts[v] = addressOf(program.views[v], at);
      if (!program.isPlain[v])
        views()[v].moveTo(starts[v]);
    }
    const auto numSteps = int64_t(program.steps.size());
    beginFetching(numSteps);
    for (int64_t s = isFirst ? 0 : int64_t(program.numInvariant); s < numSteps;
         ++s) {
      fetchSome();
      runStep(program.steps[size_t(s)], at);
    }
  }
  /// The next piece of each large operand is fetched line by line, some before
  /// each step: memory is read while this piece is computed and stored.
  void beginFetching(int64_t numSteps) {
    fetchedOperand = 0;
    fetchedAt = fetchedEnd = nullptr;
    int64_t lines = 0;
    for (const auto &[operand, size] : program.fetched)
      lines += std::max<int64_t>(0, nextEnd - nextBegin) * size / kLineBytes;
    linesOfStep = (lines + numSteps - 1) / numSteps;
  }
  void fetchSome() {
    for (int64_t i = 0; i < linesOfStep; ++i, fetchedAt += kLineBytes) {
      while (fetchedAt >= fetchedEnd) {
        if (fetchedOperand == program.fetched.size())
          return;
        const auto [operand, size] = program.fetched[fetchedOperand++];
        const char *start = static_cast<char *>(values[operand].start());
        fetchedAt = start + nextBegin * size;
        fetchedEnd = start + nextEnd * size;
      }
      __builtin_prefetch(fetchedAt);
    }
  }
  void runStep(const Step &step, int64_t at) {
    if (step.kind == Step::AddUp)
      return addUp(step, at);
    if (step.kind != Step::Kernel)
      return move(step, at);
    if (step.elements) {
      const uint32_t last = step.firstView + step.numViews - 1;
      return step.elements(step.body->primitives[0].attrs,
                           starts + step.firstView, starts[last],
                           countOf(program.views[last], count));
    }
    LaunchArgs &call = callOf(step);
    call.firstElement = at;
    step.function(call);
  }
  void move(const Step &step, int64_t at) {
    byElementSize(step.piece.dtype, [&](auto element) {
      using T = decltype(element);
      T *piece = reinterpret_cast<T *>(addressOf(step.piece, at));
      T *tensor = values[step.tensor].strided<T>();
      const int64_t begin = countOf(step.piece, at);
      const int64_t length = countOf(step.piece, count);
      if (step.streams)
        streamBytes(tensor + begin, piece, length * int64_t(sizeof(T)));
      else if (step.kind == Step::Gather)
        gather<T>(step.walk, tensor, begin, length, piece);
      else
        scatter<T>(step.walk, piece, begin, length, tensor);
    });
  }
  void addUp(const Step &step, int64_t at) {
    const char *piece = addressOf(step.piece, at);
    if (step.piece.dtype == DType::F64)
      addUp(reinterpret_cast<const double *>(piece), step.tensor);
    else
      addUp(reinterpret_cast<const float *>(piece), step.tensor);
  }
  template <typename T> void addUp(const T *piece, size_t sum) {
    const int64_t columns = sumsOfOne;
    double *to = sums + int64_t(sum) * columns;
    if (program.cut.order == GraphProgram::Order::Columns)
      runWithBestISA(
          [=](int64_t, int64_t rows) {
            addColumns(piece, columns, rows, columns, to);
          },
          0, count / columns);
    else
      runWithBestISA([=](int64_t, int64_t n) { addToLanes(piece, n, to); }, 0,
                     count);
  }

  const GraphProgram &program;
  Span<const TensorView> values;
  char *const registers;
  int64_t count = -1;
  double *sums = nullptr;
  int64_t sumsOfOne = 0; ///< columns or lanes
  int64_t nextBegin = 0, nextEnd = 0; ///< elements of the next piece
  size_t fetchedOperand = 0;
  int64_t linesOfStep = 0;
  const char *fetchedAt = nullptr, *fetchedEnd = nullptr;
  void *starts[kMaxViews];
  // Are not cleared.
  alignas(TensorView) char viewBytes[kMaxViews * sizeof(TensorView)];
  alignas(LaunchArgs) char callBytes[kMaxKernels * sizeof(LaunchArgs)];
};

/// Calls use(worker), with registers on the stack. No more of it is taken than
/// needed: a caller's may be small.
template <typename Use>
[[gnu::noinline]] static void withWorker(const GraphProgram &program,
                                         Span<const TensorView> values,
                                         const Use &use) {
  constexpr uintptr_t kAlignment = 64;
  void *memory = __builtin_alloca(program.memoryBytes() + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  GraphWorker worker(program, values,
                     static_cast<char *>(memory) +
                         (kAlignment - address % kAlignment));
  use(worker);
}

void GraphProgram::run(Span<const TensorView> values, int numThreads) const {
  switch (cut.order) {
  case Order::Elements:
    return runElements(values, numThreads);
  case Order::LongRows:
    return runLongRows(values, numThreads);
  case Order::Columns:
    return runColumns(values, numThreads);
  }
}

void GraphProgram::runElements(Span<const TensorView> values,
                               int numThreads) const {
  // What all pieces share is made once for each block. Elements that are too few for
  // large blocks of every thread are shared all the same.
  constexpr int64_t kShare = 8 * kMaxPiece;
  int64_t block = elements < 4 * kShare ? kMaxPiece : kShare;
  block = std::max(block / cut.piece, int64_t(1)) * cut.piece;
  parallelFor(elements, block, numThreads, elements * int64_t(steps.size()),
              [&](int64_t begin, int64_t end) {
                withWorker(*this, values, [=](GraphWorker &worker) {
                  worker.run(begin, end);
                });
              });
}

/// Each of `count` sums of one kind, from result element `first` on.
void GraphProgram::store(Span<const TensorView> values, const double *of,
                         int64_t count, int64_t first) const {
  for (size_t s = 0; s < sums.size(); ++s) {
    const TensorView &result = values[sums[s].value];
    const auto bytes = int64_t(sizeOf(result.desc.dtype));
    for (int64_t j = 0; j < count; ++j)
      storeElement(result.desc.dtype,
                   result.dense<char>() + (first + j) * bytes,
                   of[int64_t(s) * count + j] / sums[s].divisor);
  }
}

void GraphProgram::runLongRows(Span<const TensorView> values,
                               int numThreads) const {
  constexpr auto kMostSums = int64_t(families::kGraphSums);
  const int64_t parts = cut.size >= kVeryLongRow ? kPartials : 1;
  const bool shareParts = parts > 1 && cut.outer < parts;
  auto runRow = [&](int64_t row, int64_t) {
    double of[kMostSums];
    sumOfParts<kPartials, kMostSums>(
        cut.size, parts, int64_t(sums.size()), shareParts ? numThreads : 1,
        [&](int64_t begin, int64_t end, double *to) {
          double lanes[kMostSums][kRowLanes] = {};
          withWorker(*this, values, [&](GraphWorker &worker) {
            worker.addTo(lanes[0], kRowLanes);
            worker.run(row * cut.size + begin, row * cut.size + end);
          });
          for (size_t s = 0; s < sums.size(); ++s)
            to[s] = sumOfLanes(lanes[s]);
        },
        of);
    store(values, of, 1, row);
  };
  parallelFor(cut.outer, 1, shareParts ? 1 : numThreads,
              elements * int64_t(steps.size()), runRow);
}

void GraphProgram::runColumns(Span<const TensorView> values,
                              int numThreads) const {
  const auto numSums = int64_t(sums.size());
  const int64_t columns = cut.width > 1 ? cut.width : cut.piece;
  const int64_t strips = (cut.inner + columns - 1) / columns;
  const int64_t parts = columnParts(cut.size);
  const bool shareParts = parts > 1 && cut.outer * strips < parts;
  // The sums of a strip, whose parts are those that `addPart` puts somewhere.
  auto runStrip = [&](int64_t strip, const auto &addPart) {
    const int64_t o = strip / strips, first = strip % strips * columns;
    const int64_t width = std::min(columns, cut.inner - first);
    double of[kMostColumns];
    sumOfParts<kMostColumnParts, kMostColumns>(
        cut.size, parts, numSums * width, shareParts ? numThreads : 1,
        [&](int64_t begin, int64_t end, double *to) {
          std::fill_n(to, numSums * width, 0.0);
          addPart([=](GraphWorker &worker) {
            worker.addTo(to, width);
            worker.runStrip(first, width, o * cut.size + begin,
                            o * cut.size + end);
          });
        },
        of);
    store(values, of, width, o * cut.inner + first);
  };
  if (shareParts) {
    for (int64_t strip = 0; strip < cut.outer * strips; ++strip)
      runStrip(strip, [&](const auto &use) { withWorker(*this, values, use); });
    return;
  }
  const int64_t block = std::max<int64_t>(1, kMaxPiece / (columns * cut.size));
  parallelFor(cut.outer * strips, block, numThreads,
              elements * int64_t(steps.size()),
              [&](int64_t begin, int64_t end) {
                withWorker(*this, values, [&](GraphWorker &worker) {
                  for (int64_t strip = begin; strip < end; ++strip)
                    runStrip(strip, [&](const auto &use) { use(worker); });
                });
              });
}

} // namespace aicf::cpu
