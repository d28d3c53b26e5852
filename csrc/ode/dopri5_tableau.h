/* Dormand, J. R., Prince, P. J.: A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26.
 * Fractions as printed there, so that the tests can read them from this file and check the order conditions exactly.
 * The last row of A is B (first same as last). ERROR is B minus the weights of the embedded method of order 4.
 * BUBBLE raises the cubic Hermite interpolant of a step to order 4 (Shampine 1986; Hairer, Norsett, Wanner, II.6). */
#ifndef LINKWORK_DOPRI5_TABLEAU_H
#define LINKWORK_DOPRI5_TABLEAU_H

#include "ode.h"

static const double C[LW_DOPRI5_STAGES] = {0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0};

static const double A[LW_DOPRI5_STAGES][LW_DOPRI5_STAGES] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
};

static const double B[LW_DOPRI5_STAGES] = {
    35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0,
};

static const double ERROR[LW_DOPRI5_STAGES] = {
    71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0,
};

static const double BUBBLE[LW_DOPRI5_STAGES] = {
    -12715105075.0 / 11282082432.0,  0.0,
    87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0,
};

#endif
