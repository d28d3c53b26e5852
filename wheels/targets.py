"""The platforms of wheels."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A platform of wheels.

    Attributes
    ----------
    platform
        FMI's platform tuple, by which `linkwork.fmu.export.cross_compile` knows the target of the compiler.
    tag
        Platform tag of the wheel, which states the oldest system.
    extension
        File name under which Python looks for the extension module of the stable ABI.
    """

    platform: str
    tag: str
    extension: str


TARGETS = (
    Target("x86_64-linux", "manylinux_2_17_x86_64.manylinux2014_x86_64", "_core.abi3.so"),
    Target("aarch64-linux", "manylinux_2_17_aarch64.manylinux2014_aarch64", "_core.abi3.so"),
    Target("x86_64-windows", "win_amd64", "_core.pyd"),
    Target("x86_64-darwin", "macosx_11_0_x86_64", "_core.abi3.so"),
    Target("aarch64-darwin", "macosx_11_0_arm64", "_core.abi3.so"),
)
