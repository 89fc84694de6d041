import { Folder, type FolderOptions } from '../../server/src/workspace/folder.ts';
import type { FilePort } from '../../server/src/workspace/port.ts';

/** Files that exist only in memory, by their paths. */
function memoryFiles(files: Readonly<Record<string, string | Uint8Array>>): FilePort {
  const names = Object.keys(files);
  return {
    list: async (folder) => names.filter((name) => folder === '.' || name === folder || name.startsWith(`${folder}/`)),
    read: async (file) => {
      const content = files[file];
      return typeof content === 'string' ? new TextEncoder().encode(content) : content;
    },
  };
}

/** A folder with everything below `.` read. */
export async function folderOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: FolderOptions = {},
): Promise<Folder> {
  const folder = new Folder(memoryFiles(files), '.', options);
  await folder.read(['.']);
  return folder;
}
