/* Sine and cosine: reduction by pi/2 in three parts (Cody and Waite), then the minimax polynomials of fdlibm.
 * Our own, and without a branch, so that every platform gives the same bits and vectors of numbers do as well: SINE_COSINE is
 * the body of a function of numbers x, *sine and *cosine, and compiled tapes have it as text (tape/write_c.cpp). */
#ifndef LW_MATH_SINE_COSINE_H
#define LW_MATH_SINE_COSINE_H

#define SINE_TAIL(z)                                                                                            \
  (8.33333333332248946124e-03 +                                                                                 \
   z * (-1.98412698298579493134e-04 +                                                                           \
        z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))))
#define COSINE_TAIL(z)                                                                                                 \
  (4.16666666666666019037e-02 +                                                                                        \
   z * (-1.38888888888741095749e-03 +                                                                                  \
        z * (2.48015872894767294178e-05 +                                                                              \
             z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))))

/* `whole` has the bits of `numbers`. Adding the shifter rounds to an integer, found in the low bits. */
#define SINE_COSINE(numbers, whole)                                                                                 \
  {                                                                                                                 \
    const double shifter = 0x1.8p52;                                                                                \
    const numbers turned = x * 0x1.45f306dc9c883p-1 + shifter, quarters = turned - shifter;                         \
    const numbers head = x - quarters * 0x1.921fb544p0, tail = quarters * 0x1.0b4611a6p-34;                         \
    const numbers r = head - tail;                                                                                  \
    const numbers rest = quarters * 0x1.3198a2e037073p-69 - ((head - r) - tail);                                    \
    const numbers y = r - rest, low = (r - y) - rest, z = y * y, y3 = z * y;                                        \
    const numbers ps = SINE_TAIL(z), s = y - ((z * (0.5 * low - y3 * ps) - low) + y3 * 1.66666666666666324348e-01); \
    const numbers pc = COSINE_TAIL(z);                                                                              \
    const numbers half = 0.5 * z, w = 1.0 - half, c = w + (((1.0 - w) - half) + (z * (z * pc) - y * low));          \
    whole n, s_bits, c_bits;                                                                                        \
    __builtin_memcpy(&n, &turned, sizeof n);                                                                        \
    __builtin_memcpy(&s_bits, &s, sizeof s);                                                                        \
    __builtin_memcpy(&c_bits, &c, sizeof c);                                                                        \
    const whole swap = 0 - (n & 1);                                                                                 \
    const whole sine_bits = ((c_bits & swap) | (s_bits & ~swap)) ^ ((n & 2) << 62);                                 \
    const whole cosine_bits = ((s_bits & swap) | (c_bits & ~swap)) ^ (((n + 1) & 2) << 62);                         \
    __builtin_memcpy(sine, &sine_bits, sizeof sine_bits);                                                           \
    __builtin_memcpy(cosine, &cosine_bits, sizeof cosine_bits);                                                     \
  }
#endif
