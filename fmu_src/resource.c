#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* %41 to A; what is no such code stays as it is. */
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

/* The path of a file: URI in its forms file:/p, file:///p, file://host/p and file:///C:/p. */
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

/* "folder/file", allocated; a NULL or empty folder is an error. */
static char *join_path(const char *folder, const char *file) {
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

unsigned char *fmu_read_resource(const fmu_log *log, const char *folder, const char *file, size_t *size) {
  if (!folder || !*folder) {
    fmu_say(log, FMU_ERROR, "the path of the resources folder is missing; this FMU reads %s there", file);
    return NULL;
  }
  char *path = join_path(folder, file);
  if (!path) {
    fmu_say(log, FMU_ERROR, "out of memory");
    return NULL;
  }
  errno = 0;
  unsigned char *bytes = NULL;
  FILE *stream = fopen(path, "rb");
  if (stream) {
    bytes = read_all(stream, size);
    fclose(stream);
  }
  if (!bytes) fmu_say(log, FMU_ERROR, "cannot read '%s': %s", path, errno ? strerror(errno) : "not a readable file");
  free(path);
  return bytes;
}

/* Eight bytes at a step: row k of the table carries a byte over the k zero bytes that follow it. */
static void fill_crc_table(uint32_t table[8][256]) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? UINT32_C(0xEDB88320) ^ (c >> 1) : c >> 1;
    table[0][i] = c;
  }
  for (int k = 1; k < 8; k++)
    for (int i = 0; i < 256; i++) table[k][i] = table[0][table[k - 1][i] & 255] ^ (table[k - 1][i] >> 8);
}

/* As in zlib, so that Python computes the same without a loop of its own. */
uint32_t fmu_crc32(const unsigned char *bytes, size_t size) {
  uint32_t table[8][256]; /* filled at each call: threads may load models at the same time */
  fill_crc_table(table);
  uint32_t crc = UINT32_MAX;
  for (; size >= 8; size -= 8, bytes += 8)
    crc = table[7][(crc ^ bytes[0]) & 255] ^ table[6][(crc >> 8 ^ bytes[1]) & 255] ^
          table[5][(crc >> 16 ^ bytes[2]) & 255] ^ table[4][crc >> 24 ^ bytes[3]] ^ table[3][bytes[4]] ^
          table[2][bytes[5]] ^ table[1][bytes[6]] ^ table[0][bytes[7]];
  for (size_t i = 0; i < size; i++) crc = table[0][(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

/* Remainders are taken once in 5552 bytes, after which b might overflow. */
static uint32_t adler32(const unsigned char *bytes, size_t size) {
  uint32_t a = 1, b = 0;
  while (size) {
    const size_t run = size < 5552 ? size : 5552;
    for (size_t i = 0; i < run; i++) {
      a += bytes[i];
      b += a;
    }
    a %= 65521;
    b %= 65521;
    bytes += run;
    size -= run;
  }
  return b << 16 | a;
}

void fmu_make_token(const unsigned char *bytes, size_t size, char token[FMU_TOKEN_SIZE]) {
  const uint32_t crc = fmu_crc32(bytes, size), adler = adler32(bytes, size);
  const uint64_t n = size;
  snprintf(token, FMU_TOKEN_SIZE, "{%08" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%04" PRIx64 "-%012" PRIx64 "}", crc,
           adler >> 16, adler & 0xFFFF, n >> 48, n & UINT64_C(0xFFFFFFFFFFFF));
}
