#pragma once

/// The driver's library: opened once it is needed, with the functions that it has.

#include <memory>
#include <string>

#include "collectives/cuda/nvml_abi.hpp"

namespace hbench::nvml {

/// Null: this driver has no such function.
struct Functions {
  Result (*initialise)() = nullptr;
  Result (*shut_down)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  Result (*cuda_version)(int*) = nullptr;
  Result (*count)(unsigned*) = nullptr;
  Result (*handle_by_index)(unsigned, Handle*) = nullptr;
  Result (*handle_by_address)(const char*, Handle*) = nullptr;
  Result (*name)(Handle, char*, unsigned) = nullptr;
  Result (*uuid)(Handle, char*, unsigned) = nullptr;
  Result (*pci_info)(Handle, PciInfo*) = nullptr;
  Result (*compute_capability)(Handle, int*, int*) = nullptr;
  Result (*memory)(Handle, Memory*) = nullptr;
  Result (*clock)(Handle, unsigned, unsigned*) = nullptr;
  Result (*most_clock)(Handle, unsigned, unsigned*) = nullptr;
  Result (*power)(Handle, unsigned*) = nullptr;
  Result (*power_limit)(Handle, unsigned*) = nullptr;
  Result (*temperature)(Handle, unsigned, unsigned*) = nullptr;
  Result (*clock_reasons)(Handle, unsigned long long*) = nullptr;
  Result (*ecc_errors)(Handle, unsigned, unsigned, unsigned long long*) = nullptr;
  Result (*pcie_generation)(Handle, unsigned*) = nullptr;
  Result (*pcie_width)(Handle, unsigned*) = nullptr;
  Result (*most_pcie_generation)(Handle, unsigned*) = nullptr;
  Result (*most_pcie_width)(Handle, unsigned*) = nullptr;
  Result (*mig)(Handle, unsigned*, unsigned*) = nullptr;
  Result (*persistence)(Handle, unsigned*) = nullptr;
  Result (*link_state)(Handle, unsigned, unsigned*) = nullptr;
  Result (*link_end)(Handle, unsigned, PciInfo*) = nullptr;
  Result (*link_end_type)(Handle, unsigned, unsigned*) = nullptr;
  Result (*processes)(Handle, unsigned*, Process*) = nullptr;
  Result (*processes_v1)(Handle, unsigned*, ProcessV1*) = nullptr;
};

/// Initialised as long as it lives.
class Library {
 public:
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// Null where the library is missing or does not start; `failure` then says why, and `installed` whether there is
  /// one.
  static std::shared_ptr<const Library> open(const std::string& path, std::string& failure, bool& installed);

  const Functions& functions() const { return functions_; }
  /// NVML's words for a result.
  std::string words(Result result) const;

 private:
  explicit Library(void* handle);

  void* handle_;
  Functions functions_;
  bool initialised_ = false;
};

}  // namespace hbench::nvml
