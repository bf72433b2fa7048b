/* SPDX-License-Identifier: BSD-3-Clause */
/* Competes for the file system: writes a file and waits until it is stored, over and
 * over. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "anomaly.h"

static struct anomaly hog = {
    .name = "disk_hog",
    .purpose =
        "Write a nameless file and wait until it is stored (fsync), over and over.",
    .uses = ANOMALY_FOR | ANOMALY_CPU | ANOMALY_BYTES | ANOMALY_FOLDER,
    .bytes = (size_t)16 << 20,
    .folder = "."};

int main(int argc, char **argv) {
  anomaly_open(&hog, argc, argv);
  const int file = open(hog.folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) anomaly_fail(hog.name, hog.folder);
  char *block = anomaly_memory(&hog, hog.bytes);
  double written = 0;
  do {
    const ssize_t bytes = pwrite(file, block, hog.bytes, 0);
    if (bytes < 0 || fsync(file)) anomaly_fail(hog.name, hog.folder);
    written += (double)bytes;
  } while (anomaly_lasts(&hog));
  free(block);
  (void)close(file);
  return anomaly_close(&hog, written, "bytes");
}
