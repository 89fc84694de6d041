import { mergewrightJsonSchemaDocument } from '../protocol/mergewright-json.ts';
import { rules } from '../server/src/rules/registry.ts';
import { manifestWithRules, readmeWithRules, rulePage, rulesIndex } from './rule-pages.ts';
import { snippetPlatforms, snippetsOf } from './snippets.ts';

/** A file of the repository that is written from the sources; `tools/docs.mjs` writes it, `npm run check` compares it. */
export interface GeneratedDocument {
  /** Relative to the repository, with `/`. */
  readonly path: string;
  /** The whole new text, made from the text that is there (null when the file is missing). */
  readonly render: (current: string | null) => string;
}

/** Every generated file: one entry here for each schema, docs page or table. */
export const generatedDocuments: readonly GeneratedDocument[] = [
  {
    path: 'schemas/mergewright.schema.json',
    render: () => `${JSON.stringify(mergewrightJsonSchemaDocument(), null, 2)}\n`,
  },
  ...snippetPlatforms.map((platform) => ({ path: `snippets/${platform}.json`, render: () => snippetsOf(platform) })),
  ...rules.map((rule) => ({ path: `docs/rules/${rule.name}.md`, render: () => rulePage(rule) })),
  { path: 'docs/rules/README.md', render: () => rulesIndex(rules) },
  { path: 'README.md', render: (current) => readmeWithRules(current, rules) },
  { path: 'package.json', render: (current) => manifestWithRules(current, rules) },
];
