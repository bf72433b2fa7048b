# SPDX-License-Identifier: BSD-3-Clause
# What the commands of texts.txt use, each in a shell of its own.

# beats FACTOR THREADS SLOW SHARE: 100 iterations of 10 ms times FACTOR and some; from SLOW on,
# ten take 1.8 times as long; the last thread beats in SHARE of them.
beats() {
  awk -v f="$1" -v threads="$2" -v slow="$3" -v share="${4:-1}" 'BEGIN {
    print "thread,time"
    for (i = 0; i < 100; i++) {
      s = (s * 16807 + 1 + f * 1000) % 2147483647
      t += .01 * f * (1 + .05 * s / 2147483647) * (i >= slow && i < slow + 10 ? 1.8 : 1)
      for (k = 0; k < threads; k++)
        if (k < threads - 1 || i < share * 100) printf "%d,%.9f\n", k, t + k * .0001
    }
  }'
}

# many PREFIX FACTOR...: a file of beats for each factor.
many() {
  prefix=$1 n=0
  shift
  for f; do n=$((n + 1)) && beats "$f" 2 1000 >"$prefix$n"; done
}

# plotted COMMAND...: what gnuplot gets; of each block of numbers, their count and a sum that
# depends on their order.
plotted() {
  "$@" --plot p.svg >/dev/null && awk '
    /^[-0-9.]/ { n++; for (i = 1; i <= NF; i++) sum += n * i * $i; next }
    /^END/ { printf "%d lines, %.5g\n", n, sum; n = sum = 0 }
    !/^set linetype/ { print }' script.txt
}
