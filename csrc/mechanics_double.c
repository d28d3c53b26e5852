#define LW_ARITHMETIC 1 /* LW_DOUBLE */
#include "mechanics/unity.h"
