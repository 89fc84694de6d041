/** The embedded engine as tests of loads use it: in memory, both shapes. */
import { openCaseSession } from '../../cli/src/conformance/connect.ts';
import { dialectOf } from '../../cli/src/conformance/dialects/index.ts';
import type { ConformanceCase } from '../../cli/src/conformance/format.ts';
import type { CaseSession } from '../../cli/src/conformance/session.ts';
import type { CaseSettings } from '../../cli/src/conformance/tables.ts';
import type { Shape } from '../../protocol/specification.ts';
import { loadTexts } from './prepared-load.ts';

export const shapes: readonly Shape[] = ['separate', 'merge'];

export function duckdbSettings(shape: Shape, enforced = false): CaseSettings {
  const platform = { name: 'duckdb' } as const;
  const dialect = dialectOf(platform);
  if (dialect === undefined) throw new Error('the embedded engine has no dialect');
  return { platform, dialect, form: 'script', shape, enforced };
}

/**
 * The shapes in which a case's loads differ, on the embedded engine. A load without an update has one text for both;
 * running it again would show nothing new.
 */
export async function shapesOf(owner: ConformanceCase): Promise<readonly Shape[]> {
  const merged = loadTexts(owner, duckdbSettings('merge'));
  for await (const text of loadTexts(owner, duckdbSettings('separate'))) {
    if ((await merged.next()).value !== text) return shapes;
  }
  return ['separate'];
}

export function openMemorySession(): Promise<CaseSession> {
  return openCaseSession('duckdb::memory:');
}
