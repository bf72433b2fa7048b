! SPDX-License-Identifier: BSD-3-Clause
! The ring of ranks.c by `use mpi`, or with -DMODULE=mpi_f08 by that module.
#ifndef MODULE
#define MODULE mpi
#endif
program ranks
  use MODULE
  implicit none
  integer :: rank, size, error, i, own, other
  double precision :: mine, all
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  do i = 1, 20
    mine = i
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    own = rank
    call MPI_Sendrecv(own, 1, MPI_INTEGER, mod(rank + 1, size), 0, other, 1, MPI_INTEGER, &
                      mod(rank + size - 1, size), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end do
  if (other /= mod(rank + size - 1, size)) stop 1
  call MPI_Finalize(error)
end program
