"""Questions before a simulation: rest positions, kinematics, loads of motors, inverse kinematics, design."""
