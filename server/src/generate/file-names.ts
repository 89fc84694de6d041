/** A name as part of a file's name: what a path, a shell or a file system would take for something else becomes `_`. */
export function asFileName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no file system of Windows takes them.
  return name.replace(/[\u0000-\u001f<>:"/\\|?*]/g, '_');
}
