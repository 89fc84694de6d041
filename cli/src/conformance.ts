/** `npm run conformance`. */
import { conformance } from './conformance/command.ts';

// A reader such as `head` that has seen enough is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});

const output = {
  line: (text: string): void => void process.stdout.write(`${text}\n`),
  error: (text: string): void => void process.stderr.write(`${text}\n`),
};

void conformance(process.argv.slice(2), output).then((code) => {
  process.exitCode = code;
});
