/* One tooltip for the page: shown on hover and on focus, gone with Escape. */

const tip = {
  box: document.getElementById("tip"),

  show(owner, ...content) {
    this.owner = owner;
    this.box.replaceChildren(...content);
    this.box.hidden = false;
    this.place();
  },

  place() {
    const at = this.owner.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const below = at.bottom + 6 + height <= window.innerHeight;
    const left = Math.min(at.left, document.documentElement.clientWidth - width - 8);
    this.box.style.left = `${Math.max(left, 8)}px`;
    this.box.style.top = `${below ? at.bottom + 6 : Math.max(at.top - height - 6, 4)}px`;
  },

  hide() {
    this.box.hidden = true;
  },

  /* Show what *content* makes while the pointer is over *owner* or the focus in it. */
  attach(owner, content) {
    const show = () => this.show(owner, ...content());
    owner.addEventListener("pointerenter", show);
    owner.addEventListener("focus", show);
    owner.addEventListener("pointerleave", () => this.hide());
    owner.addEventListener("blur", () => this.hide());
  },
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hide();
});
/* The focus may come from afar and scroll the page: its tooltip comes along. */
document.addEventListener("scroll", () => {
  if (tip.box.hidden) return;
  if (tip.owner === document.activeElement) tip.place();
  else tip.hide();
}, { capture: true, passive: true });
