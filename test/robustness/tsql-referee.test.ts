/** Every distinct T-SQL text that the cases lead to, judged by Microsoft's parser in the grammar of its version. */
import { describe, expect, test } from 'vitest';
import type { FormName, Shape } from '../../protocol/specification.ts';
import { conformanceCases } from '../support/cases.ts';
import { caseLoad, platforms } from '../support/loads.ts';
import { type RefereeVersion, refereeMissing, refereeTsql, withoutSemicolonBeforeWith } from '../support/referee.ts';

const forms: readonly FormName[] = ['script', 'procedure'];
const shapes: readonly Shape[] = ['separate', 'merge'];

/** The grammar that a platform's text must pass; Synapse has none of its own. */
const grammars: Readonly<Record<string, RefereeVersion>> = {
  'sqlserver:2012': '2012',
  'sqlserver:2014': '2014',
  'sqlserver:2016': '2016',
  'sqlserver:2017': '2017',
  'sqlserver:2019': '2019',
  'sqlserver:2022': '2022',
  'sqlserver:2025': '2025',
  azuresql: '2025',
  synapse: 'newest',
  fabric: 'fabricdw',
};

/** Texts by what they are, each once: scripts and procedures in both shapes, and previews. */
function textsOf(platform: string): readonly { readonly name: string; readonly text: string }[] {
  const texts = new Map<string, string>();
  for (const one of conformanceCases) {
    for (const form of forms) {
      for (const shape of shapes) {
        const { value } = caseLoad(one, platform, shape, form);
        const sent = value?.batches.map((batch) => batch.text) ?? [];
        const preview = value?.preview?.().batches.map((batch) => batch.text) ?? [];
        for (const text of [...sent, ...preview]) {
          const body = text.replace(/^-- mergewright: .*$/m, '');
          if (!texts.has(body)) texts.set(body, `${one.id} ${form} ${shape}`);
        }
      }
    }
  }
  return [...texts].map(([text, name]) => ({ name, text }));
}

describe.skipIf(refereeMissing() !== null)('generated T-SQL', () => {
  test.each(platforms.filter((name) => name !== 'duckdb'))('%s', async (platform) => {
    const texts = textsOf(platform);
    expect(texts.length).toBeGreaterThan(300);
    expect(await refereeTsql(texts, grammars[platform])).toEqual([]);
    expect(texts.filter(({ text }) => withoutSemicolonBeforeWith(text).length > 0)).toEqual([]);
  });
});
