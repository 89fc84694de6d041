import { join } from 'node:path';
import { readCases } from '../../cli/src/conformance/format.ts';

/** The conformance cases of the project. */
export const conformanceCases = readCases(join(import.meta.dirname, '..', 'conformance'));
