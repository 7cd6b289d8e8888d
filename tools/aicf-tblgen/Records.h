//===- Records.h - records as C++ structs -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Primitives, patterns of several and kernels, read from TableGen's records
// once for all back ends. A record that contradicts itself is a fatal error
// here; what is generated from them, each back end's file says.
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_TBLGEN_RECORDS_H
#define AICF_TOOLS_AICF_TBLGEN_RECORDS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

#include <vector>

namespace aicf::tblgen {
using namespace llvm;

/// The enumerator of a fact that every record must state.
StringRef factOf(const Record *record, StringRef fact);

struct Field {
  StringRef name, type, format, range, defaultValue;
  bool isComputed() const { return defaultValue == "computed"; }
  /// The size of its place in the blob.
  int bytes() const { return format == "d" || format == "q" ? 8 : 4; }
};

/// An operand or a result; results have a rule too.
struct Operand {
  StringRef name, presence, elementTypes, rule, of;
  bool isInferred = false;
  StringRef indexed = {}, exempt = {};
  int64_t axis = 0;
  bool isVariadic() const { return presence == "Variadic"; }
  bool isOptional() const { return presence == "Optional"; }
  bool isBool() const { return elementTypes == "Bool"; }
};

/// One Primitive record.
struct Primitive {
  const Record *record;
  StringRef name, fourcc, phase, precision, keepsZeros, reduction;
  int64_t kind;
  size_t numConstraints;
  std::vector<Field> fields;
  std::vector<Operand> operands, results;
  std::vector<std::pair<size_t, size_t>> ties;
  const DagInit *scalar;

  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  bool hasVariadic() const { return operands.front().isVariadic(); }
  bool isPointwise() const {
    return cast<DefInit>(scalar->getOperator())->getDef()->getName() != "none";
  }
  bool isElementwise() const {
    return isPointwise() || record->getValueAsBit("elementwise");
  }
  bool isSum() const { return reduction != "None"; }
  bool mayBeInGraph() const {
    return isElementwise() ||
           !record->getValueAsString("spreadOperand").empty();
  }
  /// Whether all operands and the result have one type, which may be a float.
  bool isUniform() const {
    return isPointwise() && results[0].rule == "Like" &&
           llvm::none_of(operands, [](const Operand &o) {
             return o.isBool() || o.elementTypes == "Int";
           });
  }
  /// Attrs struct, or the empty one.
  std::string attrsName() const {
    return fields.empty() ? "NoAttrs" : cppName() + "Attrs";
  }
};

/// The position of what is called `name`; fatal if nothing is.
size_t positionOf(const Record *record, ArrayRef<Operand> all, StringRef name);
/// All primitives by kind; fatal unless each kind is there once.
std::vector<Primitive> allPrimitives(const RecordKeeper &records);
/// The size of a primitive's attr blob.
int attrBytes(const Primitive &primitive);

/// A body of several primitives: see BodyPattern.
struct Node {
  StringRef name;
  const Primitive *kind;
  bool isOptional;
};
struct NodeSlot {
  size_t node, slot;
  bool isResult;
};
/// An operand that is a result of a node before, or the same as its
/// operand.
struct Binding {
  NodeSlot operand, to;
};
struct PatternTie {
  NodeSlot result, operand;
};
struct Pattern {
  const Record *record;
  StringRef name;
  std::vector<Node> nodes;
  int64_t maxGroups; ///< of a BatchPattern, or 0
  bool isGraph;      ///< a GraphPattern, whose node is its product
  std::vector<Binding> bindings;
  std::vector<PatternTie> ties;

  /// True for a BatchPattern in which fields of one group need not be another's.
  bool hasOwnFields() const { return record->getValueAsBit("ownFields"); }
  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  /// "gemm.c".
  NodeSlot place(StringRef text) const;
  /// Empty for a field of BatchPattern where this is none.
  std::vector<StringRef> list(StringRef field) const {
    return record->getValue(field) ? record->getValueAsListOfStrings(field)
                                   : std::vector<StringRef>();
  }
  /// Does the same; fatal for an operand where a result is meant, or a result.
  NodeSlot place(StringRef text, bool isResult) const;
  std::vector<NodeSlot> places(StringRef field, bool isResult) const {
    std::vector<NodeSlot> all;
    for (StringRef text : list(field))
      all.push_back(place(text, isResult));
    return all;
  }
};

/// All patterns; `kinds` must outlive them.
std::vector<Pattern> allBodyPatterns(const RecordKeeper &records,
                                     const std::vector<Primitive> &kinds);

/// One kernel of a family.
struct Kernel {
  const Record *family;
  StringRef pattern;   ///< of a kind, or of several
  std::string cppName; ///< of the same
  StringRef in, out;
  int64_t width;
  std::vector<const Primitive *> kinds; ///< of its body's primitives

  StringRef text(StringRef field) const {
    return family->getValueAsString(field);
  }
  /// The value of a field that is an enumerator.
  StringRef fact(StringRef field) const { return factOf(family, field); }
  bool isOfAnyTypes() const { return in == "any"; }
  std::string kid() const {
    if (isOfAnyTypes())
      return (pattern + (text("variantName").empty() ? "" : "_") +
              text("variantName") + "_v" +
              Twine(family->getValueAsInt("version")))
          .str();
    std::string in(this->in), types = in;
    if (fact("math") == "TF32")
      types = "tf32";
    StringRef rule = fact("kidTypes");
    if (rule == "Both" || (rule == "Different" && in != out))
      types += ("_" + out).str();
    std::string name = (pattern + "_" + types).str();
    if (!text("variantName").empty())
      name += ("_" + text("variantName")).str();
    else if (width > 1)
      name += "_vec" + std::to_string(width);
    return name + "_v" + std::to_string(family->getValueAsInt("version"));
  }
  std::string definition() const {
    std::string code(text("kernel"));
    auto put = [&](StringRef name, const std::string &value) {
      for (size_t at; (at = code.find(name)) != std::string::npos;)
        code.replace(at, name.size(), value);
    };
    put("$Kind", cppName);
    put("$Args", cppName + "Args");
    put("$E", (in == "i1" ? out : in).str());
    put("$T", in.str());
    put("$U", out.str());
    put("$V", std::to_string(width));
    return code;
  }
};

/// Element type in Types.h, and bytes of an element.
std::pair<std::string, int64_t> dtypeOf(const Record *family, StringRef name);
/// Row by row: kinds, then patterns, in each the families by preference.
std::vector<Kernel> allKernels(const RecordKeeper &records,
                               const std::vector<Primitive> &kinds);

/// Writes the tables of primitives that are defined by rows.
void emitRowDefinitions(ArrayRef<Primitive> kinds, raw_ostream &os);

/// Writes the head of a generated C++ file, with a guard if it has one.
void emitFileTop(StringRef path, StringRef purpose, StringRef guard,
                 raw_ostream &os);

} // namespace aicf::tblgen

#endif // AICF_TOOLS_AICF_TBLGEN_RECORDS_H
