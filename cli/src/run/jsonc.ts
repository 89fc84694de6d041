/** Reads JSON with comments and trailing commas, as the editor's settings files have them; undefined where it is neither. */
export function parseJsonc(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replace(/("(?:[^"\\\n]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string: string | undefined) => string ?? ' ')
    .replace(/("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? '');
  if (plain.trim() === '') return {};
  try {
    return JSON.parse(plain);
  } catch {
    return undefined;
  }
}
