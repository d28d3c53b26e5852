/* CRC-32 and Adler-32 as in zlib: Python's zlib module computes the same values. */
#include <inttypes.h>
#include <stdio.h>

#include "resources.h"

static void fill_crc_table(uint32_t table[8][256]) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? UINT32_C(0xEDB88320) ^ (c >> 1) : c >> 1;
    table[0][i] = c;
  }
  for (int k = 1; k < 8; k++)
    for (int i = 0; i < 256; i++) table[k][i] = table[0][table[k - 1][i] & 255] ^ (table[k - 1][i] >> 8);
}

uint32_t fmu_crc32(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t table[8][256]; /* filled at each call, because threads may load models at the same time */
  fill_crc_table(table);
  uint32_t crc = ~before;
  for (; size >= 8; size -= 8, bytes += 8)
    crc = table[7][(crc ^ bytes[0]) & 255] ^ table[6][(crc >> 8 ^ bytes[1]) & 255] ^
          table[5][(crc >> 16 ^ bytes[2]) & 255] ^ table[4][crc >> 24 ^ bytes[3]] ^ table[3][bytes[4]] ^
          table[2][bytes[5]] ^ table[1][bytes[6]] ^ table[0][bytes[7]];
  for (size_t i = 0; i < size; i++) crc = table[0][(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}

/* The sums are reduced every 5552 bytes, before b can overflow. */
static uint32_t adler32(uint32_t before, const unsigned char *bytes, size_t size) {
  uint32_t a = before & 0xFFFF, b = before >> 16;
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

void fmu_make_token(const fmu_resources *of, char token[FMU_TOKEN_SIZE]) {
  const uint32_t crc = fmu_crc32(fmu_crc32(0, of->model, of->model_size), of->interface, of->interface_size);
  const uint32_t adler = adler32(adler32(1, of->model, of->model_size), of->interface, of->interface_size);
  const uint64_t n = (uint64_t)of->model_size + of->interface_size;
  snprintf(token, FMU_TOKEN_SIZE, "{%08" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%04" PRIx64 "-%012" PRIx64 "}", crc,
           adler >> 16, adler & 0xFFFF, n >> 48, n & UINT64_C(0xFFFFFFFFFFFF));
}
