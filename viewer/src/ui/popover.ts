/** A small window at a button. */

import { element } from "./dom";

const MARGIN = 8;

export class Popover {
  readonly root: HTMLElement;

  /** `onOpen` may fill or bring up to date the content before it shows. */
  constructor(
    private readonly button: HTMLElement,
    label: string,
    content: HTMLElement,
    private readonly onOpen: () => void = () => {},
  ) {
    this.root = element("div", { class: "popover", role: "dialog", "aria-label": label, hidden: true, tabindex: "-1" }, content);
    button.setAttribute("aria-haspopup", "dialog");
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => this.toggle());
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
      button.focus();
    });
    this.root.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.holds(relatedTarget)) this.close();
    });
  }

  get open(): boolean {
    return !this.root.hidden;
  }

  toggle(): void {
    if (this.open) this.close();
    else this.show();
  }

  show(): void {
    if (!this.root.isConnected) (this.button.closest(".page") ?? document.body).append(this.root);
    this.onOpen();
    this.root.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.place();
    (this.root.querySelector<HTMLElement>("[data-focus]") ?? this.root).focus({ preventScroll: true });
    document.addEventListener("pointerdown", this.outside, true);
    window.addEventListener("resize", this.placeAgain);
  }

  close(): void {
    if (!this.open) return;
    this.root.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", this.outside, true);
    window.removeEventListener("resize", this.placeAgain);
  }

  private holds(node: Node): boolean {
    return this.root.contains(node) || this.button.contains(node);
  }

  private readonly outside = ({ target }: Event): void => {
    if (target instanceof Node && !this.holds(target)) this.close();
  };

  private readonly placeAgain = (): void => this.place();

  /** Below the button or above it, where there is more room, inside the window. */
  private place(): void {
    const at = this.button.getBoundingClientRect();
    const { style } = this.root;
    const [below, above] = [innerHeight - at.bottom, at.top];
    const down = below >= Math.min(this.root.scrollHeight + 2 * MARGIN, above);
    style.maxHeight = `${(down ? below : above) - 2 * MARGIN}px`;
    style.top = down ? `${at.bottom + 4}px` : "";
    style.bottom = down ? "" : `${innerHeight - at.top + 4}px`;
    const left = Math.min(at.left, innerWidth - this.root.offsetWidth - MARGIN);
    style.left = `${Math.max(MARGIN, left)}px`;
  }
}
