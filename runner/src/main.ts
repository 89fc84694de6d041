/** The runner process: sessions live here, never inside the extension host. Messages are those of `runner-process.ts`. */
import type { FromRunner, ToRunner } from '../../protocol/runner-process.ts';
import { RunnerHost } from './host.ts';

const host = new RunnerHost((message: FromRunner) => {
  // The client may be gone already; what it would have heard is then of no use to anyone.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
});

process.on('message', (message: ToRunner) => {
  void host.receive(message);
});

process.on('disconnect', () => {
  void host.close().finally(() => process.exit(0));
});
