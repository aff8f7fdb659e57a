#include "bench/hosts/host_options.hpp"

namespace hbench {

std::array<Option*, 5> add_host_options(Arguments& app, HostOptions& options) {
  Option* hosts = app.add_option("-H,--host", options.named.hosts,
                                 "hosts with their slots: a:4,b:4 (default: those of the job around it, of Slurm, "
                                 "LSF, PBS, Cobalt, Grid Engine, Flux, an MPIJob, Spark, SkyPilot, SageMaker, dstack "
                                 "or Azure Batch, else this machine)");
  Option* file =
      app.add_option("--hostfile", options.named.hostfile, "the same from a file: a line 'a slots=4' for each host");
  file->excludes(hosts);
  Option* network = app.add_option("--network-interface", options.network,
                                   "network between hosts: an interface (eth0) or a subnet (10.0.0.0/24)");
  Option* launcher = app.add_option("--launcher", options.named.launcher,
                                    "what starts ranks on hosts: mpirun, or srun in a Slurm job whose site forbids it",
                                    one_of({"mpirun", "srun"}));
  Option* expected =
      app.add_option(kExpectHostsFlag, options.named.expected,
                     "end before the first case where there are fewer hosts, as when a job's list of hosts got lost",
                     in_range(1, 1'000'000));
  return {hosts, file, network, launcher, expected};
}

}  // namespace hbench
