/* The instantiation token of an FMU; Python's zlib module computes the same sums. */
#include <inttypes.h>
#include <stdio.h>

#include "linkwork.h"
#include "resources.h"

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
  const uint32_t crc = lw_crc32(lw_crc32(0, of->model, of->model_size), of->interface, of->interface_size);
  const uint32_t adler = adler32(adler32(1, of->model, of->model_size), of->interface, of->interface_size);
  const uint64_t n = (uint64_t)of->model_size + of->interface_size;
  snprintf(token, FMU_TOKEN_SIZE, "{%08" PRIx32 "-%04" PRIx32 "-%04" PRIx32 "-%04" PRIx64 "-%012" PRIx64 "}", crc,
           adler >> 16, adler & 0xFFFF, n >> 48, n & UINT64_C(0xFFFFFFFFFFFF));
}
