/* Model and interface file, from the folder of the FMU or compiled in, and the token that ties both to the model
 * description. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

#include "embedded_resources.h"
#include "resources.h"

#ifdef LINKWORK_EMBEDDED

int fmu_open_resources(const fmu_log *log, const char *folder, fmu_resources *resources) {
  (void)log, (void)folder;
  *resources = (fmu_resources){linkwork_model, linkwork_interface, linkwork_model_size, linkwork_interface_size, {0}};
  return 1;
}

#else

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Replaces %41 by A; invalid codes stay unchanged. */
static void decode_percent(char *text) {
  char *to = text;
  for (const char *from = text; *from; to++) {
    const int high = *from == '%' ? hex_digit(from[1]) : -1;
    const int low = high >= 0 ? hex_digit(from[2]) : -1;
    const int code = low >= 0 ? 16 * high + low : 0;
    *to = code ? (char)code : *from;
    from += code ? 3 : 1;
  }
  *to = 0;
}

/* Path of a file: URI of the form file:/p, file:///p, file://host/p or file:///C:/p. */
static const char *path_of_uri(char *uri) {
  char *path = uri + strlen("file:");
  if (path[0] == '/' && path[1] == '/') {
    path = strchr(path + 2, '/');
    if (!path) return "";
  }
  decode_percent(path);
  const int drive = path[0] == '/' && path[1] && path[2] == ':';
  return path + drive;
}

char *fmu_resource_path(const char *folder, const char *file) {
  const size_t size = strlen(folder) + strlen(file) + 2;
  char *copy = malloc(size), *joined = malloc(size);
  if (copy && joined) {
    memcpy(copy, folder, strlen(folder) + 1);
    const char *path = strncmp(copy, "file:", 5) == 0 ? path_of_uri(copy) : copy;
    const size_t n = strlen(path);
    const int separated = n && (path[n - 1] == '/' || path[n - 1] == '\\');
    snprintf(joined, size, "%s%s%s", path, separated ? "" : "/", file);
  } else {
    free(joined);
    joined = NULL;
  }
  free(copy);
  return joined;
}

static unsigned char *read_all(FILE *stream, size_t *size) {
  if (fseek(stream, 0, SEEK_END)) return NULL;
  const long length = ftell(stream);
  if (length < 0 || length == LONG_MAX || fseek(stream, 0, SEEK_SET)) return NULL;
  unsigned char *bytes = malloc((size_t)length + 1);
  if (!bytes) return NULL;
  *size = fread(bytes, 1, (size_t)length, stream);
  if (*size == (size_t)length) return bytes;
  free(bytes);
  return NULL;
}

#ifdef _WIN32
wchar_t *fmu_wide_path(const char *path) {
  const int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, NULL, 0);
  wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
  if (wide && MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, n) == n) return wide;
  free(wide);
  return NULL;
}

static FILE *open_file(const char *path) {
  wchar_t *wide = fmu_wide_path(path);
  FILE *stream = wide ? _wfopen(wide, L"rb") : NULL;
  free(wide);
  return stream;
}
#else
static FILE *open_file(const char *path) { return fopen(path, "rb"); }
#endif

unsigned char *fmu_read_file(const char *path, size_t *size) {
  FILE *stream = open_file(path);
  unsigned char *bytes = stream ? read_all(stream, size) : NULL;
  if (stream) fclose(stream);
  return bytes;
}

static unsigned char *read_resource(const fmu_log *log, const char *folder, const char *file, size_t *size) {
  if (!folder || !*folder) {
    fmu_log_message(log, FMU_ERROR, "the path of the resources folder is missing; this FMU reads %s there", file);
    return NULL;
  }
  char *path = fmu_resource_path(folder, file);
  if (!path) {
    fmu_log_message(log, FMU_ERROR, "out of memory");
    return NULL;
  }
  errno = 0;
  unsigned char *bytes = fmu_read_file(path, size);
  if (!bytes)
    fmu_log_message(log, FMU_ERROR, "cannot read '%s': %s", path, errno ? strerror(errno) : "not a readable file");
  free(path);
  return bytes;
}

int fmu_open_resources(const fmu_log *log, const char *folder, fmu_resources *resources) {
  size_t sizes[2] = {0, 0};
  unsigned char *model = read_resource(log, folder, "model.lwm", &sizes[0]);
  unsigned char *interface = model ? read_resource(log, folder, "interface.lwi", &sizes[1]) : NULL;
  *resources = (fmu_resources){model, interface, sizes[0], sizes[1], {model, interface}};
  if (interface) return 1;
  fmu_close_resources(resources);
  return 0;
}

#endif

void fmu_close_resources(fmu_resources *resources) {
  for (int i = 0; i < 2; i++) free(resources->allocated[i]);
}
