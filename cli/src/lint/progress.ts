import { counted } from '../../../protocol/counted.ts';

/** Shows how far a long run is. */
export interface Progress {
  readonly show: (done: number, total: number, file: string) => void;
  readonly done: () => void;
}

export const silent: Progress = { show: () => undefined, done: () => undefined };

/** One line that is written over again, at most ten times a second; nothing for a handful of files. */
export function terminalProgress(write: (text: string) => void, now: () => number = Date.now): Progress {
  let last = 0;
  let shown = false;
  return {
    show(done, total, file) {
      if (total < 50 || now() - last < 100) return;
      last = now();
      shown = true;
      write(`\r\u001b[2K${done} of ${counted(total, 'file')}  ${file.slice(-60)}`);
    },
    done() {
      if (shown) write('\r\u001b[2K');
    },
  };
}
