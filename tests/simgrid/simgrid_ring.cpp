// The ring all-reduce of hbench as an MPI program for SimGrid's SMPI: the same messages in the same rounds, and no
// arithmetic. Prints the time of the slowest rank in virtual seconds.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int chunk = std::atoi(argv[argc - 1]);  // bytes
  // Shared by all ranks, so that SMPI copies nothing: only times are asked for.
  void* buffer = SMPI_SHARED_MALLOC(static_cast<std::size_t>(chunk));

  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < 2 * (ranks - 1); ++round)
    MPI_Sendrecv(buffer, chunk, MPI_BYTE, (rank + 1) % ranks, 0, buffer, chunk, MPI_BYTE, (rank + ranks - 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double own = MPI_Wtime() - begin;

  double slowest = 0;
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("simulated %.12g\n", slowest);
  SMPI_SHARED_FREE(buffer);
  MPI_Finalize();
}
