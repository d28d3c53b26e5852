/* Checksums as in zlib, so that Python computes the same without a loop of its own. */
#include <inttypes.h>
#include <stdio.h>

#include "instance.h"

uint32_t fmu_crc32(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? UINT32_C(0xEDB88320) ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  uint32_t crc = ~before;
  for (size_t i = 0; i < size; i++) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

static uint32_t adler32(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t a = before & 0xFFFF, b = before >> 16;
  for (size_t i = 0; i < size; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

void fmu_make_token(const fmu_resources *of, char token[FMU_TOKEN_SIZE]) {
  const uint32_t crc = fmu_crc32(fmu_crc32(0, of->model, of->model_size), of->interface, of->interface_size);
  const uint32_t adler = adler32(adler32(1, of->model, of->model_size), of->interface, of->interface_size);
  const uint64_t n = (uint64_t)of->model_size + of->interface_size;
  snprintf(token, FMU_TOKEN_SIZE, "{%08" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%04" PRIx64 "-%012" PRIx64 "}", crc,
           adler >> 16, adler & 0xFFFF, n >> 48, n & UINT64_C(0xFFFFFFFFFFFF));
}
