/** Less detail while things move, where frames take too long: first no shadows, then fewer pixels. Stills have all of it. */

const SLOW = 30; // ms a frame
const PAUSE = 250; // ms without a frame: nothing moved
const ENOUGH = 6; // slow frames in a row that count; very slow ones count more

export interface Quality {
  shadows: boolean;
  ratio: number; // pixels of the canvas for one of the page, at most
}

/** At rest first, then while something moves, ever faster. */
const LEVELS: Quality[] = [{ shadows: true, ratio: 2 }, { shadows: false, ratio: 2 }, { shadows: false, ratio: 1 }, { shadows: false, ratio: 0.7 }];
/** Without a graphics card edges are not smoothed: stills have more pixels than the screen instead. */
const SOFTWARE: Quality[] = [{ shadows: true, ratio: 1.5 }, { shadows: false, ratio: 1 }, { shadows: false, ratio: 0.7 }];

export class QualityControl {
  private level: number;
  private last = 0;
  private slow = 0;
  private moving = false;
  private readonly levels: Quality[];

  /** `ratio`: of the screen. */
  constructor(private ratio: number, private readonly software: boolean) {
    this.levels = software ? SOFTWARE : LEVELS;
    this.level = software ? 1 : 0;
  }

  /** The ratio of pixels is that to draw with. */
  get quality(): Quality {
    const { shadows, ratio } = this.levels[this.moving ? this.level : 0]!;
    return { shadows, ratio: this.software && !this.moving ? ratio : Math.min(this.ratio, ratio) };
  }

  /** Count a frame at a time, ms, that was requested `waited` ms after the one before was drawn; true: the quality changes. */
  frame(now: number, waited: number): boolean {
    const took = now - this.last;
    this.last = now;
    if (waited > PAUSE) {
      this.slow = 0;
      return false;
    }
    this.slow = took > SLOW ? this.slow + Math.min(took / SLOW, 4) : Math.max(this.slow - 2, 0);
    if (this.slow < ENOUGH || this.level === this.levels.length - 1) return false;
    this.slow = 0;
    this.level++;
    while (this.level < this.levels.length - 1 && this.level > 1 && this.levels[this.level]!.ratio >= this.ratio) this.level++;
    return this.moving;
  }

  /** Whether something moves; true: the quality changes. */
  move(moving: boolean): boolean {
    if (moving === this.moving) return false;
    this.moving = moving;
    return this.level > 0;
  }

  setRatio(ratio: number): void {
    this.ratio = ratio;
  }
}

/** A canvas with a context; `software`: it is drawn without a graphics card. */
export function contextFor(): { canvas: HTMLCanvasElement; context: WebGL2RenderingContext; software: boolean } {
  const plain = create(false);
  const info = plain.context.getExtension("WEBGL_debug_renderer_info");
  const name = String(plain.context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : plain.context.RENDERER));
  if (/swiftshader|llvmpipe|software|basic render/i.test(name)) return { ...plain, software: true };
  plain.context.getExtension("WEBGL_lose_context")?.loseContext();
  return { ...create(true), software: false };
}

function create(antialias: boolean): { canvas: HTMLCanvasElement; context: WebGL2RenderingContext } {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2", { antialias, alpha: false, stencil: false, powerPreference: "high-performance" });
  if (!context) throw new Error("This browser shows no 3-D graphics (WebGL 2). Enable hardware acceleration, or use another browser.");
  return { canvas, context };
}
