/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of a module is its path and its build ID, which the linker computes from
 * the contents: a library that is rebuilt and loaded again under the same name, at the
 * same address, is another one. The build ID is read from memory, because the file may
 * have been replaced since.
 *
 *   address ──dladdr1──▶ link_map: base, path
 *           ──dl_iterate_phdr──▶ program headers of that base ──PT_NOTE──▶ build ID
 *
 * Without a build ID, device, inode and time of change of the file stand for it.
 * src/runs/module.c compares these identities with the files that it finds later. */
#include "modules.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_BUILD_ID = 64 };

typedef struct {
  uintptr_t base;
  size_t bytes; /* of `id`; 0: none was found */
  unsigned char id[LONGEST_BUILD_ID];
} build_id;

/* Whether the loader mapped a segment, which it does with PT_LOAD only: a note outside
 * of all of them is in the file but not in memory. The segment must be readable as well.
 */
static bool is_mapped(const struct dl_phdr_info *module, const ElfW(Phdr) * part) {
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *load = &module->dlpi_phdr[i];
    if (load->p_type == PT_LOAD && (load->p_flags & PF_R) &&
        part->p_vaddr >= load->p_vaddr &&
        part->p_vaddr - load->p_vaddr <= load->p_filesz &&
        part->p_filesz <= load->p_filesz - (part->p_vaddr - load->p_vaddr)) {
      return true;
    }
  }
  return false;
}

/* Notes: each a header, a name and a description, padded to the segment's alignment.
 * Sizes are compared with what is left before they are used: a module's notes are not
 * verified by the loader. */
static void read_notes(const unsigned char *note, size_t bytes, size_t alignment,
                       build_id *found) {
  static const char gnu[] = "GNU";
  ElfW(Nhdr) head;
  while (bytes >= sizeof head) {
    memcpy(&head, note, sizeof head);
    size_t name = (head.n_namesz + alignment - 1) & -alignment;
    size_t value = (head.n_descsz + alignment - 1) & -alignment;
    size_t rest = bytes - sizeof head;
    if (name > rest || head.n_descsz > rest - name) return;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof gnu &&
        memcmp(note + sizeof head, gnu, sizeof gnu) == 0 &&
        head.n_descsz <= LONGEST_BUILD_ID) {
      found->bytes = head.n_descsz;
      memcpy(found->id, note + sizeof head + name, head.n_descsz);
      return;
    }
    if (value > rest - name) return;
    note += sizeof head + name + value;
    bytes = rest - name - value;
  }
}

/* For dl_iterate_phdr(): 1 ends the iteration, at the module that has the base. */
static int find_build_id(struct dl_phdr_info *module, size_t size, void *argument) {
  build_id *found = argument;
  (void)size;
  if (module->dlpi_addr != found->base) return 0;
  for (int i = 0; i < module->dlpi_phnum && !found->bytes; i++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[i];
    if (part->p_type != PT_NOTE || !is_mapped(module, part)) continue;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses so */
    read_notes((const unsigned char *)(module->dlpi_addr + part->p_vaddr), part->p_filesz,
               part->p_align == 8 ? 8 : 4, found);
  }
  return 1;
}

/* At most ICP_IDENTITY - 1 characters: 9 and two for each byte of a build ID of up to
 * 64. */
static void print_identity(uintptr_t base, const char *path, char text[ICP_IDENTITY]) {
  build_id found = {.base = base};
  struct stat about;
  (void)dl_iterate_phdr(find_build_id, &found);
  if (found.bytes) {
    int length = snprintf(text, ICP_IDENTITY, "build-id:");
    for (size_t i = 0; i < found.bytes; i++, length += 2) {
      (void)snprintf(text + length, 3, "%02x", found.id[i]);
    }
  } else if (stat(path, &about) == 0) {
    (void)snprintf(text, ICP_IDENTITY, "file:%jx:%jx:%jd.%09ld", (uintmax_t)about.st_dev,
                   (uintmax_t)about.st_ino, (intmax_t)about.st_mtim.tv_sec,
                   about.st_mtim.tv_nsec);
  } else {
    (void)snprintf(text, ICP_IDENTITY, "-");
  }
}

/* The loader has no name for the program itself. */
static const char *path_of(const struct link_map *module, char resolved[PATH_MAX]) {
  if (*module->l_name) {
    return realpath(module->l_name, resolved) ? resolved : module->l_name;
  }
  ssize_t length = readlink("/proc/self/exe", resolved, PATH_MAX - 1);
  if (length <= 0) return "?";
  resolved[length] = '\0';
  return resolved;
}

/* FNV-1a. Two of n modules collide with probability n^2 / 2^65. */
static uint64_t hash_of(const char *text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
  return hash;
}

/* An address without a module, as of generated code, has base 0, identity "-" and path
 * "?". Tabs and line ends in paths would split the line, and are replaced. */
void icp_module_at(uintptr_t address, icp_module *module) {
  char identity[ICP_IDENTITY] = "-", resolved[PATH_MAX];
  const char *path = "?";
  Dl_info about;
  struct link_map *map = NULL;
  module->base = 0;
  /* NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer */
  if (dladdr1((const void *)address, &about, (void **)&map, RTLD_DL_LINKMAP) != 0 &&
      map) {
    module->base = map->l_addr;
    path = path_of(map, resolved);
    print_identity(map->l_addr, path, identity);
  }
  int length = snprintf(module->text, sizeof module->text, "%s\t", identity);
  (void)snprintf(module->text + length, sizeof module->text - (size_t)length, "%s", path);
  for (char *c = module->text + length; *c; c++) {
    if (*c == '\t' || *c == '\n') *c = '?';
  }
  module->hash = hash_of(module->text);
}
