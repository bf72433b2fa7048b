! SPDX-License-Identifier: BSD-3-Clause
! Call the library from Fortran, by interfaces of its own.
module tsanom_dtw
  use, intrinsic :: iso_c_binding
  implicit none

  ! tsanom_dtw_options, field by field.
  type, bind(c) :: dtw_options
    integer(c_size_t) :: struct_size, radius
    real(c_double) :: cutoff
    type(c_ptr) :: tails
    real(c_double) :: penalty
    integer(c_size_t) :: open_begin_x, open_begin_y, open_end_x, open_end_y
    integer(c_size_t) :: dimensions, stride
    integer(c_int32_t) :: cost, window, path_memory, reserved0
  end type dtw_options

  interface
    integer(c_int) function dtw_options_init(options, struct_size) &
        bind(c, name='tsanom_dtw_options_init')
      import
      type(dtw_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end function dtw_options_init

    integer(c_int) function dtw_distance(x, n, y, m, options, exec, distance) &
        bind(c, name='tsanom_dtw_distance')
      import
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_size_t), value :: n, m
      type(dtw_options), intent(in) :: options
      type(c_ptr), value :: exec
      real(c_double), intent(out) :: distance
    end function dtw_distance
  end interface
end module tsanom_dtw

program call_tsanom
  use tsanom_dtw
  implicit none
  real(c_double) :: usual(8) = [10, 10, 11, 12, 12, 12, 11, 10]
  real(c_double) :: today(8) = [10, 10, 10, 10, 11, 12, 12, 11]
  type(dtw_options) :: options
  real(c_double) :: distance
  integer(c_int) :: status

  status = dtw_options_init(options, c_sizeof(options))
  options%radius = 3
  if (status == 0) then
    status = dtw_distance(usual, 8_c_size_t, today, 8_c_size_t, options, c_null_ptr, &
                          distance)
  end if
  if (status /= 0) error stop 'tsanom rejected its arguments'
  print '(a, f0.0)', 'distance ', distance
end program call_tsanom
