/** The command line: finds the command, prints its result, turns its faults into exit codes. */
import manifest from '../../package.json' with { type: 'json' };
import type { Command, CommandContext } from './command.ts';
import { FailedRun, UsageError } from './command.ts';

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
  if (name === '--version' || name === '-v' || name === '-V' || name === 'version') {
    context.out(`${manifest.version}\n`);
    return 0;
  }
  const isHelp = name === '--help' || name === '-h' || name === 'help';
  if (name === undefined || (isHelp && rest.length === 0)) {
    context.out(await overview());
    return name === undefined ? 2 : 0;
  }
  const wanted = isHelp ? (rest[0] ?? '') : name;
  const load = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  if (load === undefined) {
    context.err(`There is no command "${wanted}"; choose one of ${Object.keys(commands).join(', ')}.`);
    return 2;
  }
  const command = await load();
  // A pattern's own help is the command's matter.
  const asksHelp = rest.some((each) => each === '--help' || each === '-h');
  if (isHelp || (asksHelp && (rest.length === 1 || command.hasOwnHelp !== true))) {
    context.out(`${command.summary}\n\n${command.usage.join('\n')}\n`);
    return 0;
  }
  try {
    return await command.run(rest, context);
  } catch (error) {
    const isKnown = error instanceof FailedRun || error instanceof UsageError;
    const message = isKnown ? error.message : argumentFault(error, command.name);
    if (message === undefined) throw error;
    context.err(message.replace(/\s*\n\s*/g, ' '));
    return error instanceof FailedRun ? 1 : 2;
  }
}

async function overview(): Promise<string> {
  const found = await Promise.all(Object.values(commands).map((load) => load()));
  const lines = found.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`);
  return `mergewright COMMAND …\n\n${lines.join('\n')}\n\nmergewright COMMAND --help shows how a command is called.\n`;
}

/** What `parseArgs` says of unknown and incomplete options, with what to do; undefined for any other error. */
function argumentFault(error: unknown, command: string): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !String(error.code).startsWith('ERR_PARSE_ARGS'))
    return undefined;
  const [said = ''] = error.message.split(/[.\n]/);
  return `${said}; mergewright ${command} --help shows how it is called.`;
}
