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
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

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

/* ---- what calls are bound to
 *
 * A module's call of the runtime comes to this library, because the loader searches the
 * global scope first. Without us, the loader would have searched:
 *
 *   1. the global scope behind us: the program, its libraries, and what was loaded with
 *      RTLD_GLOBAL. dlsym(RTLD_NEXT) searches the same.
 *   2. the list of the root with which the module was loaded: the root is what dlopen()
 *      loaded; the list has it, and all that it needs, breadth-first. dlsym() with the
 *      root's handle searches the same.
 *
 * With RTLD_DEEPBIND the order is 2, 1. If 2 has the function, the call never comes here.
 *
 *   dlopen("p.so", RTLD_LOCAL)      p.so ──needs──▶ libgomp-a.so
 *                                     └────needs──▶ helper.so ──needs──▶ libgomp-b.so
 *   the list of p.so:  p.so, libgomp-a.so, helper.so, libgomp-b.so
 *   calls from helper.so are bound to libgomp-a.so
 *
 * The root of a module is the first, in the loader's order, of the modules that need it,
 * themselves or through others: dlopen() appends the root and then what it needs, and
 * what needs the module is loaded no earlier than it. Later roots that need it are
 * searched behind the first.
 *
 * The loader has searched when it bound the call, which may be before we do, and a
 * runtime may have come to the global scope since. This can only matter if 1 and 2 give
 * different functions. Then the module's own table of addresses shows what the loader
 * found for the functions of the runtime that are not wrapped, such as
 * omp_get_thread_num(): an address in the first or in the second runtime, or in the module
 * itself, if it is bound at its first call (that of the wrapped one is now, so 1 holds).
 * If the table shows neither or both, the call is doubtful. */

/* A module as the loader mapped it. */
typedef struct {
  uintptr_t base;
  const ElfW(Dyn) * dynamic;
  const char *path, *strings, *soname;
} object;

/* The loader writes addresses into the dynamic section, except on some processors. */
static uintptr_t address_in(uintptr_t base, uintptr_t value) {
  return value < base ? base + value : value;
}

/* An entry of the dynamic section; 0: there is none. */
static uintptr_t entry_of(const object *o, ElfW(Sxword) tag) {
  const ElfW(Dyn) *d = o->dynamic;
  while (d->d_tag != DT_NULL && d->d_tag != tag) d++;
  return d->d_tag == tag ? d->d_un.d_val : 0;
}

/* NOLINTBEGIN(performance-no-int-to-ptr): the loader gives addresses so */
static bool read_object(const struct dl_phdr_info *module, object *o) {
  *o = (object){.base = module->dlpi_addr, .path = module->dlpi_name};
  for (int i = 0; i < module->dlpi_phnum; i++) {
    if (module->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    o->dynamic = (const ElfW(Dyn) *)(o->base + module->dlpi_phdr[i].p_vaddr);
  }
  if (!o->dynamic) return false;
  o->strings = (const char *)address_in(o->base, entry_of(o, DT_STRTAB));
  uintptr_t soname = entry_of(o, DT_SONAME);
  if (soname) o->soname = o->strings + soname;
  return o->strings != NULL;
}

/* The segment of a module that has the address; NULL: none. */
static const ElfW(Phdr) *
    segment_of(const struct dl_phdr_info *module, const void *address) {
  for (int i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &module->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    if ((uintptr_t)address - module->dlpi_addr - segment->p_vaddr < segment->p_memsz) {
      return segment;
    }
  }
  return NULL;
}

typedef struct {
  const void *address;
  icp_code code;
} code_search;

static int note_code(struct dl_phdr_info *module, size_t size, void *search_) {
  code_search *search = search_;
  const ElfW(Phdr) *segment = segment_of(module, search->address);
  (void)size;
  if (!segment) return 0;
  search->code = (icp_code){module->dlpi_addr + segment->p_vaddr, segment->p_memsz};
  return 1;
}

icp_code icp_code_at(const void *address) {
  code_search search = {.address = address};
  (void)dl_iterate_phdr(note_code, &search);
  return search.code;
}

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whether the loader finds this module by the name that another one needs. */
static bool is_named(const object *o, const char *needed) {
  const char *name = file_of(needed);
  return (o->soname && strcmp(o->soname, name) == 0) ||
         strcmp(file_of(o->path), name) == 0;
}

typedef struct {
  const char *needed;
  const ElfW(Dyn) * found;
} name_search;

static int note_named(struct dl_phdr_info *module, size_t size, void *search_) {
  name_search *search = search_;
  object o;
  (void)size;
  if (!read_object(module, &o) || !is_named(&o, search->needed)) return 0;
  search->found = o.dynamic;
  return 1;
}

/* Of modules with the same name, the first is what others need. */
static bool is_first_named(const object *o, const char *needed) {
  name_search search = {.needed = needed};
  (void)dl_iterate_phdr(note_named, &search);
  return search.found == o->dynamic;
}

/* A module and those that need it, which are its roots and what is in between, by their
 * places in the loader's order. Beyond the limit the last ones are missing. */
enum { USERS_MOST = 64 };

typedef struct {
  const void *address;
  size_t count, at; /* of users; of the module that is visited */
  bool grew;
  struct {
    size_t at;
    object object;
  } user[USERS_MOST];
} user_search;

static void add_user(user_search *s, const object *o) {
  if (s->count == USERS_MOST) return;
  size_t i = s->count++;
  for (; i > 0 && s->user[i - 1].at > s->at; i--) s->user[i] = s->user[i - 1];
  s->user[i].at = s->at;
  s->user[i].object = *o;
  s->grew = true;
}

static bool needs_one(const user_search *s, const object *o) {
  for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
    if (d->d_tag != DT_NEEDED) continue;
    const char *needed = o->strings + d->d_un.d_val;
    for (size_t i = 0; i < s->count; i++) {
      const object *user = &s->user[i].object;
      if (is_named(user, needed) && is_first_named(user, needed)) return true;
    }
  }
  return false;
}

static int visit_user(struct dl_phdr_info *module, size_t size, void *search) {
  user_search *s = search;
  object o;
  (void)size;
  bool is_known = !read_object(module, &o);
  for (size_t i = 0; i < s->count; i++)
    is_known |= s->user[i].object.dynamic == o.dynamic;
  if (!is_known && (segment_of(module, s->address) || needs_one(s, &o))) add_user(s, &o);
  s->at++;
  return 0;
}

/* All passes are within the first call of another one, whose lock keeps the modules from
 * being unloaded. */
static int find_users(struct dl_phdr_info *module, size_t size, void *search) {
  user_search *s = search;
  (void)module;
  (void)size;
  do {
    s->grew = false;
    s->at = 0;
    (void)dl_iterate_phdr(visit_user, s);
  } while (s->grew && s->count < USERS_MOST);
  return 1;
}

typedef struct {
  const ElfW(Dyn) * dynamic;
  char path[PATH_MAX];
} path_search;

static int note_path(struct dl_phdr_info *module, size_t size, void *search_) {
  path_search *search = search_;
  object o;
  (void)size;
  if (!read_object(module, &o) || o.dynamic != search->dynamic) return 0;
  (void)snprintf(search->path, sizeof search->path, "%s", module->dlpi_name);
  return 1;
}

static void *find_in(const char *path, const char *name) {
  void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void *found = handle ? dlsym(handle, name) : NULL;
  if (handle) (void)icp_dlclose(handle);
  return found;
}

/* The loader must not be called from within dl_iterate_phdr(), so the path is copied. */
static void *find_in_list_of(const ElfW(Dyn) * root, const char *name) {
  path_search search = {.dynamic = root};
  return dl_iterate_phdr(note_path, &search) ? find_in(search.path, name) : NULL;
}

typedef struct {
  size_t at, wanted; /* modules */
  char path[PATH_MAX];
} nth_search;

static int note_nth_path(struct dl_phdr_info *module, size_t size, void *search_) {
  nth_search *search = search_;
  (void)size;
  if (search->at++ < search->wanted) return 0;
  (void)snprintf(search->path, sizeof search->path, "%s", module->dlpi_name);
  return 1;
}

void *icp_defined(const char *name) {
  nth_search search = {.wanted = 0};
  void *found = NULL;
  while (!found && dl_iterate_phdr(note_nth_path, &search)) {
    found = find_in(search.path, name);
    if (icp_is_own(found)) found = NULL;
    search.at = 0;
    search.wanted++;
  }
  return found;
}

/* What the program needs, the first in the loader's order, has the global scope only. */
static void *find_locally(const void *address, const char *name) {
  user_search users = {.address = address};
  void *found = NULL;
  (void)dl_iterate_phdr(find_users, &users);
  if (users.count && users.user[0].at == 0) return NULL;
  for (size_t i = 0; i < users.count && !found; i++) {
    found = find_in_list_of(users.user[i].object.dynamic, name);
  }
  return found;
}

/* Where a module's calls of a family's functions lead. */
typedef struct {
  const void *address; /* of the module */
  const char *prefix;
  icp_code global, local, own;
  bool imports, to_global, to_local, unbound;
} import_search;

/* A place in a module that the loader fills in with the address of an undefined symbol. */
typedef void reference_visitor(const ElfW(Sym) * symbol, const char *name, void **place,
                               void *context);

static void visit_table(const object *o, uintptr_t table, size_t bytes,
                        reference_visitor *visit, void *context) {
  enum { SYMBOL_SHIFT = sizeof(void *) == 8 ? 32 : 8 };
  const ElfW(Rela) *r = (const ElfW(Rela) *)address_in(o->base, table);
  const ElfW(Sym) *symbols =
      (const ElfW(Sym) *)address_in(o->base, entry_of(o, DT_SYMTAB));
  for (size_t i = 0; table && i < bytes / sizeof *r; i++) {
    const ElfW(Sym) *symbol = &symbols[r[i].r_info >> SYMBOL_SHIFT];
    if (symbol->st_shndx != SHN_UNDEF) continue;
    visit(symbol, o->strings + symbol->st_name, (void **)(o->base + r[i].r_offset),
          context);
  }
}
/* NOLINTEND(performance-no-int-to-ptr) */

static void visit_references(const object *o, reference_visitor *visit, void *context) {
  visit_table(o, entry_of(o, DT_RELA), entry_of(o, DT_RELASZ), visit, context);
  if (entry_of(o, DT_PLTREL) == DT_RELA) {
    visit_table(o, entry_of(o, DT_JMPREL), entry_of(o, DT_PLTRELSZ), visit, context);
  }
}

static void note_import(const ElfW(Sym) * symbol, const char *name, void **place,
                        void *context) {
  import_search *search = context;
  bool is_of_family = strncmp(name, search->prefix, strlen(search->prefix)) == 0;
  (void)symbol;
  search->imports |= is_of_family;
  if (!is_of_family && strncmp(name, "omp_", strlen("omp_")) != 0) return;
  search->to_global |= icp_is_in(&search->global, *place);
  search->to_local |= icp_is_in(&search->local, *place);
  search->unbound |= icp_is_in(&search->own, *place);
}

static int visit_importer(struct dl_phdr_info *module, size_t size, void *search) {
  import_search *s = search;
  object o;
  (void)size;
  if (!segment_of(module, s->address)) return 0;
  if (read_object(module, &o)) visit_references(&o, note_import, s);
  return 1;
}

int icp_dlclose(void *handle) {
  static _Atomic(void *) original;
  int (*real)(void *);
  void *found = atomic_load_explicit(&original, memory_order_relaxed);
  if (!found) {
    found = dlsym(RTLD_NEXT, "dlclose");
    atomic_store_explicit(&original, found, memory_order_relaxed);
  }
  memcpy(&real, &found, sizeof real);
  return real(handle);
}

bool icp_imports(const void *address, const char *prefix) {
  import_search search = {.address = address, .prefix = prefix};
  (void)dl_iterate_phdr(visit_importer, &search);
  return search.imports;
}

void *icp_bound(const void *address, const char *name, const char *prefix,
                bool *doubtful) {
  void *global = dlsym(RTLD_NEXT, name), *local = find_locally(address, name);
  if (!global || !local || global == local) return global ? global : local;
  import_search search = {.address = address,
                          .prefix = prefix,
                          .global = icp_code_at(global),
                          .local = icp_code_at(local),
                          .own = icp_code_at(address)};
  (void)dl_iterate_phdr(visit_importer, &search);
  if (search.unbound) return global;
  *doubtful = search.to_global == search.to_local;
  return search.to_local && !search.to_global ? local : global;
}

/* ---- what is only asked for
 *
 * By a weak reference a program sees whether its libraries have a function. The loader finds ours in
 * any program, so that those of them which the libraries lack are taken back: from the places
 * where the loader wrote their addresses, and from our own table of symbols, in which it finds
 * them for later modules and dlsym(). */

enum { ASKED_MOST = 128 };

typedef struct {
  size_t count;
  struct {
    const char *name;
    void **place;
  } asked[ASKED_MOST];
} asked_search;

static void note_asked(const ElfW(Sym) * symbol, const char *name, void **place,
                       void *context) {
  asked_search *s = context;
  bool is_weak = symbol->st_info >> 4 == STB_WEAK;
  if (!is_weak || !icp_is_own(*place) || s->count == ASKED_MOST) return;
  s->asked[s->count].name = name;
  s->asked[s->count++].place = place;
}

static int visit_asking(struct dl_phdr_info *module, size_t size, void *search) {
  object o;
  (void)size;
  if (read_object(module, &o)) visit_references(&o, note_asked, search);
  return 0;
}

/* Its page, without code, is writable afterwards: the loader protects what it has filled in. */
static void clear(void *word) {
  uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *page = (char *)word - (uintptr_t)word % bytes;
  if (mprotect(page, bytes, PROT_READ | PROT_WRITE) == 0) {
    memset(word, 0, sizeof(uintptr_t));
  }
}

void icp_clear_asked(void *libraries, const char *prefix) {
  asked_search s = {.count = 0};
  (void)dl_iterate_phdr(visit_asking, &s);
  for (size_t i = 0; i < s.count; i++) {
    bool is_of_family = strncmp(s.asked[i].name, prefix, strlen(prefix)) == 0;
    if (is_of_family && !dlsym(libraries, s.asked[i].name)) clear(s.asked[i].place);
  }
}

void icp_hide(const void *function) {
  Dl_info about;
  ElfW(Sym) *symbol = NULL;
  if (dladdr1(function, &about, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
      icp_is_own(symbol) && about.dli_saddr == function) {
    clear(&symbol->st_value);
  }
}
