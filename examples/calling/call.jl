# SPDX-License-Identifier: BSD-3-Clause
# Call the library from Julia.
#
#     julia call.jl [LIBRARY]      the shared library; default: where the system finds it
const lib = isempty(ARGS) ? "libtsanom" : ARGS[1]

# tsanom_dtw_options, field by field.
mutable struct DtwOptions
    struct_size::Csize_t
    radius::Csize_t
    cutoff::Cdouble
    tails::Ptr{Ptr{Cdouble}}
    penalty::Cdouble
    open_begin_x::Csize_t
    open_begin_y::Csize_t
    open_end_x::Csize_t
    open_end_y::Csize_t
    dimensions::Csize_t
    stride::Csize_t
    cost::Int32
    window::Int32
    path_memory::Int32
    reserved0::Int32
    DtwOptions() = new()
end

function check(status)
    status == 0 || error(unsafe_string(ccall((:tsanom_status_text, lib), Cstring, (Int32,), status)))
end

function dtw_distance(x::Vector{Float64}, y::Vector{Float64}, radius)
    options, distance = DtwOptions(), Ref{Cdouble}()
    check(ccall((:tsanom_dtw_options_init, lib), Int32, (Ref{DtwOptions}, Csize_t),
                options, sizeof(DtwOptions)))
    options.radius = radius
    check(ccall((:tsanom_dtw_distance, lib), Int32,
                (Ptr{Cdouble}, Csize_t, Ptr{Cdouble}, Csize_t, Ref{DtwOptions}, Ptr{Cvoid},
                 Ref{Cdouble}), x, length(x), y, length(y), options, C_NULL, distance))
    return distance[]
end

println("distance ", dtw_distance([10.0, 10, 11, 12, 12, 12, 11, 10],
                                  [10.0, 10, 10, 10, 11, 12, 12, 11], 3))
