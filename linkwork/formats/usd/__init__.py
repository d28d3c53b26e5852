"""OpenUSD Physics: rigid bodies and joints of .usda, .usdc and .usd files, through usd-core."""

from linkwork.formats.usd.reading import read

__all__ = ["read"]
