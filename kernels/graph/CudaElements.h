//===- CudaElements.h - the text of a graph for some elements ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A thread loads a vector of each operand, computes every primitive for each of
// its elements, and stores a vector of each result: all loads stand before all
// stores. Shapes and strides are numbers in the text, addresses are parameters.
// Values are in the type that is computed in, f32 for 16-bit elements. Every
// one is rounded to its type, as if it were stored: bits do not depend on what
// is in one call. Sums are the caller's matter. Only moves: all that computes
// is text of nvcc's (CudaScalars.h). Names of registers begin with %a, as none
// of nvcc's does.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CUDAELEMENTS_H
#define AICF_KERNELS_GRAPH_CUDAELEMENTS_H

#include "aicf/Status.h"
#include "aicf/TensorDesc.h"
#include "kernels/graph/SumsParams.h"
#include "lib/Base/Walk.h"
#include "lib/Ops/Graphs.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace aicf::cuda {

class ElementWriter {
public:
  /// `values` as graphTensors() gives them; both must outlive this. `extents`
  /// by number: what is reduced is not gone through element by element.
  ElementWriter(const Body &body, Span<const TensorView> values,
                const std::vector<Extent> &extents);

  using Lanes = std::vector<std::string>; ///< a register for each element

  /// Elements of each whole value.
  int64_t numElements() const { return elements; }
  /// The addresses in the order of the parameter: of operands, then of results.
  std::vector<uint64_t> addresses() const;

  /// Elements that a thread has side by side: the most, up to 8, that every
  /// tensor can be accessed in as a vector.
  int64_t widestVector() const;
  void setLanes(int64_t count) { lanes = count; }
  /// The kernel's parameter, which begins with the addresses.
  void setParameter(std::string name) { parameter = std::move(name); }

  /// Text that computes the whole values' elements from number `index`, a
  /// register of 64 bits, on: a multiple of the lanes.
  /// Errors: NotImplemented for a primitive without a function of scalars.
  StatusOr<std::string> elementsFrom(const std::string &index);
  /// The same where the kernel has computed the value `made`: `given` has its
  /// elements in what is computed in, not yet rounded.
  StatusOr<std::string> elementsBehind(uint32_t made, const Lanes &given,
                                       const std::string &index);
  /// Text that stores `sum`, a register of what is computed in, as element
  /// `index` of the result `value`, which is dense.
  StatusOr<std::string> storeOne(uint32_t value, const std::string &sum,
                                 const std::string &index);

  //===--- The same step by step ------------------------------------------===//

  /// What is known of some elements: where they are, and what they are.
  struct Elements {
    std::string first; ///< the number of the thread's first one, 64 bits
    /// Where each lane that has its own coordinates is, 64 bits each.
    std::vector<std::vector<std::string>> coordinates;
    std::vector<Lanes> registers; ///< of each value
    // As they were loaded, of operands and copies of them: NaNs stay what they
    // are.
    std::vector<Lanes> loaded;
  };
  /// Makes elements of which nothing is known.
  Elements noElements() const {
    return {{},
            {},
            std::vector<Lanes>(extents.size()),
            std::vector<Lanes>(extents.size())};
  }
  /// Goes on with other elements of the whole values.
  void exchange(Elements &other) { std::swap(whole, other); }
  const std::string &firstElement() const { return whole.first; }
  /// Moves to the whole values' elements from number `index` on. `row` and
  /// `column`, if they are known, are its place in a matrix of so many columns.
  void goTo(const std::string &index, const std::string &row = "",
            const std::string &column = "", int64_t columns = 0);
  /// The same for what is reduced.
  void goToReduced(const std::string &index) { reduced.first = index; }
  /// Loads an operand, unless it has been. What comes of it, loadOperand()
  /// says.
  void beginLoad(uint32_t operand);
  Status loadOperand(uint32_t operand);
  /// A place in shared memory for what a thread has of an operand. `address`
  /// has 64 bits; `isThere` is a predicate, or empty where it is in any case.
  struct Slot {
    std::string address, isThere;
  };
  /// True if a thread has what it loads of an operand side by side, and if no
  /// other thread loads the same.
  bool mayBeKept(uint32_t operand) const;
  /// Stores what was loaded of an operand.
  void keep(uint32_t operand, const Slot &slot);
  /// beginLoad() of what was kept. Where it is not, it is loaded again.
  void beginLoadKept(uint32_t operand, const Slot &slot);
  Status computePrimitive(size_t primitive);
  Status storeResult(uint32_t value);
  /// The elements of a value, as they are computed with; none before they are.
  const Lanes &lanesOf(uint32_t value) const {
    return (extents[value] == Extent::Whole ? whole : reduced).registers[value];
  }
  /// Gives a whole value the elements of a reduced one: as many as a thread
  /// has, or one for all of them.
  void repeat(uint32_t value, uint32_t left);
  void setLanesOf(uint32_t value, Lanes all) {
    of(value).registers[value] = std::move(all);
  }
  /// `function` of scalars of one element: a register.
  StatusOr<std::string> call(const std::string &function,
                             const Lanes &arguments, bool returns64Bits);
  /// Elements of type `from` as those of type `to`.
  StatusOr<Lanes> convert(const Lanes &lanes, DType from, DType to);
  template <typename... Args> void line(const Args &...args) {
    ((code += args), ...);
    code += ";\n";
  }
  void text(const std::string &more) { code += more; }
  /// What has been written since it was taken last.
  std::string takeCode() { return std::exchange(code, std::string()); }

  std::string newRegister(bool is64Bits) {
    return is64Bits ? "%ax" + std::to_string(num64++)
                    : "%aw" + std::to_string(num32++);
  }
  /// The declarations of all registers so far.
  std::string registers() const;
  /// The functions that are called, for ScalarText::define().
  const std::set<std::string> &functions() const { return called; }

private:
  Status computeWhole();
  Elements &of(uint32_t value) {
    return extents[value] == Extent::Whole ? whole : reduced;
  }
  /// How a tensor lies.
  enum class Lie { Dense, OneElement, Strided };
  static Lie lieOf(const TensorDesc &desc);
  const TensorDesc &descOf(size_t tensor) const {
    return values[tensors[tensor]].desc;
  }

  static std::string at(const std::string &address, int64_t bytes) {
    return "[" + address + "+" + std::to_string(bytes) + "]";
  }

  //===--- Where elements lie ---------------------------------------------===//

  bool fits(int64_t lanes) const;
  bool isVector(size_t tensor) const {
    return lies[tensor] == Lie::Dense ||
           (lies[tensor] == Lie::Strided && stepOf(tensor) == 1);
  }
  bool isFar(size_t tensor, int64_t count) const;
  bool isVectorOf(size_t tensor, int64_t count, uint64_t mostBytes) const;
  /// True if the elements of a thread may lie in different rows.
  bool crossesRows() const {
    return hasStrides && walks.dims[walks.rank - 1] % lanes != 0;
  }
  // Of a strided tensor.
  size_t walkOf(size_t tensor) const {
    return size_t(
        std::count(lies.begin(), lies.begin() + int64_t(tensor), Lie::Strided));
  }
  /// Elements from one lane to the next.
  int64_t stepOf(size_t tensor) const {
    return lies[tensor] == Lie::Dense        ? 1
           : lies[tensor] == Lie::OneElement ? 0
                                             : walks.step(walkOf(tensor));
  }
  std::vector<std::string> coordinatesOf(const std::string &index);
  std::string baseOf(size_t tensor);
  std::string addressOf(size_t tensor, size_t lane = 0);
  std::vector<std::string> placesOf(size_t tensor);

  //===--- Values ---------------------------------------------------------===//

  Lanes load(size_t tensor);
  void store(size_t tensor, const Lanes &lanes);
  // A vector of elements of `size` bytes; `space` is a state space of PTX's, or
  // empty for an address that may be of any.
  Lanes loadVector(const std::string &space, const std::string &address,
                   size_t size);
  void storeVector(const std::string &store, const std::string &address,
                   const Lanes &lanes, size_t size);
  Lanes unpacked(const Lanes &words, size_t size, size_t count);
  Lanes packed(const Lanes &lanes, size_t size);
  StatusOr<Lanes> each(const std::string &function,
                       const std::vector<Lanes> &arguments, DType result);
  StatusOr<Lanes> compute(size_t primitive);
  StatusOr<Lanes> rounded(const Lanes &lanes, DType type);
  StatusOr<Lanes> computeDropout(const Primitive &primitive);
  std::string literal(uint64_t bits, bool is64Bits);
  Lanes fieldsOf(const Primitive &primitive);

  const Body &body;
  Span<const TensorView> values;
  const std::vector<Extent> extents;
  std::vector<uint32_t> tensors; ///< values: operands, then results
  std::vector<Lie> lies;         ///< of each tensor
  int64_t elements = 0, lanes = 1;
  bool hasStrides = false;
  Walks<kMaxGraphTensors> walks; ///< of the strided tensors, in order

  std::string code, parameter;
  std::set<std::string> wideConstants; ///< registers of literal()
  size_t num32 = 0, num64 = 0, numScopes = 0, numLines = 0;
  Elements whole, reduced;
  std::set<std::string> called;
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_CUDAELEMENTS_H
