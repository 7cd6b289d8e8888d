//===- ArrayImport.cpp - arrays and numbers of others as arguments ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Arrays.h"
#include "lib/Base/Element.h"

#include <cctype>
#include <cstring>

namespace aicf::python {

std::optional<DType> dtypeOf(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  if (dtype.lanes != 1)
    return std::nullopt;
  switch (static_cast<Code>(dtype.code)) {
  case Code::Float:
    if (dtype.bits == 16)
      return DType::F16;
    if (dtype.bits == 32)
      return DType::F32;
    if (dtype.bits == 64)
      return DType::F64;
    return std::nullopt;
  case Code::Bfloat:
    return dtype.bits == 16 ? std::optional(DType::BF16) : std::nullopt;
  case Code::Int:
    if (dtype.bits == 32)
      return DType::I32;
    if (dtype.bits == 64)
      return DType::I64;
    return std::nullopt;
  case Code::Bool:
    return dtype.bits == 8 ? std::optional(DType::I1) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The name that NumPy and PyTorch have for a type.
static const char *numpyNameOf(DType dtype) {
  constexpr const char *names[kNumDTypes] = {
      "float32", "float16", "bfloat16", "float64", "int32", "int64", "bool"};
  return names[uint8_t(dtype)];
}

static std::string describe(nb::dlpack::dtype dtype) {
  if (auto known = dtypeOf(dtype))
    return std::string(nameOf(*known));
  const char *codes[] = {"int",    "uint",    "float", "opaque",
                         "bfloat", "complex", "bool"};
  std::string name = dtype.code < 7 ? codes[dtype.code] : "unknown";
  return dtype.code == 6 ? name : name + std::to_string(dtype.bits);
}

static std::string describe(const nb::ndarray<nb::ro> &array) {
  std::string text = "(";
  for (size_t i = 0; i < array.ndim(); ++i)
    text += (i ? ", " : "") + std::to_string(array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

static std::string typeName(nb::handle object) {
  return nb::cast<std::string>(
      nb::str(nb::handle((PyObject *)Py_TYPE(object.ptr())).attr("__name__")));
}

static bool isContiguous(const nb::ndarray<nb::ro> &array) {
  int64_t expected = 1;
  for (size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) != 1 && array.stride(i) != expected)
      return false;
    expected *= int64_t(array.shape(i));
  }
  return true;
}

/// Another's array; of NumPy's bf16, which it does not export, the bits.
struct View {
  nb::ndarray<nb::ro> array;
  std::optional<DType> dtype;
};

static bool isNumPyBFloat(nb::handle object) {
  nb::object dtype = nb::getattr(object, "dtype", nb::none());
  nb::object name = nb::getattr(dtype, "name", nb::none());
  return nb::isinstance<nb::str>(name) &&
         nb::cast<std::string>(name) == "bfloat16" &&
         nb::hasattr(object, "view");
}

/// What an array says that cannot be exported: a tensor that requires a
/// gradient.
static std::string whyNot(nb::handle object) {
  try {
    if (nb::hasattr(object, "__dlpack__"))
      (void)object.attr("__dlpack__")();
  } catch (nb::python_error &error) {
    return ": " + nb::cast<std::string>(nb::str(error.value()));
  }
  return {};
}

/// A view of `object`: on a GPU with the producer's work ordered before what is
/// enqueued on `nativeStream` next.
static View viewOf(nb::handle object, void *nativeStream, Access access,
                   const std::string &what) {
  nb::ndarray<nb::ro> view;
  nb::object exported = nb::borrow(object);
  if (nativeStream && nb::hasattr(object, "__dlpack_device__")) {
    nb::object where = object.attr("__dlpack_device__")();
    if (nb::cast<int>(where[0]) == nb::device::cuda::value)
      exported = object.attr("__dlpack__")(
          nb::arg("stream") = reinterpret_cast<intptr_t>(nativeStream));
  }
  if (access == Access::Read) {
    if (nb::try_cast(exported, view))
      return {view, dtypeOf(view.dtype())};
  } else {
    nb::ndarray<> writable;
    if (nb::try_cast(exported, writable))
      return {nb::ndarray<nb::ro>(writable), dtypeOf(writable.dtype())};
    if (nb::try_cast(exported, view))
      fail(StatusCode::InvalidArgument, what,
           " is written, but the array is read-only");
  }
  if (isNumPyBFloat(object))
    return {
        viewOf(object.attr("view")("uint16"), nativeStream, access, what).array,
        DType::BF16};
  fail(StatusCode::DTypeMismatch, what, " is a ", typeName(object),
       ", expected an array (NumPy, PyTorch, JAX, CuPy, or anything with "
       "__dlpack__)",
       whyNot(object));
}

static void checkPlace(const nb::ndarray<nb::ro> &view,
                       const DeviceHandle &device, const std::string &what,
                       Argument &argument) {
  int type = view.device_type();
  bool isHost =
      type == nb::device::cpu::value || type == nb::device::cuda_host::value;
  bool isCard = type == nb::device::cuda::value && !device.isCPU() &&
                view.device_id() == device.ordinal;
  if (!isHost && !isCard)
    fail(StatusCode::InvalidArgument, what, " is on ",
         type == nb::device::cuda::value
             ? "cuda:" + std::to_string(view.device_id())
             : "DLPack device " + std::to_string(type),
         ", expected the host", device.isCPU() ? "" : " or " + device.name());
  if (!isContiguous(view))
    fail(StatusCode::InvalidArgument, what,
         " is not contiguous: pass numpy.ascontiguousarray(x) or "
         "x.contiguous()");
  argument.space = isCard ? MemorySpace::Device : MemorySpace::Host;
}

/// A Python number for a 0-d tensor.
static bool importNumber(nb::handle object, const TensorDesc &expected,
                         const std::string &what, Argument &argument) {
  bool isInt = PyLong_Check(object.ptr()), isReal = PyFloat_Check(object.ptr());
  if (expected.rank != 0 || (!isInt && !isReal))
    return false;
  if (!isFloat(expected.dtype) && isReal)
    fail(StatusCode::DTypeMismatch, what, " is a float, expected ",
         nameOf(expected.dtype));
  argument.isScalar = true;
  argument.desc = expected;
  if (isFloat(expected.dtype)) {
    double value = PyFloat_AsDouble(object.ptr());
    if (PyErr_Occurred())
      throw nb::python_error();
    storeElement(expected.dtype, argument.scalar, value);
    return true;
  }
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  bool is32 = expected.dtype == DType::I32;
  if (overflow || (is32 && value != int32_t(value)))
    fail(StatusCode::InvalidArgument, what, " is too large for ",
         nameOf(expected.dtype));
  static_assert(sizeof(value) == sizeof(argument.scalar));
  std::memcpy(argument.scalar, &value, sizeof(value)); // i32: the first half
  return true;
}

/// Arrays of ours need no DLPack.
static bool importOwn(nb::handle object, const DeviceHandle &device,
                      const std::string &what, Argument &argument) {
  Array *array = nullptr;
  (void)nb::try_cast(object, array);
  if (!array)
    return false;
  if (array->data->device->name() != device.name() &&
      !array->data->device->isCPU())
    fail(StatusCode::InvalidArgument, what, " is on ",
         array->data->device->name(), ", expected ", device.name());
  {
    nb::gil_scoped_release release;
    check(array->data->synchronize());
  }
  argument.desc = array->data->desc;
  argument.data = array->data->memory.get();
  argument.space =
      array->data->device->isCPU() ? MemorySpace::Host : MemorySpace::Device;
  argument.owner.array = nb::borrow(object);
  return true;
}

static void checkDesc(const TensorDesc &expected, const std::string &what,
                      const TensorDesc &given) {
  if (given.dtype != expected.dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", nameOf(given.dtype),
         ", expected ", nameOf(expected.dtype));
  if (!given.sameShape(expected))
    fail(StatusCode::ShapeMismatch, what, " is ", given.toString(),
         ", expected ", expected.toString());
}

void importAny(nb::handle object, const DeviceHandle &device,
               void *nativeStream, Access access, const std::string &what,
               Argument &argument) {
  if (importOwn(object, device, what, argument))
    return;
  auto [view, dtype] = viewOf(object, nativeStream, access, what);
  if (!dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", describe(view.dtype()),
         ", expected f16, bf16, f32, f64, i32 or i64");
  if (view.ndim() > kMaxRank)
    fail(StatusCode::ShapeMismatch, what, " has ", view.ndim(),
         " dimensions, expected at most ", kMaxRank);
  checkPlace(view, device, what, argument);
  argument.desc =
      TensorDesc(*dtype, Span<const int64_t>(view.shape_ptr(), view.ndim()));
  argument.data = view.data();
  argument.owner.view = view;
}

/// What the user may call an array: input "labels" is `labels`.
static std::string variableOf(const std::string &what) {
  size_t first = what.find('"'), last = what.rfind('"');
  std::string name = what.substr(first + 1, last - first - 1);
  bool isName = !std::isdigit(uint8_t(name[0]));
  for (char c : name)
    isName &= std::isalnum(uint8_t(c)) || c == '_';
  return isName ? name : "x";
}

void importAs(nb::handle object, const TensorDesc &expected,
              const DeviceHandle &device, void *nativeStream, Access access,
              const std::string &what, Argument &argument) {
  if (importNumber(object, expected, what, argument))
    return;
  if (importOwn(object, device, what, argument))
    return checkDesc(expected, what, argument.desc);
  auto [view, dtype] = viewOf(object, nativeStream, access, what);
  if (dtype != expected.dtype)
    fail(StatusCode::DTypeMismatch, what, " is ", describe(view.dtype()),
         ", expected ", nameOf(expected.dtype), ": ", variableOf(what),
         ".astype(\"", numpyNameOf(expected.dtype), "\") converts NumPy's, ",
         variableOf(what), ".to(torch.", numpyNameOf(expected.dtype),
         ") PyTorch's");
  bool isSame = view.ndim() == expected.rank;
  for (size_t i = 0; isSame && i < view.ndim(); ++i)
    isSame = int64_t(view.shape(i)) == expected.dims[i];
  if (!isSame)
    fail(StatusCode::ShapeMismatch, what, " has shape ", describe(view),
         ", expected ", expected.toString());
  checkPlace(view, device, what, argument);
  argument.desc = expected;
  argument.data = view.data();
  argument.owner.view = view;
}

} // namespace aicf::python
