/* SPDX-License-Identifier: BSD-3-Clause */
/* Competes for processors: threads that only count. */
#include <pthread.h>

#include "anomaly.h"

enum { BATCH = 1000000, MOST = 1024 };

static struct anomaly hog = {
    .name = "cpu_hog",
    .purpose = "Keep processors busy with threads that only count.",
    .uses = ANOMALY_FOR | ANOMALY_CPU | ANOMALY_THREADS,
    .threads = 1};

static void *count(void *result) {
  volatile uint64_t number = 0;
  do {
    for (int i = 0; i < BATCH; ++i) number = number + 1;
  } while (anomaly_lasts(&hog));
  *(double *)result = (double)number;
  return NULL;
}

int main(int argc, char **argv) {
  anomaly_open(&hog, argc, argv);
  pthread_t threads[MOST];
  double counted[MOST];
  for (int t = 1; t < hog.threads; ++t) {
    if (pthread_create(&threads[t], NULL, count, &counted[t])) {
      anomaly_fail(hog.name, "thread");
    }
  }
  count(&counted[0]);
  double total = counted[0];
  for (int t = 1; t < hog.threads; ++t) {
    (void)pthread_join(threads[t], NULL);
    total += counted[t];
  }
  return anomaly_close(&hog, total, "increments");
}
