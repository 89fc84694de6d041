/** Layout of generated text: blocks are indented line by line, lists stand one item per line. */

const indentation = '    ';

/** Moves every line of a text but empty ones to the right. */
export function indent(text: string, depth = 1): string {
  const blanks = indentation.repeat(depth);
  const first = text === '' || text.startsWith('\n') ? '' : blanks;
  const lineStart = `\n${blanks}`;
  // Most texts have no empty line, and a plain search takes half the time.
  const plain = !text.includes('\n\n') && !text.endsWith('\n');
  return first + (plain ? text.replaceAll('\n', lineStart) : text.replace(/\n(?!\n|$)/g, lineStart));
}

/** Items one per line, with the comma behind each or before the next. */
export function commaList(items: readonly string[], comma: 'trailing' | 'leading'): string {
  return comma === 'trailing' ? items.join(',\n') : items.join('\n, ').replace(/^/, '  ');
}

/** Sentences as comment lines of at most `width` columns. */
export function comment(text: string, width = 100): string {
  const lines: string[] = [];
  let line = '--';
  for (const word of text.split(/\s+/)) {
    if (line.length + 1 + word.length > width && line !== '--') {
      lines.push(line);
      line = '--';
    }
    line += ` ${word}`;
  }
  return [...lines, line].join('\n');
}
