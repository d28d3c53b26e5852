"""Wheels for all platforms from one machine, by the compiler of the package ziglang: `./run wheels`."""
