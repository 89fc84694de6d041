import { checkOptions } from '../../protocol/load-options.ts';
import { formatPlatform, parsePlatform, platformNames } from '../../protocol/platform.ts';
import {
  type FormName,
  formNames,
  type LoadOptions,
  type PatternName,
  patternNames,
  type Shape,
} from '../../protocol/specification.ts';
import { formsOf } from '../../server/src/generate/unsupported-target.ts';
import { UsageError } from './command.ts';
import { nest, readSetting } from './settings-argument.ts';

/** Reads the arguments that describe a load; each unknown word is one clear line. */
export function readPattern(name: string): PatternName {
  const pattern = patternNames.find((known) => known === name);
  if (pattern === undefined) throw new UsageError(`"${name}" is no pattern; choose one of ${patternNames.join(', ')}.`);
  return pattern;
}

/** The value of `--form`; null where it is absent. */
export function readForm(name: string | undefined): FormName | null {
  if (name === undefined) return null;
  const form = formNames.find((known) => known === name);
  if (form === undefined)
    throw new UsageError(`"${name}" is no form; choose one of ${formsOf('sqlserver').join(', ')}.`);
  return form;
}

/** The value of `--shape`; null where it is absent. */
export function readShape(name: string | undefined): Shape | null {
  if (name === undefined) return null;
  if (name !== 'separate' && name !== 'merge') throw new UsageError(`"${name}" is no shape; choose separate or merge.`);
  return name;
}

/** The value of `--platform` in its full spelling, such as `sqlserver:2016`; null where it is absent. */
export function readTargetPlatform(text: string | undefined): string | null {
  if (text === undefined) return null;
  const platform = parsePlatform(text);
  if (platform === undefined) {
    throw new UsageError(`"${text}" is no platform; choose one of ${platformNames.join(', ')}, or sqlserver:VERSION.`);
  }
  return formatPlatform(platform);
}

/** The options of `--set`, checked against those that there are. */
export function readOptions(settings: readonly string[]): LoadOptions {
  const { options: read, complaints } = checkOptions(nest(settings.map(readSetting)));
  const [first] = complaints;
  if (first !== undefined) throw new UsageError(`--set: ${withQuotedExample(first)}`);
  return read;
}

/** A list in JSON has to reach this program with its quotes, which a shell takes off. */
function withQuotedExample(complaint: string): string {
  return complaint.replace(/^(option "(.*?)" .*?), as in (\[.*\])/, "$1, as in --set '$2=$3'");
}
