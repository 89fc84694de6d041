/** What a property of `element` may be: a listener, a text attribute, a flag, or nothing. */
type Property = string | number | boolean | null | undefined | ((event: Event) => void);

/**
 * Makes an element. Names that begin with `on` add listeners; `true` sets an empty attribute; null, undefined and
 * false leave the attribute out. Children are elements or texts, and a text is never read as markup.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties?: Readonly<Record<string, Property>>,
  ...children: readonly (Node | string | null)[]
): HTMLElementTagNameMap[K];
export function element(
  tag: string,
  properties?: Readonly<Record<string, Property>>,
  ...children: readonly (Node | string | null)[]
): HTMLElement;
export function element(
  tag: string,
  properties: Readonly<Record<string, Property>> = {},
  ...children: readonly (Node | string | null)[]
): HTMLElement {
  const made = document.createElement(tag);
  apply(made, properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Like `element`, for pictures. */
export function shape(
  tag: string,
  properties: Readonly<Record<string, Property>> = {},
  ...children: readonly (Node | string)[]
): SVGElement {
  const made = document.createElementNS(svgNamespace, tag);
  apply(made, properties);
  made.append(...children);
  return made;
}

/** A symbol of the editor's icon font; it says nothing to a screen reader, so a word always stands beside it. */
export function icon(name: string): HTMLElement {
  return element('span', { class: `codicon codicon-${name}`, 'aria-hidden': 'true' });
}

/** A push button of the editor's look. */
export function button(label: string, symbol: string, press: () => void, isMain = false): HTMLElement {
  return element('vscode-button', { icon: symbol, secondary: !isMain, onclick: press }, label);
}

export function show(target: HTMLElement, isVisible: boolean): void {
  target.hidden = !isVisible;
}

function apply(target: Element, properties: Readonly<Record<string, Property>>): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') target.addEventListener(name.slice(2), value);
    else target.setAttribute(name, value === true ? '' : String(value));
  }
}
