/** An element of an XML document; text outside of elements is kept only as an element's joined text. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

interface OpenElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/**
 * Reads well-formed XML as DACPAC models are written: elements, attributes, text, CDATA, comments, no document types.
 * Undefined when the text is not well-formed.
 */
export function parseXml(text: string): XmlElement | undefined {
  const token =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([^\s>]+)\s*>|<([^\s/>!?]+)((?:\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/gy;
  const root: OpenElement = { name: '', attributes: {}, children: [], text: '' };
  const open: OpenElement[] = [root];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [whole, data, closing, opening, attributes, selfClosing, plain] = match;
    const current = open.at(-1);
    if (match.index !== end || current === undefined) return undefined;
    end += whole.length;
    if (data !== undefined) current.text += data;
    else if (plain !== undefined) current.text += unescapeXml(plain);
    else if (closing !== undefined) {
      if (current.name !== closing || open.length < 2) return undefined;
      open.pop();
    } else if (opening !== undefined) {
      const element: OpenElement = {
        name: opening,
        attributes: readAttributes(attributes ?? ''),
        children: [],
        text: '',
      };
      current.children.push(element);
      if (selfClosing !== '/') open.push(element);
    }
  }
  return end === text.length && open.length === 1 ? root.children.at(-1) : undefined;
}

function readAttributes(text: string): Readonly<Record<string, string>> {
  const attribute = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
  return Object.fromEntries(
    [...text.matchAll(attribute)].map((match) => [match[1] ?? '', unescapeXml(match[2] ?? match[3] ?? '')]),
  );
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Replaces character references and the five named entities. */
export function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    const code = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : null;
    if (code === null) return entities[name] ?? whole;
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
