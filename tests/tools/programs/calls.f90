! SPDX-License-Identifier: BSD-3-Clause
! Functions in the worksharing of a region: thread 1 does eight times the work in hard().
module calls
  implicit none
contains
  real(8) function work(terms)
    integer, intent(in) :: terms
    integer :: i
    work = 0
    do i = 1, terms
      work = work + 1.0d0 / i
    end do
  end function

  real(8) function hard(terms)
    integer, intent(in) :: terms
    hard = work(terms) + 1
  end function
end module

program main
  use calls
  implicit none
  real(8) :: total(0:1)
  integer :: step, t
  total = 0
  do step = 1, 10
    !$omp parallel num_threads(2) private(t)
    !$omp do schedule(static, 1)
    do t = 0, 1
      total(t) = total(t) + work(50000)
    end do
    !$omp do schedule(static, 1)
    do t = 0, 1
      total(t) = total(t) + hard(50000 + 350000 * t)
    end do
    !$omp end parallel
  end do
  print *, total(0)
end program
