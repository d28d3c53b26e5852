#define LW_ARITHMETIC 2 /* LW_COMPLEX */
#include "mechanics/unity.h"
