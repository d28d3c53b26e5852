/* The compiled tapes that an FMU may carry. They give the rates of the states in place of the kernels, with the same bits, so
 * a library that is refused is a warning: the kernels remain. Source FMUs have them compiled in, others a library for
 * each platform, resources/native/<platform>/rates.so, .dll or .dylib. Each has a line of resources/native/libraries.txt with
 * platform, CRC-32 and size: the loader of the system may not survive a damaged one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "embedded_resources.h"

static void refuse(const fmu *f, const char *what, const char *why) {
  fmu_log_message(&f->log, FMU_WARNING, "the compiled tapes are not used, so evaluations take longer: %s %s", what,
                  why);
}

static int use(fmu *f, const struct lw_rates_library *rates, const char *what) {
  if (lw_use_rates_library(f->state, rates) == LW_OK) return 1;
  refuse(f, what, lw_state_message(f->state));
  return 0;
}

#ifdef LINKWORK_EMBEDDED

void fmu_load_compiled_rates(fmu *f, const char *folder) {
  (void)folder;
  if (linkwork_compiled_rates) use(f, linkwork_compiled_rates, "those in the sources are refused:");
}

void fmu_unload_compiled_rates(fmu *f) { (void)f; }

#else

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#define SYSTEM "windows"
#define SUFFIX ".dll"
#else
#include <dlfcn.h>
#ifdef __APPLE__
#define SYSTEM "darwin"
#define SUFFIX ".dylib"
#else
#define SYSTEM "linux"
#define SUFFIX ".so"
#endif
#endif

/* Since version 2.34 of glibc these have a new version, and their old one as well: with that an FMU loads where glibc is
 * older than on the system that built it. */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
#if defined(__x86_64__)
#define OLD "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLD "GLIBC_2.17"
#endif
#endif
#endif
#ifdef OLD
__asm__(".symver dlopen, dlopen@" OLD);
__asm__(".symver dlsym, dlsym@" OLD);
__asm__(".symver dlclose, dlclose@" OLD);
__asm__(".symver dlerror, dlerror@" OLD);
#endif

/* As FMI 3.0 names it. */
#if defined(__aarch64__)
#define PLATFORM "aarch64-" SYSTEM
#elif defined(__x86_64__)
#define PLATFORM "x86_64-" SYSTEM
#else
#define PLATFORM "another processor"
#endif

/* ---- the libraries of a system ---------------------------------------------------------------------------- */

#ifdef _WIN32
static void *open_library(const char *path, char *why, size_t size) {
  DWORD mode;
  wchar_t *wide = fmu_wide_path(path);
  for (wchar_t *c = wide; c && *c; c++)
    if (*c == L'/') *c = L'\\';
  SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mode); /* no window */
  HMODULE library = wide ? LoadLibraryW(wide) : NULL;
  if (!library) snprintf(why, size, "error %lu of Windows", (unsigned long)GetLastError());
  SetThreadErrorMode(mode, NULL);
  free(wide);
  return library;
}

static const void *find_symbol(void *library, const char *name) {
  return (const void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}

static void close_library(void *library) { FreeLibrary((HMODULE)library); }
#else
static void *open_library(const char *path, char *why, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const char *text = library ? NULL : dlerror();
  if (!library) snprintf(why, size, "%s", text ? text : "the system gives no reason");
  return library;
}

static const void *find_symbol(void *library, const char *name) { return dlsym(library, name); }

static void close_library(void *library) { dlclose(library); }
#endif

/* ---- the one of this platform ------------------------------------------------------------------------------- */

/* Its checksum and size by the list; 0: it is not there. */
static int find_in_list(const char *list, uint32_t *checksum, size_t *size) {
  for (const char *line = list; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    char platform[40];
    unsigned sum;
    unsigned long long length;
    if (sscanf(line, "%39s %x %llu", platform, &sum, &length) != 3 || strcmp(platform, PLATFORM) != 0) continue;
    *checksum = sum, *size = (size_t)length;
    return 1;
  }
  return 0;
}

static int is_whole(const char *path, uint32_t checksum, size_t size) {
  size_t found = 0;
  unsigned char *bytes = fmu_read_file(path, &found);
  const int same = bytes && found == size && lw_crc32(0, bytes, found) == checksum;
  free(bytes);
  return same;
}

static void load_library(fmu *f, const char *path) {
  char why[400];
  f->library = open_library(path, why, sizeof why);
  if (!f->library) {
    refuse(f, "this system does not load them:", why);
    return;
  }
  const struct lw_rates_library *rates = find_symbol(f->library, "linkwork_rates");
  if (!rates) refuse(f, path, "is a library of something else; export the FMU again");
  if (rates && use(f, rates, path)) return;
  fmu_unload_compiled_rates(f);
}

static void load_whole_library(fmu *f, const char *folder, const char *list) {
  uint32_t checksum;
  size_t size;
  if (!find_in_list(list, &checksum, &size)) {
    refuse(f, "resources/native has none for", PLATFORM "; export the FMU for this platform as well");
    return;
  }
  char *path = fmu_resource_path(folder, "native/" PLATFORM "/rates" SUFFIX);
  if (!path) refuse(f, "resources/native:", "out of memory");
  else if (is_whole(path, checksum, size)) load_library(f, path);
  else refuse(f, path, "is missing or damaged; unpack the FMU again, or export it again");
  free(path);
}

void fmu_load_compiled_rates(fmu *f, const char *folder) {
  size_t size = 0;
  char *path = fmu_resource_path(folder, "native/libraries.txt");
  char *list = path ? (char *)fmu_read_file(path, &size) : NULL; /* most FMUs have none */
  if (list) list[size] = 0;
  if (list) load_whole_library(f, folder, list);
  free(list);
  free(path);
}

void fmu_unload_compiled_rates(fmu *f) {
  if (f->library) close_library(f->library);
  f->library = NULL;
}

#endif
