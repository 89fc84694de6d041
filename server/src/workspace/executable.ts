import { formatPlatform, isSpark, isTsql, type PlatformName, parsePlatform } from '../../../protocol/platform.ts';
import type { Outcome, Problem } from '../../../protocol/problem.ts';
import type { ExecutableLoad } from '../../../protocol/requests.ts';
import type { LoadSpecification } from '../../../protocol/specification.ts';
import { readHeader } from '../generate/header.ts';
import { patternTitle } from '../load/candidates.ts';
import { splitBatches } from '../syntax/batches.ts';
import { detectPlatform } from '../syntax/platform.ts';
import type { Folder } from './folder.ts';
import { generateInFolder } from './generation.ts';

/** A load from its specification, or from a script's text, for the platform of a connection. */
export interface ExecutableRequest {
  readonly specification?: LoadSpecification;
  readonly text?: string;
  /** Name of the script's file, for its settings. */
  readonly file: string;
  /** Platform of the connection. */
  readonly platform: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * What will be sent for a load. A specification is generated for the connection's platform. A script that equals its
 * regeneration is treated as its specification; any other script is sent as it is, and only to its own platform.
 */
export function executableLoad(folder: Folder, request: ExecutableRequest): Outcome<ExecutableLoad | null> {
  const platform = parsePlatform(request.platform);
  if (platform === undefined)
    return refused('unknown-platform', `"${request.platform}" is no platform of a connection.`);
  if (request.specification !== undefined) return fromSpecification(folder, request.specification, request);
  const { text = '' } = request;
  const header = readHeader(text);
  if (header !== null && isRegeneration(folder, header, text)) return fromSpecification(folder, header, request);
  const own = folder.platformOf(request.file, text);
  if (!runsOn(own, platform.name) && detectPlatform(text) !== undefined) {
    return refused(
      'other-platform',
      `This script is written for ${own} and was changed by hand, so it can't be made again for ${platform.name}; connect to ${own}, or generate it again.`,
    );
  }
  const batches = splitBatches(text, platform.name);
  if (batches.length === 0) return refused('nothing-to-run', 'There is nothing to run: the script holds no statement.');
  return {
    value: {
      title: header === null ? 'Script' : `${patternTitle(header.pattern)} · ${header.target.table}`,
      specification: null,
      text,
      batches,
      preview: null,
      previewRefusal:
        header === null
          ? 'The script was not generated, so what it would change can only be seen by running it.'
          : 'The script differs from what its specification generates; generate it again to preview it.',
      parameters: [],
    },
    problems: [],
  };
}

function fromSpecification(
  folder: Folder,
  specification: LoadSpecification,
  request: ExecutableRequest,
): Outcome<ExecutableLoad | null> {
  const platform = parsePlatform(request.platform);
  const own = parsePlatform(specification.platform);
  // A connection tells no product version that the specification knows better.
  const meant =
    platform === undefined || platform.name === own?.name ? specification.platform : formatPlatform(platform);
  const wanted: LoadSpecification = { ...specification, platform: meant, form: 'script' };
  const { value, problems } = generateInFolder(folder, wanted, request.parameters);
  if (value === null) return { value: null, problems };
  const [main] = value.files;
  const preview = value.preview;
  return {
    value: {
      title: `${patternTitle(specification.pattern)} · ${specification.target.table}`,
      specification: value.specification,
      text: main?.text ?? '',
      batches: value.batches,
      preview,
      previewRefusal: preview === null ? 'This load has no change of rows that could be counted.' : null,
      parameters: value.parameters,
    },
    problems,
  };
}

/** The text is what its specification generates, but for the values in its parameter block. */
function isRegeneration(folder: Folder, specification: LoadSpecification, text: string): boolean {
  const { value } = generateInFolder(folder, specification);
  return value?.files.some((file) => withoutParameters(file.text) === withoutParameters(text)) === true;
}

function withoutParameters(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(/^\uFEFF/, '')
    .replace(/^-- Parameters$[\s\S]*?^-- End of parameters$/m, '')
    .trimEnd();
}

function runsOn(script: PlatformName, connection: PlatformName): boolean {
  return script === connection || (isTsql(script) && isTsql(connection)) || (isSpark(script) && isSpark(connection));
}

function refused(code: string, message: string): Outcome<null> {
  const problem: Problem = { code, severity: 'error', message };
  return { value: null, problems: [problem] };
}
