import { allPlatforms, type Rule } from './engine/rule.ts';

export const generatedScriptIsStale: Rule = {
  name: 'generated-script-is-stale',
  hazards: [],
  platforms: allPlatforms,
  severity: 'warning',
  fix: 'unsafe',
  summary: 'A generated script differs from what its tables and specification give today.',
  why: 'Columns that were added since are not loaded and not compared, or the script fails on columns that are gone.',
  help: 'Generate it again. What you wrote outside the generated regions stays.',
  invalid: [],
  valid: [{ sql: `SELECT UnitNo FROM dw.Unit;` }],
  body(body, context) {
    const { regeneration, script } = context;
    if (regeneration === null || body.owner !== null) return;
    const header = /^.*mergewright.*$/im.exec(script.text);
    const start = header?.index ?? 0;
    const end = start + Math.max(1, header?.[0].trimEnd().length ?? script.text.indexOf('\n'));
    context.report(
      null,
      { start, end: Math.min(end, script.text.length) },
      {
        message: `This script is no longer what its specification gives: ${regeneration.changes.join('; ') || 'the generated text differs'}.`,
        fixes: [
          {
            title: 'Generate it again',
            safe: false,
            edits: [{ start: 0, end: script.text.length, text: regeneration.text }],
          },
        ],
      },
    );
  },
};
