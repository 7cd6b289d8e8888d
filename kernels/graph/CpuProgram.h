//===- CpuProgram.h - a graph as a list of small kernels --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A graph runs piece by piece. A piece is a range of elements that is short
// enough for all values of it that exist inside to stay in the L1 cache. Each
// primitive of a piece is run by the kernel that a call of it alone would get,
// or by the loop of that kernel over some elements, so that its bits are the
// same.
//
//   operand  --(gather: strides)--> raw --(cast: 16 bits)--> wide
//   primitive: wide, ... -> wide
//   wide --(cast: 16 bits)--> raw --(scatter: strides)--> result
//
// Where the graph has reductions, a piece is some whole rows:
//
//   sum, mean: [rows, width] -> [rows]     repeat: [rows] -> [rows, width]
//   softmax and its like: [rows, width] -> [rows, width]
//
// Sums of longer rows, and of columns, are added up over many pieces: in f64,
// in the order of the kernels that only sum (RowSum.h). Nothing in the graph
// reads them.
//
// Dense operands and results are read and written where they lie, but for large
// results, which go past the caches piece by piece (Stream.h). `wide` is the
// type that is computed in, f32 for 16-bit elements. Every value is rounded to
// its type, as if it were stored: bits do not depend on what is in one call.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CPUPROGRAM_H
#define AICF_KERNELS_GRAPH_CPUPROGRAM_H

#include "kernels/cpu/Kernels.h"
#include "kernels/graph/Family.h"
#include "lib/Base/Walk.h"

namespace aicf::cpu {

/// Elements of a piece: as many as kRegisterBytes hold, within these limits.
/// But one row at least.
inline constexpr int64_t kMinPiece = 64, kMaxPiece = families::kMostOfCpuRow;
/// Elements of a piece where all steps are elementwise. With 512, tensors in a
/// cache take 1.2 times as long, and with 2048 those of 64 MiB 1.1 times.
inline constexpr int64_t kElementsPiece = 1024;
inline constexpr size_t kRegisterBytes = 32 << 10;
/// Bytes of an operand from which on its next piece is fetched ahead: the updates of
/// AdamW as a graph take 0.8 times as long for 4 and 16 MiB.
inline constexpr int64_t kFetchedBytes = 64 << 10;
/// What the largest graph of the smallest pieces needs.
inline constexpr size_t kMaxRegisterBytes = families::kCpuRegisterBytes;
/// Tensors that the steps of a program name. A kernel has two at least.
inline constexpr size_t kMaxViews = 320, kMaxKernels = kMaxViews / 2;

/// The steps of one call of a graph.
class GraphProgram : public CpuPrepared {
public:
  /// `values` are those of a call that the graph's kernel takes, with their
  /// addresses: they say which results lie over which operands.
  /// Errors: NotImplemented for a primitive without a kernel of its own, and
  /// for a body that is larger than the family allows.
  static StatusOr<std::shared_ptr<const CpuPrepared>>
  create(const Body &body, Span<const TensorView> values);

  void run(Span<const TensorView> values, int numThreads) const;

  /// What a thread has in registers, for one piece: up to kMaxRegisterBytes.
  size_t memoryBytes() const { return numRegisters * registerBytes; }

private:
  struct Place;
  static TensorDesc descOf(Place place, int64_t elements, int64_t width);

  friend class GraphCompiler;
  friend class GraphWorker;

  /// Where the elements of a piece lie: in a register, which is memory for one
  /// piece, or in a dense tensor of the call.
  struct Place {
    enum Kind : uint8_t { Register, Tensor } kind = Register;
    uint32_t number = 0; ///< of a register, or of a value of the body
    DType dtype = DType::F32;
    /// How a kernel sees the piece: as its elements in a row, as rows, as one
    /// element of each row, or as the one element that all pieces share.
    enum Form : uint8_t { Flat, Rows, Left, One } form = Flat;
  };
  struct Step {
    enum Kind : uint8_t { Gather, Kernel, Scatter, AddUp } kind = Kernel;
    // Of Kernel: a call of one primitive of the views [firstView, ...).
    CpuKernel function = nullptr;
    std::shared_ptr<const Body> body;
    // Instead of `function`, where the primitive is elementwise.
    ElementsFunction elements = nullptr;
    uint32_t firstView = 0, numViews = 0;
    // Of the others: the piece, and the tensor with its strides, or the number
    // of the sum that the piece is added to.
    Place piece;
    uint32_t tensor = 0;
    Walk walk;
    bool streams = false; ///< Scatter: past the caches
  };
  /// A sum over many pieces.
  struct Sum {
    uint32_t value = 0; ///< the result that it is
    double divisor = 1;
  };
  /// What pieces follow each other.
  enum class Order : uint8_t {
    Elements, ///< of all elements; where there are reductions, in whole rows
    LongRows, ///< of one row, which is added up
    Columns   ///< of some columns, which are added up
  };
  /// How pieces are cut: `piece` elements at most, whole rows of `width`. What
  /// is added up is the middle of [outer, size, inner].
  struct Cut {
    Order order = Order::Elements;
    int64_t width = 1, piece = kMaxPiece;
    int64_t outer = 1, size = 1, inner = 1;
  };
  static StatusOr<Cut> cutOf(const Body &body, Span<const TensorView> values);

  void runElements(Span<const TensorView> values, int numThreads) const;
  void runLongRows(Span<const TensorView> values, int numThreads) const;
  void runColumns(Span<const TensorView> values, int numThreads) const;
  void store(Span<const TensorView> values, const double *sums, int64_t count,
             int64_t first) const;

  int64_t elements = 0;
  Cut cut;
  size_t registerBytes = 0; ///< of one register, for one piece
  size_t numRegisters = 0;
  size_t numInvariant = 0; ///< first steps, whose values all pieces share
  bool streams = false;    ///< a step does
  std::vector<Step> steps;
  std::vector<Place> views;     ///< of all Kernel steps
  std::vector<uint32_t> moving; ///< views of tensors, of which each piece has
                                ///< its own part
  std::vector<bool> isPlain;    ///< views of which only the address is needed
  /// Large operands, of which the next piece is fetched while one is computed:
  /// bytes of an element, by number.
  std::vector<std::pair<uint32_t, int64_t>> fetched;
  std::vector<Sum> sums;        ///< kGraphSums at most
};

} // namespace aicf::cpu

#endif // AICF_KERNELS_GRAPH_CPUPROGRAM_H
