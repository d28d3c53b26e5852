/** Light or dark: that of the system, until the reader chooses. */

import type { Theme } from "./palette";
import { Value } from "./value";

export function followTheme(): Value<Theme> {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = new Value<Theme>(dark.matches ? "dark" : "light");
  theme.follow((value) => (document.documentElement.dataset.theme = value));
  const system = (): void => theme.set(dark.matches ? "dark" : "light");
  dark.addEventListener("change", system);
  return theme;
}

export function other(theme: Theme): Theme {
  return theme === "dark" ? "light" : "dark";
}
