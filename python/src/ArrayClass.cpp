//===- ArrayClass.cpp - aicf.Array for Python ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Element.h"
#include "python/src/Arrays.h"

namespace aicf::python {

DType parseDType(const std::string &name) {
  if (auto dtype = parseEnum<DType>(name, kNumDTypes))
    return *dtype;
  fail(StatusCode::InvalidArgument, "\"", name,
       "\" is not an element type, expected f16, bf16, f32, f64, i32, i64 or "
       "i1");
}

nb::tuple shapeTuple(const TensorDesc &desc) {
  nb::object shape = nb::steal(PyTuple_New(desc.rank));
  for (size_t i = 0; i < desc.rank; ++i)
    PyTuple_SetItem(shape.ptr(), Py_ssize_t(i),
                    PyLong_FromLongLong(desc.dims[i]));
  return nb::borrow<nb::tuple>(shape);
}

namespace {

/// What an operator copies from a GPU without being asked to.
constexpr uint64_t kSmallBytes = 64 << 10;

bool isSmall(const Array &array) {
  return array.data->device->isCPU() ||
         array.data->desc.spanBytes() <= kSmallBytes;
}

/// The values as NumPy's, of bf16 as f32: for people, and for arithmetic on the
/// host.
nb::object hostValues(Array &array) {
  const TensorDesc &desc = array.data->desc;
  if (!isSmall(array))
    throw nb::type_error(
        ("an array of " + std::to_string(desc.elements()) +
         " elements on a GPU is not copied silently: take numpy() once")
            .c_str());
  return wideNumPy(array);
}

/// What stands for an array in an expression: a number for a 0-d one.
nb::object operand(nb::handle object) {
  Array *array = nullptr;
  (void)nb::try_cast(object, array);
  if (!array)
    return nb::borrow(object);
  return array->data->desc.rank == 0 ? item(*array) : hostValues(*array);
}

std::string repr(Array &array) {
  const TensorDesc &desc = array.data->desc;
  std::string text = "aicf.Array(";
  if (desc.rank == 0)
    text += nb::cast<std::string>(nb::str(nb::repr(item(array)))) + ", ";
  else if (isSmall(array))
    text += nb::cast<std::string>(nb::module_::import_("numpy").attr(
                "array2string")(hostValues(array), nb::arg("separator") = ", ",
                                nb::arg("prefix") = text)) +
            ", ";
  return text + desc.toString() + ", " + array.data->device->name() + ")";
}

/// `op` is Python's Py_EQ, ... Arrays of one element are compared as numbers,
/// others element by element.
template <int op> nb::object compare(nb::handle self, nb::handle other) {
  auto valueOf = [](nb::handle object) {
    Array *own = nullptr;
    (void)nb::try_cast(object, own);
    bool isOne = own && own->data->desc.elements() == 1;
    return isOne ? item(*own) : operand(object);
  };
  return nb::steal( // nothing where Python has raised
      PyObject_RichCompare(valueOf(self).ptr(), valueOf(other).ptr(), op));
}

/// One of Python's arithmetic functions, of numbers or NumPy's arrays.
using NumberFunction = PyObject *(*)(PyObject *, PyObject *);

template <NumberFunction function>
nb::object compute(nb::handle left, nb::handle right) {
  return nb::steal(function(operand(left).ptr(), operand(right).ptr()));
}

PyObject *power(PyObject *base, PyObject *exponent) {
  return PyNumber_Power(base, exponent, Py_None);
}

template <PyObject *(*function)(PyObject *)>
nb::object computeOne(nb::handle self) {
  return nb::steal(function(operand(self).ptr()));
}

/// What to use instead of a name of PyTorch's or NumPy's that is not there.
nb::object refuseName(nb::handle self, const std::string &name) {
  if (name.compare(0, 2, "__") == 0) // asked for by protocols all the time
    throw nb::attribute_error(name.c_str());
  nb::object error = nb::module_::import_("aicf._base.hints")
                         .attr("missing")("aicf.Array", name, self.type());
  PyErr_SetObject(PyExc_AttributeError, error.ptr());
  throw nb::python_error();
}

/// Arithmetic takes place on the host: these are results that people look at.
void defineArithmetic(nb::class_<Array> &type) {
#define AICF_OPERATOR(NAME, FUNCTION)                                          \
  type.def(                                                                    \
          "__" NAME "__",                                                      \
          [](nb::handle self, nb::handle other) {                              \
            return compute<FUNCTION>(self, other);                             \
          },                                                                   \
          nb::arg("other").none(),                                             \
          nb::sig("def __" NAME                                                \
                  "__(self, other: typing.Any, /) -> typing.Any"))             \
      .def(                                                                    \
          "__r" NAME "__",                                                     \
          [](nb::handle self, nb::handle other) {                              \
            return compute<FUNCTION>(other, self);                             \
          },                                                                   \
          nb::arg("other").none(),                                             \
          nb::sig("def __r" NAME                                               \
                  "__(self, other: typing.Any, /) -> typing.Any"))
  AICF_OPERATOR("add", PyNumber_Add);
  AICF_OPERATOR("sub", PyNumber_Subtract);
  AICF_OPERATOR("mul", PyNumber_Multiply);
  AICF_OPERATOR("truediv", PyNumber_TrueDivide);
  AICF_OPERATOR("floordiv", PyNumber_FloorDivide);
  AICF_OPERATOR("mod", PyNumber_Remainder);
  AICF_OPERATOR("pow", power);
#undef AICF_OPERATOR
  type.def("__neg__", &computeOne<PyNumber_Negative>,
           nb::sig("def __neg__(self) -> typing.Any"))
      .def("__pos__", &computeOne<PyNumber_Positive>,
           nb::sig("def __pos__(self) -> typing.Any"))
      .def("__abs__", &computeOne<PyNumber_Absolute>,
           nb::sig("def __abs__(self) -> typing.Any"))
      .def(
          "__round__",
          [](nb::handle self, nb::object digits) {
            return nb::module_::import_("builtins")
                .attr("round")(operand(self), digits);
          },
          nb::arg("digits") = nb::none(),
          nb::sig("def __round__(self, digits: int | None = None) -> "
                  "typing.Any"))
      .def(
          "__getitem__",
          [](Array &a, nb::handle index) {
            return nb::object(nb::object(hostValues(a)[index]).attr("copy")());
          },
          nb::arg("index").none(),
          nb::sig("def __getitem__(self, index: typing.Any, /) -> typing.Any"),
          "A NumPy array of the elements, or one of them; not a view.")
      .def(
          "__iter__",
          [](Array &a) {
            if (a.data->desc.rank == 0)
              throw nb::type_error("a 0-d array is not iterated over: it is a "
                                   "number, float(x)");
            return nb::iter(nb::object(hostValues(a).attr("copy")()));
          },
          nb::sig("def __iter__(self) -> typing.Iterator[typing.Any]"));
}

} // namespace

/// A copy of floats as those of another type, rounded to nearest even.
static Array convertedArray(const std::shared_ptr<DeviceHandle> &device,
                            const Argument &from, DType to) {
  TensorDesc desc = from.desc;
  desc.dtype = to;
  std::vector<uint8_t> bytes(desc.spanBytes());
  auto *source = static_cast<const uint8_t *>(from.pointer());
  size_t step = sizeOf(from.desc.dtype);
  for (size_t i = 0, count = size_t(desc.elements()); i < count; ++i)
    storeElement(to, bytes.data() + i * sizeOf(to),
                 loadElement(from.desc.dtype, source + i * step));
  return makeArray(device, desc, bytes.data());
}

void defineArrays(nb::module_ &m) {
  nb::class_<DeviceHandle>(m, "Device", "A device: the CPU, or one CUDA card.")
      .def_static(
          "cpu",
          [](int threads) {
            if (threads < 0)
              fail(StatusCode::InvalidArgument, "threads is ", threads,
                   ", expected 0 (all cores) or more");
            return DeviceHandle::make(createCPUDevice({threads}), 0);
          },
          nb::arg("threads") = 0)
      .def_static(
          "cuda",
          [](int ordinal, const std::string &tuning,
             const std::string &tuningFile) {
            CUDADeviceOptions options;
            options.ordinal = ordinal;
            auto level = parseEnum<Tuning>(tuning, kNumTunings);
            if (!level)
              fail(StatusCode::InvalidArgument, "tuning is \"", tuning,
                   "\", expected off, fast or full");
            options.tuning = *level;
            options.tuningFile = tuningFile;
            nb::gil_scoped_release release;
            return DeviceHandle::make(check(createCUDADevice(options)),
                                      ordinal);
          },
          nb::arg("ordinal") = 0, nb::arg("tuning") = "off",
          nb::arg("tuning_file") = "")
      .def_prop_ro("name", &DeviceHandle::name, "\"cpu\", \"cuda:0\".")
      .def_prop_ro(
          "kind",
          [](DeviceHandle &d) { return std::string(nameOf(d.device->kind())); },
          "\"cpu\" or \"cuda\".")
      .def_prop_ro(
          "description",
          [](DeviceHandle &d) { return d.device->description(); },
          "The processor or card, in words.")
      .def_prop_ro(
          "free_bytes", [](DeviceHandle &d) { return d.device->freeBytes(); },
          "Memory that is free now; 0 where nobody counts.")
      .def_prop_ro(
          "num_threads", [](DeviceHandle &d) { return d.device->numThreads(); },
          "Threads of the CPU device; 1 for a GPU.")
      .def("__repr__", [](DeviceHandle &d) {
        return "aicf.Device(" + d.name() + ": " + d.device->description() + ")";
      });

  nb::class_<Array> type(
      m, "Array",
      "A dense array on a device: what a call returns, or what `aicf.array` "
      "makes.\n\nA 0-d array is a number where Python wants one: float(loss), "
      "total += loss,\nround(loss, 3), f\"{loss:.4f}\", loss < best. Other "
      "arrays give NumPy arrays in\nexpressions, when they are indexed and "
      "when "
      "they are iterated over. All of that\nwaits for the values and copies "
      "them to the host; on a GPU, arrays above 64 KiB\nare an error there: "
      "take numpy() once.\n\nPython's json module takes no objects of others: "
      "json.dumps(float(loss)), or\njson.dumps(logs, default=float).");
  defineArithmetic(type);
  type.def_prop_ro(
          "shape", [](Array &a) { return shapeTuple(a.data->desc); },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Dimensions; () for a 0-d array.")
      .def_prop_ro(
          "dtype",
          [](Array &a) { return std::string(nameOf(a.data->desc.dtype)); },
          "\"f32\", \"f16\", \"bf16\", \"f64\", \"i32\" or \"i64\".")
      .def_prop_ro(
          "device", [](Array &a) { return a.data->device->name(); },
          "Where it is: \"cpu\", \"cuda:0\".")
      .def_prop_ro(
          "ndim", [](Array &a) { return int(a.data->desc.rank); },
          "The number of dimensions.")
      .def_prop_ro(
          "size", [](Array &a) { return a.data->desc.elements(); },
          "The number of elements.")
      .def_prop_ro(
          "nbytes", [](Array &a) { return a.data->desc.spanBytes(); },
          "Bytes of the elements.")
      .def(
          "numpy",
          [](Array &a, nb::object dtype) {
            return dtype.is_none()
                       ? toNumPy(a)
                       : wideNumPy(a).attr("astype")(dtype,
                                                     nb::arg("copy") = false);
          },
          nb::arg("dtype") = nb::none(),
          "The values as a NumPy array; waits for them. On the CPU it shares "
          "the memory. With a type of NumPy it has that type: NumPy has no "
          "bf16, so numpy(\"f4\") is for arrays of it.",
          nb::sig("def numpy(self, dtype: typing.Any = None) -> typing.Any"))
      .def("item", &item, "The one element as a Python number.",
           nb::sig("def item(self) -> float | int"))
      .def("__float__", [](Array &a) { return nb::cast<double>(item(a)); })
      .def(
          "__int__",
          [](Array &a) {
            return nb::module_::import_("builtins").attr("int")(item(a));
          },
          nb::sig("def __int__(self) -> int"))
      .def("__bool__",
           [](Array &a) { return bool(PyObject_IsTrue(item(a).ptr())); })
      .def(
          "__format__",
          [](Array &a, nb::str spec) {
            nb::object value = nb::len(spec) == 0
                                   ? nb::object(nb::str(repr(a).c_str()))
                                   : item(a);
            return nb::module_::import_("builtins").attr("format")(value, spec);
          },
          nb::sig("def __format__(self, spec: str, /) -> str"))
      .def("__eq__", &compare<Py_EQ>, nb::arg("other").none(),
           nb::sig("def __eq__(self, other: object, /) -> typing.Any"))
      .def("__ne__", &compare<Py_NE>, nb::arg("other").none(),
           nb::sig("def __ne__(self, other: object, /) -> typing.Any"))
      .def("__lt__", &compare<Py_LT>, nb::arg("other").none(),
           nb::sig("def __lt__(self, other: typing.Any, /) -> typing.Any"))
      .def("__le__", &compare<Py_LE>, nb::arg("other").none(),
           nb::sig("def __le__(self, other: typing.Any, /) -> typing.Any"))
      .def("__gt__", &compare<Py_GT>, nb::arg("other").none(),
           nb::sig("def __gt__(self, other: typing.Any, /) -> typing.Any"))
      .def("__ge__", &compare<Py_GE>, nb::arg("other").none(),
           nb::sig("def __ge__(self, other: typing.Any, /) -> typing.Any"))
      .def("__getattr__", &refuseName,
           nb::sig("def __getattr__(self, name: str, /) -> typing.NoReturn"))
      .def("__hash__", [](Array &a) { return reinterpret_cast<intptr_t>(&a); })
      .def("__len__",
           [](Array &a) {
             if (a.data->desc.rank == 0)
               throw nb::type_error("a 0-d array has no length");
             return a.data->desc.dims[0];
           })
      .def(
          "__index__",
          [](Array &a) {
            if (a.data->desc.rank != 0 || isFloat(a.data->desc.dtype))
              throw nb::type_error(
                  ("an array of " + a.data->desc.toString() +
                   " is not an index: only a 0-d one of integers is")
                      .c_str());
            return item(a);
          },
          nb::sig("def __index__(self) -> int"))
      .def(
          "__array__",
          [](Array &a, nb::object dtype, nb::object copy) {
            nb::object array = toNumPy(a);
            if (!dtype.is_none())
              array = array.attr("astype")(dtype, nb::arg("copy") = false);
            if (!copy.is_none() && nb::cast<bool>(copy))
              array = array.attr("copy")();
            return array;
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | "
                  "None = None) -> typing.Any"))
      .def("__dlpack__", &dlpack,
           nb::sig("def __dlpack__(self, **kwargs: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](Array &a) {
            return nb::make_tuple(a.data->device->isCPU()
                                      ? int(nb::device::cpu::value)
                                      : int(nb::device::cuda::value),
                                  a.data->device->ordinal);
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def(
          "tolist", [](Array &a) { return wideNumPy(a).attr("tolist")(); },
          nb::sig("def tolist(self) -> typing.Any"),
          "The values as (nested lists of) Python numbers.")
      .def("__repr__", &repr);

  m.def(
      "array",
      [](nb::object values, std::shared_ptr<DeviceHandle> device,
         const std::optional<std::string> &dtype) {
        Argument argument;
        auto host = DeviceHandle{};
        host.device = createCPUDevice({1});
        importAny(values, host, nullptr, Access::Read, "the array", argument);
        DType as = dtype ? parseDType(*dtype) : argument.desc.dtype;
        nb::gil_scoped_release release;
        if (as == argument.desc.dtype)
          return makeArray(device, argument.desc, argument.data);
        if (!isFloat(as) || !isFloat(argument.desc.dtype))
          fail(StatusCode::DTypeMismatch, "the array is ",
               argument.desc.toString(), ", expected a float type to convert to ",
               nameOf(as));
        return convertedArray(device, argument, as);
      },
      nb::arg("values"), nb::arg("device"), nb::arg("dtype") = nb::none(),
      "A copy of a host array on a device, as another float type if `dtype` "
      "names one.",
      nb::sig("def array(values: typing.Any, device: Device, dtype: str | None "
              "= None) -> Array"));
  m.def(
      "zeros",
      [](const std::vector<int64_t> &shape, const std::string &dtype,
         std::shared_ptr<DeviceHandle> device) {
        if (shape.size() > kMaxRank)
          fail(StatusCode::ShapeMismatch, "a shape of ", shape.size(),
               " dimensions, expected at most ", kMaxRank);
        TensorDesc desc(parseDType(dtype), shape);
        if (!checkedBytes(desc))
          fail(StatusCode::ShapeMismatch, "the array would be ",
               desc.toString(), ", expected dimensions of 1 to ", INT32_MAX,
               " and up to ", kMaxTensorBytes, " bytes");
        return makeArray(device, desc, nullptr);
      },
      nb::arg("shape"), nb::arg("dtype"), nb::arg("device"),
      "An array of zeros on a device.");
}

} // namespace aicf::python
