#pragma once

/// The folder in which Open MPI puts the memory that ranks of a host share; the launcher makes one for each job.

#include <array>

namespace hbench {

/// The variables that name it: of Open MPI 4 (vader) and 5 (sm), and of windows.
inline constexpr std::array kBackingFolderVariables{
    "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_osc_sm_backing_directory"};

/// Unsets those that name no folder of this host: a rank on another host than the launcher's takes the library's own,
/// and would share no memory otherwise. To be called before MPI is initialised and before there are threads.
void forget_absent_backing_folders();

}  // namespace hbench
