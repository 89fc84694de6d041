/** The command line: finds the command, prints its result, turns its faults into exit codes. */
import type { Command, CommandContext } from './command.ts';
import { UsageError } from './command.ts';

/** Every command by its name, loaded when it is called: starting one must not cost the others. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  catalog: async () => (await import('./commands/catalog.ts')).catalog,
  lint: async () => (await import('./commands/lint.ts')).lint,
  generate: async () => (await import('./commands/generate.ts')).generate,
  preview: async () => (await import('./commands/preview.ts')).preview,
  run: async () => (await import('./commands/run.ts')).run,
  seed: async () => (await import('./commands/seed.ts')).seed,
  create: async () => (await import('./commands/create.ts')).create,
  init: async () => (await import('./commands/init.ts')).init,
  describe: async () => (await import('./commands/describe.ts')).describe,
};

/** Runs one command; the exit code is 0, 1 for findings or a failed run, 2 for wrong usage or unreadable input. */
export async function commandLine(args: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    context.out(await overview());
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    context.err(`There is no command "${name}"; choose one of ${Object.keys(commands).join(', ')}.`);
    return 2;
  }
  const command = await load();
  if (rest.length === 1 && (rest[0] === '--help' || rest[0] === '-h')) {
    context.out(`${command.summary}\n\n${command.usage.join('\n')}\n`);
    return 0;
  }
  try {
    return await command.run(rest, context);
  } catch (error) {
    if (error instanceof UsageError || isArgumentFault(error)) {
      context.err(error.message.replace(/\s*\n\s*/g, ' '));
      return 2;
    }
    throw error;
  }
}

async function overview(): Promise<string> {
  const found = await Promise.all(Object.values(commands).map((load) => load()));
  const lines = found.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`);
  return `mergewright COMMAND …\n\n${lines.join('\n')}\n\nmergewright COMMAND --help shows how a command is called.\n`;
}

/** What `parseArgs` says of unknown and incomplete options. */
function isArgumentFault(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
