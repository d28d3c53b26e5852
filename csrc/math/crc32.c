/* CRC-32 as in zlib, eight bytes at a time: Python's zlib.crc32 computes the same values. */
#include "linkwork.h"

static void fill_table(uint32_t table[8][256]) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; bit++) c = c & 1 ? UINT32_C(0xEDB88320) ^ (c >> 1) : c >> 1;
    table[0][i] = c;
  }
  for (int k = 1; k < 8; k++)
    for (int i = 0; i < 256; i++) table[k][i] = table[0][table[k - 1][i] & 255] ^ (table[k - 1][i] >> 8);
}

uint32_t lw_crc32(uint32_t before, const void *data, size_t size) {
  uint32_t table[8][256]; /* filled at each call, because threads may load models at the same time */
  fill_table(table);
  const unsigned char *bytes = data;
  uint32_t crc = ~before;
  for (; size >= 8; size -= 8, bytes += 8)
    crc = table[7][(crc ^ bytes[0]) & 255] ^ table[6][(crc >> 8 ^ bytes[1]) & 255] ^
          table[5][(crc >> 16 ^ bytes[2]) & 255] ^ table[4][crc >> 24 ^ bytes[3]] ^ table[3][bytes[4]] ^
          table[2][bytes[5]] ^ table[1][bytes[6]] ^ table[0][bytes[7]];
  for (size_t i = 0; i < size; i++) crc = table[0][(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  return ~crc;
}
