/** `npm run conformance`. */
import { conformance } from './conformance/command.ts';

const output = {
  line: (text: string): void => void process.stdout.write(`${text}\n`),
  error: (text: string): void => void process.stderr.write(`${text}\n`),
};

void conformance(process.argv.slice(2), output).then((code) => {
  process.exitCode = code;
});
