/** Colours and light of the two themes. */

import type { Inks } from "./overlay";

export type Theme = "light" | "dark";

export interface Look extends Inks {
  background: string;
  grid: string;
  shadow: number;
  light: number;
  sky: number;
  reflection: number;
}

export const LOOKS: Record<Theme, Look> = {
  light: { background: "#f3f5f7", grid: "#8d98a5", shadow: 0.24, light: 1.75, sky: 2.05, reflection: 0.9, text: "#20262d", halo: "rgba(243,245,247,0.9)", faint: "#6b7580" },
  dark: { background: "#14181d", grid: "#66727f", shadow: 0.5, light: 1.75, sky: 1.9, reflection: 0.9, text: "#e8ecf0", halo: "rgba(20,24,29,0.85)", faint: "#93a0ad" },
};
