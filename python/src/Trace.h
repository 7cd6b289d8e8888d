//===- Trace.h - aicf IR, built op by op and compiled -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What Python's tracer asks of MLIR, in types that need neither MLIR nor
// Python: a module that functions are added to op by op, inferred and verified
// as they come, and that is lowered to a plan. Errors are diagnostics; nothing
// is printed and nothing is thrown. Every trace has a context of its own, so
// that threads trace and compile side by side.
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_TRACE_H
#define AICF_PYTHON_TRACE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace aicf::python {

struct SourceLine {
  std::string file;
  unsigned line = 0;      ///< from 1; 0: unknown
  std::string layer = {}; ///< path of the module whose forward() it is, or ""
};

struct Diagnostic {
  std::string severity; ///< "error", "warning", "remark" or "note"
  std::string message;
  SourceLine where;
  std::vector<Diagnostic> notes;
};
using Diagnostics = std::vector<Diagnostic>;

/// An element type by its name, "f32".
struct DTypeName {
  std::string name;
};
/// An attribute as MLIR writes it.
struct AttributeText {
  std::string text;
};
/// Dense elements, little endian and row-major; the bytes of one stand for all.
struct Elements {
  std::vector<int64_t> shape;
  DTypeName dtype;
  std::string bytes;
};
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                 DTypeName, AttributeText, Elements>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// A value of the function that is being traced.
struct TracedValue {
  size_t id = 0; ///< counts the function's values in trace order
  std::vector<int64_t> shape;
  std::string dtype;
};

/// The operands of an op by the slots of its definition: one value, none (an
/// optional operand that is absent), or a list.
using OperandSlot = std::variant<std::monostate, size_t, std::vector<size_t>>;

/// A result of an entry: the value, and what aicf says of it.
struct TracedResult {
  size_t value = 0;
  Attributes attributes;
};

/// How far a module is lowered.
enum class Stage { Traced, AICF, AICFRT, Plan };

class TracedModule {
public:
  TracedModule();
  ~TracedModule();
  TracedModule(const TracedModule &) = delete;
  TracedModule &operator=(const TracedModule &) = delete;

  /// Text in place of a trace. Null, with diagnostics, if it does not parse.
  static std::unique_ptr<TracedModule> parse(const std::string &text,
                                             const std::string &fileName,
                                             Diagnostics &diagnostics);

  // One function at a time: begin, arguments and ops in any order, end.
  // Everything is false or empty, with diagnostics, where MLIR refuses it.

  bool beginFunction(const std::string &name, const SourceLine &where,
                     Diagnostics &diagnostics);
  std::optional<TracedValue> addArgument(const std::vector<int64_t> &shape,
                                         const std::string &dtype,
                                         const Attributes &attributes,
                                         const SourceLine &where,
                                         Diagnostics &diagnostics);
  std::optional<std::vector<TracedValue>>
  emit(const std::string &op, const std::vector<OperandSlot> &operands,
       const Attributes &attributes, const SourceLine &where,
       Diagnostics &diagnostics);
  /// Ops that are emitted from now on are members of that block, whose values the
  /// backward pass computes again; "" for none.
  void setRecomputed(const std::string &block);
  /// What is emitted up to endMap() is computed for each element of the operands:
  /// the values are these elements, 0-d. Null if a map is begun already.
  std::optional<std::vector<TracedValue>>
  beginMap(const std::vector<size_t> &operands, const SourceLine &where,
           Diagnostics &diagnostics);
  /// The map whose elements are `element`.
  std::optional<TracedValue> endMap(size_t element, Diagnostics &diagnostics);
  void abandonMap();
  /// What is emitted up to endRepeat() runs `times` times. The values are the
  /// number of the run (i64, 0-d), and what the run before gave for each of the
  /// inits. Null inside of a map or of another repeat.
  std::optional<std::vector<TracedValue>>
  beginRepeat(int64_t times, const std::vector<size_t> &inits,
              const SourceLine &where, Diagnostics &diagnostics);
  /// What the last run has given; `next` is what each run gives.
  std::optional<std::vector<TracedValue>>
  endRepeat(const std::vector<size_t> &next, Diagnostics &diagnostics);
  void abandonRepeat();
  bool endFunction(const std::vector<TracedResult> &results,
                   const Attributes &attributes, Diagnostics &diagnostics);
  /// Forgets the function that was begun.
  void abandonFunction();
  /// Removes a finished one; false if there is none of that name.
  bool eraseFunction(const std::string &name);

  /// The module as MLIR, with or without locations.
  std::string text(bool withLocations) const;
  /// A copy, lowered to `stage`; `options` as --lower-to-backend takes them,
  /// "target=cpu streams=2"; of the functions in `only` unless there are none. With `remarks` what was fused,
  /// copied and chosen is among the diagnostics, which may hold warnings when
  /// it succeeds.
  std::unique_ptr<TracedModule> lower(const std::string &options, Stage stage,
                                      bool remarks,
                                      const std::vector<std::string> &only,
                                      Diagnostics &diagnostics) const;
  /// The bytes of the plan file, of a module lowered to Stage::Plan.
  std::optional<std::vector<uint8_t>> plan(Diagnostics &diagnostics) const;
  /// The calls of each entry, in the seeds' form. `stage` as the module is.
  std::string dumpCalls(Diagnostics &diagnostics) const;

private:
  struct Impl;
  /// A copy of the module, in the same context.
  explicit TracedModule(const Impl &from);
  std::unique_ptr<Impl> impl;
};

} // namespace aicf::python

#endif // AICF_PYTHON_TRACE_H
