/* SPDX-License-Identifier: BSD-3-Clause */
/* A slot has the number of its message, which is written last: a slot without one is empty
 * or being written. Two processes write one slot at the same time only if 16 messages come
 * in between; then one of both is lost. On a file system that several hosts mount, each
 * has a mapping of its own, and the page that is written back last stays. */
#include "record/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/file.h"

static int open_page(const char *directory, int flags, bool anew, tsn_file *page) {
  tsn_file folder;
  int error = tsn_file_open(&folder, AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (error) return error;
  if (anew) (void)unlinkat(folder.descriptor, TSN_MESSAGES_FILE, 0);
  error = tsn_file_open(page, folder.descriptor, TSN_MESSAGES_FILE, flags);
  tsn_file_close(&folder);
  return error;
}

int tsn_messages_create(const char *directory, bool anew) {
  const tsn_message_page empty = {
      .magic = TSN_MESSAGES_MAGIC, .version = TSN_FORMAT_VERSION, .bytes = sizeof empty};
  tsn_file page;
  int error = open_page(directory, O_RDWR | O_CREAT | O_EXCL, anew, &page);
  if (error) return error == EEXIST ? 0 : error;
  error = tsn_file_extend(&page, 0, sizeof empty);
  if (!error) error = tsn_file_write(&page, &empty, sizeof empty, 0);
  tsn_file_close(&page);
  return error;
}

/* A page that is shorter would end the program by SIGBUS. */
tsn_message_page *tsn_messages_map(const char *directory) {
  struct stat facts;
  tsn_file file;
  void *page = MAP_FAILED;
  int error = errno;
  if (open_page(directory, O_RDWR, false, &file) == 0) {
    if (fstat(file.descriptor, &facts) == 0 &&
        facts.st_size == (off_t)sizeof(tsn_message_page)) {
      page = mmap(NULL, sizeof(tsn_message_page), PROT_READ | PROT_WRITE, MAP_SHARED,
                  file.descriptor, 0);
    }
    tsn_file_close(&file);
  }
  errno = error;
  return page == MAP_FAILED ? NULL : page;
}

void tsn_messages_add(tsn_message_page *page, int error, const char *format, ...) {
  va_list arguments;
  struct timespec now;
  int before = errno;
  if (!page) return;
  uint64_t number = __atomic_add_fetch(&page->count, 1, __ATOMIC_RELAXED);
  tsn_message *m = &page->message[(number - 1) % TSN_MESSAGES];
  __atomic_store_n(&m->number, 0, __ATOMIC_SEQ_CST);
  clock_gettime(CLOCK_REALTIME, &now);
  m->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  m->process = (int32_t)getpid();
  m->error = error;
  va_start(arguments, format);
  (void)vsnprintf(m->text, sizeof m->text, format, arguments);
  va_end(arguments);
  __atomic_store_n(&m->number, number, __ATOMIC_RELEASE);
  errno = before;
}
