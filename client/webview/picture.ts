import { send } from './vscode-api.ts';

const kept = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'font-family',
  'font-size',
  'font-weight',
  'opacity',
] as const;

/** Hands a drawing to the extension as an SVG file that looks the same outside the editor. */
export function savePicture(svg: SVGElement, name: string): void {
  const copy = svg.cloneNode(true);
  if (!(copy instanceof SVGElement)) return;
  copyLook(svg, copy);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  const background = getComputedStyle(document.body).backgroundColor;
  copy.style.background = background;
  send({ kind: 'picture', name, svg: new XMLSerializer().serializeToString(copy) });
}

/** The style sheet stays in the editor, so every shape takes its computed look with it. */
function copyLook(from: Element, to: Element): void {
  const look = getComputedStyle(from);
  for (const name of kept) {
    const value = look.getPropertyValue(name);
    if (value !== '') to.setAttribute(name, value);
  }
  Array.from(from.children).forEach((child, index) => {
    const twin = to.children[index];
    if (twin !== undefined) copyLook(child, twin);
  });
}
