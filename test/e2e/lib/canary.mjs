import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files below a folder that hold the text, as plain bytes, base64 or UTF-16. */
export function filesHolding(folder, text) {
  const forms = [
    text,
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
    Buffer.from(text, 'utf16le').toString('latin1'),
  ];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !file.endsWith('libduckdb.so'))
    .filter((file) => {
      const bytes = readFileSync(file, 'latin1');
      return forms.some((form) => bytes.includes(form));
    });
}

/** Processes whose arguments or environment hold the text. */
export function processesHolding(text) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ['cmdline', 'environ'].some((part) => read(`/proc/${pid}/${part}`).includes(text)));
}

/** A process may be gone, or belong to somebody else. */
function read(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
