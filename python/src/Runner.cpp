//===- Runner.cpp - one entry, called again and again ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way of a call: arguments -> pointers (nothing is converted) -> copied
// into the inputs, in order with runs -> one graph launch -> the outputs as
// arrays. On the CPU these own their values at once. On a GPU they are the
// executor's outputs until the entry runs again, and only those that somebody
// still holds are copied out then, on the device: nobody waits, and nobody
// reads a later step's values.
//===----------------------------------------------------------------------===//

#include "python/src/Runner.h"

#include <nanobind/stl/optional.h>

#include <chrono>

namespace aicf::python {

void runInterruptibly(Executor &executor, uint64_t n,
                      const std::function<Status(uint64_t)> &launch) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPatience(20);
  uint64_t i = 0;
  while (i < n) {
    {
      nb::gil_scoped_release release;
      auto since = Clock::now();
      do
        check(launch(i++));
      while (i < n && Clock::now() - since < kPatience);
    }
    if (PyErr_CheckSignals() != 0) {
      nb::python_error interrupted;
      nb::gil_scoped_release release;
      (void)executor.sync();
      throw interrupted;
    }
  }
}

namespace {

class Runner {
public:
  Runner(std::shared_ptr<ExecutorHandle> handle, const std::string &entry,
         std::optional<nb::type_object> neverWritten)
      : handle(std::move(handle)), key{entry, 1},
        neverWritten(std::move(neverWritten)) {
    auto lock = this->handle->lockPlan();
    const PlanEntry *found = this->handle->executor->plan().findEntry(entry);
    if (!found)
      fail(StatusCode::InvalidArgument, "the plan has no entry \"", entry,
           "\"; it has ",
           this->handle->executor->plan().namesOfEntries());
    for (const TensorInfo &tensor :
         this->handle->executor->plan().tensors(*found)) {
      Slot slot{tensor.name, entry + "/" + tensor.name, tensor.desc};
      if (tensor.role == Role::Input)
        inputs.push_back(std::move(slot));
      else
        outputs.push_back(std::move(slot));
    }
    live.resize(outputs.size());
  }

  /// In the plan's order of inputs; without any, with what was written or
  /// bound.
  nb::object call(nb::args args, nb::kwargs kwargs) {
    bool isEmpty = args.size() == 0 && kwargs.size() == 0;
    std::vector<nb::handle> given(inputs.size());
    if (!isEmpty)
      readArguments(args, kwargs, given);
    std::vector<Argument> arguments(inputs.size());
    std::vector<size_t> holdable;
    bool isRead = false; // others' memory, by copies that have only begun
    for (size_t i = 0; i < arguments.size(); ++i)
      if (given[i]) {
        importInput(i, given[i], arguments[i]);
        if (peer || arguments[i].space != MemorySpace::Device)
          continue;
        if (neverWritten && given[i].type().is(*neverWritten))
          holdable.push_back(i);
        else
          isRead = true;
      }
    std::vector<Owner> released; // when others may use the executor again
    Use use(*handle); // over all of it: the outputs are this call's
    {
      nb::gil_scoped_release release;
      if (peer)
        check(handle->executor->orderBehind(*peer));
      check(detachOutputs());
      hold(arguments, holdable);
      for (size_t i = 0; i < arguments.size(); ++i)
        if (given[i])
          check(handle->executor->write(
              inputs[i].qualified, arguments[i].pointer(),
              inputs[i].desc.spanBytes(), arguments[i].space));
      if (isRead || handle->isMuchHeld()) {
        check(handle->executor->sync());
        released = handle->release();
      }
      check(handle->executor->run(key));
      if (peer)
        check(handle->executor->orderBefore(*peer));
    }
    return takeOutputs();
  }

  /// `n` runs with what was written or bound, `stepsPerLaunch` a launch; Python
  /// checks that both are 1 or more.
  nb::object run(uint64_t n, uint32_t stepsPerLaunch) {
    Use use(*handle); // over all of it: the outputs are this call's
    {
      nb::gil_scoped_release release;
      if (peer)
        check(handle->executor->orderBehind(*peer));
      check(detachOutputs());
    }
    GraphKey many{key.entry, stepsPerLaunch};
    uint64_t launches = n / stepsPerLaunch;
    runInterruptibly(*handle->executor, launches,
                     [&](uint64_t) { return handle->executor->run(many); });
    runInterruptibly(*handle->executor, n % stepsPerLaunch,
                     [&](uint64_t) { return handle->executor->run(key); });
    if (peer)
      check(handle->executor->orderBefore(*peer));
    return takeOutputs();
  }

  /// Binds an input to an array's memory, for every later call.
  void bind(const std::string &name, nb::object array) {
    Slot &slot = inputs[findInput(name)];
    nb::cast(handle).attr("bind")(slot.qualified, array);
    slot.isBound = true;
  }

  /// A stream of others that calls are ordered with, as one of its own kernels
  /// would be; without it, a call orders itself behind the producers of inputs
  /// on the device, and waits until they are read.
  std::optional<uintptr_t> peerStream() const {
    return peer ? std::optional(reinterpret_cast<uintptr_t>(*peer))
                : std::nullopt;
  }
  void setPeerStream(std::optional<uintptr_t> stream) {
    peer.reset();
    if (stream)
      peer = reinterpret_cast<void *>(*stream);
  }

  std::vector<std::string> inputNames() const { return namesOf(inputs); }
  std::vector<std::string> outputNames() const { return namesOf(outputs); }

private:
  struct Slot {
    std::string name, qualified;
    TensorDesc desc;
    bool isBound = false;
  };

  static std::vector<std::string> namesOf(const std::vector<Slot> &slots) {
    std::vector<std::string> names;
    for (const Slot &slot : slots)
      names.push_back(slot.name);
    return names;
  }

  size_t findInput(const std::string &name) const {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].name == name)
        return i;
    std::string known;
    for (const Slot &slot : inputs)
      known += (known.empty() ? "" : ", ") + slot.name;
    fail(StatusCode::InvalidArgument, "there is no input \"", name,
         "\"; the inputs are ", known.empty() ? "none" : known);
  }

  void readArguments(const nb::args &args, const nb::kwargs &kwargs,
                     std::vector<nb::handle> &given) const {
    if (args.size() > inputs.size())
      fail(StatusCode::InvalidArgument, "\"", key.entry, "\" takes ",
           inputs.size(), " inputs, got ", args.size());
    for (size_t i = 0; i < args.size(); ++i)
      given[i] = args[i];
    for (auto [name, value] : kwargs) {
      size_t i = findInput(nb::cast<std::string>(name));
      if (given[i])
        fail(StatusCode::InvalidArgument, "input \"", inputs[i].name,
             "\" is given twice");
      given[i] = value;
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (given[i] && inputs[i].isBound)
        fail(StatusCode::InvalidArgument, "input \"", inputs[i].name,
             "\" is bound to an array: write into that, or bind another");
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!given[i] && !inputs[i].isBound)
        fail(StatusCode::InvalidArgument, "input \"", inputs[i].name,
             "\" is missing");
  }

  void importInput(size_t i, nb::handle object, Argument &argument) const {
    void *stream = handle->executor->nativeStream();
    if (peer)
      stream = reinterpret_cast<void *>(intptr_t(-1)); // DLPack: it is in order
    importAs(object, inputs[i].desc, *handle->device, stream, Access::Read,
             "input \"" + inputs[i].name + "\"", argument);
  }

  /// Keeps what the device reads from now on; needs no GIL.
  void hold(std::vector<Argument> &arguments,
            const std::vector<size_t> &holdable) {
    handle->heldCalls += !holdable.empty();
    for (size_t i : holdable) {
      handle->heldBytes += arguments[i].desc.spanBytes();
      handle->held.push_back(std::move(arguments[i].owner));
    }
  }

  Status detachOutputs() {
    for (std::weak_ptr<ArrayData> &weak : live)
      if (std::shared_ptr<ArrayData> data = weak.lock())
        AICF_RETURN_IF_ERROR(data->detach());
    return {};
  }

  Array takeOutput(size_t i) {
    auto data = std::make_shared<ArrayData>();
    data->desc = outputs[i].desc;
    data->device = handle->device;
    data->source = handle;
    data->output = outputs[i].qualified;
    if (handle->device->isCPU())
      check(data->detach());
    else
      live[i] = data;
    return {std::move(data)};
  }

  nb::object takeOutputs() {
    if (outputs.size() == 1)
      return nb::cast(takeOutput(0));
    nb::object tuple = nb::steal(PyTuple_New(Py_ssize_t(outputs.size())));
    for (size_t i = 0; i < outputs.size(); ++i)
      PyTuple_SetItem(tuple.ptr(), Py_ssize_t(i),
                      nb::cast(takeOutput(i)).release().ptr());
    return tuple;
  }

  std::shared_ptr<ExecutorHandle> handle;
  GraphKey key;
  std::optional<nb::type_object> neverWritten;
  std::optional<void *> peer;
  std::vector<Slot> inputs, outputs;
  std::vector<std::weak_ptr<ArrayData>> live; ///< by output; empty on the CPU
};

} // namespace

void defineRunner(nb::module_ &m) {
  nb::class_<Runner>(m, "Runner", "Calls one entry of an executor.")
      .def(nb::init<std::shared_ptr<ExecutorHandle>, const std::string &,
                    std::optional<nb::type_object>>(),
           nb::arg("executor"), nb::arg("entry"),
           nb::arg("never_written") = nb::none(),
           "never_written: a type of arrays whose values nobody changes. "
           "Calls do not wait until such arrays on the device are read: the "
           "program keeps them, and waits once in 16 calls or 64 MiB.")
      .def("__call__", &Runner::call,
           nb::sig("def __call__(self, *args: typing.Any, **kwargs: typing.Any)"
                   " -> typing.Any"))
      .def("run", &Runner::run, nb::arg("n"), nb::arg("steps_per_launch") = 1,
           nb::sig("def run(self, n: int, steps_per_launch: int = 1) -> "
                   "typing.Any"))
      .def("bind", &Runner::bind, nb::arg("name"), nb::arg("array"),
           nb::sig("def bind(self, name: str, array: typing.Any) -> None"))
      .def_prop_rw("peer_stream", &Runner::peerStream, &Runner::setPeerStream,
                   nb::arg("stream").none(),
                   "A cudaStream_t of others that calls are ordered with; "
                   "None: calls wait for inputs on the device.")
      .def_prop_ro("inputs", &Runner::inputNames)
      .def_prop_ro("outputs", &Runner::outputNames);
}

} // namespace aicf::python
