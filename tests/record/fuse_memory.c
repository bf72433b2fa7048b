/* SPDX-License-Identifier: BSD-3-Clause */
/* A request and its answer are one read(2) and one write(2) of /dev/fuse: a header, then
 * the structs of <linux/fuse.h>, which fuse(4) describes. Requests that are not listed in
 * answer() get ENOSYS; for FUSE_FALLOCATE the kernel turns this into EOPNOTSUPP. */
#include "record/fuse_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 64, NAME = 64, LARGEST_WRITE = 1 << 17, BUFFER = LARGEST_WRITE + 4096 };

/* Files and directories; the number of a node is its index. */
typedef struct {
  uint64_t parent; /* 0: free */
  char name[NAME];
  uint32_t mode;
  char *data;
  uint64_t size, capacity;
} node;

static node nodes[NODES];

/* What a request becomes. */
static union {
  struct fuse_init_out init;
  struct fuse_entry_out entry;
  struct fuse_attr_out attributes;
  struct fuse_open_out open;
  struct fuse_write_out written;
  struct fuse_statfs_out space;
  struct {
    struct fuse_entry_out entry;
    struct fuse_open_out open;
  } created;
  char bytes[BUFFER];
} out;

static struct fuse_attr attributes_of(uint64_t number) {
  const node *n = &nodes[number];
  return (struct fuse_attr){.ino = number,
                            .size = n->size,
                            .blocks = (n->size + 511) / 512,
                            .mode = n->mode,
                            .nlink = n->parent ? 1 : 0,
                            .blksize = 4096};
}

static struct fuse_entry_out entry_of(uint64_t number) {
  return (struct fuse_entry_out){
      .nodeid = number, .generation = 1, .attr = attributes_of(number)};
}

static uint64_t find(uint64_t parent, const char *name) {
  for (uint64_t i = FUSE_ROOT_ID + 1; i < NODES; i++) {
    if (nodes[i].parent == parent && strcmp(nodes[i].name, name) == 0) return i;
  }
  return 0;
}

static int create(uint64_t parent, const char *name, uint32_t mode) {
  uint64_t i = FUSE_ROOT_ID + 1;
  while (i < NODES && nodes[i].parent) i++;
  if (i == NODES || strlen(name) >= NAME) return -ENOSPC;
  nodes[i] = (node){.parent = parent, .mode = mode};
  strcpy(nodes[i].name, name);
  out.created.entry = entry_of(i);
  return sizeof out.entry;
}

static int resize(node *n, uint64_t size) {
  if (size > n->capacity) {
    uint64_t capacity = size + size / 2;
    char *grown = realloc(n->data, capacity);
    if (!grown) return -ENOMEM;
    n->data = grown;
    n->capacity = capacity;
  }
  if (size > n->size) memset(n->data + n->size, 0, size - n->size);
  n->size = size;
  return 0;
}

static int read_node(const node *n, const struct fuse_read_in *in) {
  uint64_t rest = in->offset < n->size ? n->size - in->offset : 0;
  uint64_t bytes = in->size < rest ? in->size : rest;
  if (bytes) memcpy(out.bytes, n->data + in->offset, bytes);
  return (int)bytes;
}

/* The C library emulates posix_fallocate() by writes of one byte, which would race with
 * beats; they fail. */
static int write_node(node *n, const struct fuse_write_in *in) {
  uint64_t end = in->offset + in->size;
  if (in->size == 1) return -EIO;
  if (end > n->size && resize(n, end)) return -ENOMEM;
  memcpy(n->data + in->offset, in + 1, in->size);
  out.written = (struct fuse_write_out){.size = in->size};
  return sizeof out.written;
}

/* A directory's entries have offsets that are one more than their nodes' numbers. */
static int list(uint64_t parent, const struct fuse_read_in *in) {
  size_t used = 0;
  for (uint64_t i = in->offset; i < NODES; i++) {
    if (nodes[i].parent != parent || i <= FUSE_ROOT_ID) continue;
    struct fuse_dirent head = {
        .ino = i, .off = i + 1, .namelen = (uint32_t)strlen(nodes[i].name)};
    head.type = nodes[i].mode >> 12;
    size_t bytes = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + head.namelen);
    if (used + bytes > in->size) break;
    memset(out.bytes + used, 0, bytes);
    memcpy(out.bytes + used, &head, FUSE_NAME_OFFSET);
    memcpy(out.bytes + used + FUSE_NAME_OFFSET, nodes[i].name, head.namelen);
    used += bytes;
  }
  return (int)used;
}

static int rename_node(uint64_t number, uint64_t parent, const char *name) {
  uint64_t from = find(number, name);
  const char *new_name = name + strlen(name) + 1;
  uint64_t replaced = find(parent, new_name);
  if (!from || strlen(new_name) >= NAME) return -ENOENT;
  if (replaced) nodes[replaced].parent = 0;
  nodes[from].parent = parent;
  strcpy(nodes[from].name, new_name);
  return 0;
}

static int attributes(uint64_t number) {
  out.attributes = (struct fuse_attr_out){.attr = attributes_of(number)};
  return sizeof out.attributes;
}

/* Requests about a name in directory `number`. */
static int answer_about_name(uint32_t code, uint64_t number, const void *in) {
  const char *name = in;
  uint64_t found = 0;
  switch (code) {
    case FUSE_LOOKUP:
      found = find(number, name);
      if (found) out.entry = entry_of(found);
      return found ? (int)sizeof out.entry : -ENOENT;
    case FUSE_MKDIR:
      return create(number, name + sizeof(struct fuse_mkdir_in),
                    S_IFDIR | ((const struct fuse_mkdir_in *)in)->mode);
    case FUSE_CREATE:
      out.created.open = (struct fuse_open_out){.fh = 0};
      found = (uint64_t)create(number, name + sizeof(struct fuse_create_in),
                               ((const struct fuse_create_in *)in)->mode);
      return (int)found < 0 ? (int)found : (int)sizeof out.created;
    case FUSE_UNLINK:
    case FUSE_RMDIR:
      found = find(number, name);
      if (found) nodes[found].parent = 0;
      return found ? 0 : -ENOENT;
    case FUSE_RENAME:
      return rename_node(number, ((const struct fuse_rename_in *)in)->newdir,
                         name + sizeof(struct fuse_rename_in));
    default:
      return -ENOSYS;
  }
}

/* Writes the answer into `out`; returns its bytes, or an error. */
static int answer(uint32_t code, uint64_t number, const void *in) {
  const struct fuse_setattr_in *wanted = in;
  switch (code) {
    case FUSE_INIT:
      out.init = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
                                        .minor = FUSE_KERNEL_MINOR_VERSION,
                                        .max_readahead = LARGEST_WRITE,
                                        .flags = FUSE_BIG_WRITES,
                                        .max_write = LARGEST_WRITE};
      return sizeof out.init;
    case FUSE_GETATTR:
      return attributes(number);
    case FUSE_SETATTR:
      if ((wanted->valid & FATTR_SIZE) && resize(&nodes[number], wanted->size)) {
        return -ENOMEM;
      }
      return attributes(number);
    case FUSE_OPEN:
    case FUSE_OPENDIR:
      out.open = (struct fuse_open_out){.fh = 0};
      return sizeof out.open;
    case FUSE_READ:
      return read_node(&nodes[number], in);
    case FUSE_WRITE:
      return write_node(&nodes[number], in);
    case FUSE_READDIR:
      return list(number, in);
    case FUSE_STATFS:
      out.space = (struct fuse_statfs_out){.st = {.bsize = 4096, .namelen = NAME - 1}};
      return sizeof out.space;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FSYNC:
      return 0;
    default:
      return answer_about_name(code, number, in);
  }
}

static void serve(int device) {
  static _Alignas(8) char request[BUFFER];
  const struct fuse_in_header *in = (const struct fuse_in_header *)request;
  static struct {
    struct fuse_out_header head;
    char body[BUFFER];
  } reply;
  while (read(device, request, sizeof request) > 0) {
    if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
        in->opcode == FUSE_INTERRUPT) {
      continue;
    }
    int result = answer(in->opcode, in->nodeid, in + 1);
    size_t bytes = result > 0 ? (size_t)result : 0;
    reply.head = (struct fuse_out_header){.len = (uint32_t)(sizeof reply.head + bytes),
                                          .error = result < 0 ? result : 0,
                                          .unique = in->unique};
    memcpy(reply.body, &out, bytes);
    if (write(device, &reply, reply.head.len) < 0 && errno != ENOENT) return;
  }
}

bool fuse_memory_mount(const char *directory) {
  char options[96];
  int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return false;
  (void)snprintf(options, sizeof options, "fd=%d,rootmode=40700,user_id=0,group_id=0",
                 device);
  nodes[FUSE_ROOT_ID] = (node){.parent = FUSE_ROOT_ID, .mode = S_IFDIR | 0700};
  if (mount("none", directory, "fuse", 0, options) != 0) return false;
  pid_t user = getpid(), child = fork();
  if (child != 0) {
    (void)close(device);
    return child > 0;
  }
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == user) serve(device);
  _exit(1);
}
