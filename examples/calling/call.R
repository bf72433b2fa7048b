# SPDX-License-Identifier: BSD-3-Clause
# Call the library from R: .C passes vectors by pointer, so that call_r.c is necessary.
#
#     Rscript call.R call_r.so
dyn.load(commandArgs(trailingOnly = TRUE)[1])

dtw_distance <- function(x, y, radius) {
  result <- .C("r_dtw_distance", as.double(x), length(x), as.double(y), length(y),
               as.integer(radius), distance = double(1), status = integer(1))
  if (result$status != 0) stop("tsanom rejected its arguments: status ", result$status)
  result$distance
}

cat("distance", dtw_distance(c(10, 10, 11, 12, 12, 12, 11, 10),
                             c(10, 10, 10, 10, 11, 12, 12, 11), 3), "\n", sep = " ")
