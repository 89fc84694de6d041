import type { Example, Rule, RuleInfo } from '../server/src/rules/engine/rule.ts';
import { allPlatforms } from '../server/src/rules/engine/rule.ts';
import { leftOut } from './left-out-hazards.ts';

const generated = "<!-- Made from the rule's file by tools/docs.mjs. -->";
const fixTexts: Readonly<Record<RuleInfo['fix'], string>> = {
  safe: 'A safe fix: it never changes what a correct script does, and `--fix` applies it.',
  unsafe: 'A fix that changes what the script does or stores; read it before you take it.',
  none: 'None: what is right depends on the load.',
};

/** The page of one rule. */
export function rulePage(rule: Rule): string {
  const sections = [
    generated,
    `# ${rule.name}`,
    rule.summary,
    table(rule),
    `## Why\n\n${rule.why}`,
    `## What to do\n\n${rule.help}`,
    ...(rule.invalid.length === 0 ? [] : [`## Reported\n\n${rule.invalid.map(example).join('\n\n')}`]),
    ...(rule.valid.length === 0 ? [] : [`## Accepted\n\n${rule.valid.map(example).join('\n\n')}`]),
    `## Fix\n\n${fixTexts[rule.fix]}`,
    switchingOff(rule.name),
  ];
  return `${sections.join('\n\n')}\n`;
}

function table(rule: RuleInfo): string {
  const platforms = rule.platforms.length === allPlatforms.length ? 'all' : rule.platforms.join(', ');
  const rows = [
    ['Severity', rule.severity],
    ['Platforms', platforms],
    ...(rule.versions === undefined ? [] : [['Versions', rule.versions]]),
    ['Hazards', rule.hazards.length === 0 ? '–' : rule.hazards.join(', ')],
    ['Fix', rule.fix],
  ];
  return `| | |\n| --- | --- |\n${rows.map(([name, value]) => `| ${name} | ${value} |`).join('\n')}`;
}

function example({ platform, ddl, sql }: Example): string {
  const where = platform === undefined ? '' : `On ${platform}:\n\n`;
  const tables = ddl === undefined ? '' : `With these tables:\n\n\`\`\`sql\n${ddl}\n\`\`\`\n\n`;
  return `${where}${tables}\`\`\`sql\n${sql}\n\`\`\``;
}

function switchingOff(name: string): string {
  return `## Switching it off

For one line, for a file, or for a folder (\`mergewright.json\`):

\`\`\`sql
-- mergewright-disable-next-line ${name}: reason
-- mergewright-disable ${name}: reason
\`\`\`

\`\`\`json
{ "rules": { "${name}": "off" } }
\`\`\``;
}

/** The list of all rules, and of the hazards that no rule reports. */
export function rulesIndex(rules: readonly Rule[]): string {
  const hazards = new Set(rules.flatMap((rule) => rule.hazards));
  return `${generated}

# Rules

${rules.length} rules cover ${hazards.size} hazards of load scripts. Severities follow what is known: where the DDL, the platform or the
neighbouring statements leave a fact open, a rule says less (info, hint) or nothing.

${rulesTable(rules, '')}

## Hazards without a rule

| hazard | why |
| --- | --- |
${leftOut.map(({ hazard, name, why }) => `| ${hazard} ${name} | ${why} |`).join('\n')}
`;
}

/** One line per rule; `folder` leads from the page to the rules' pages. */
export function rulesTable(rules: readonly RuleInfo[], folder: string): string {
  const rows = rules.map(
    (rule) =>
      `| [${rule.name}](${folder}${rule.name}.md) | ${rule.summary} | ${rule.severity} | ${rule.fix} | ${rule.hazards.join(', ') || '–'} |`,
  );
  return `| rule | reports | severity | fix | hazards |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}`;
}

const start = '<!-- rules:start -->';
const end = '<!-- rules:end -->';

/** The README with its table of rules; a README without the markers stays as it is. */
export function readmeWithRules(current: string | null, rules: readonly RuleInfo[]): string {
  const text = current ?? `# Mergewright\n\n## Rules\n\n${start}\n${end}\n`;
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) return text;
  return `${text.slice(0, from + start.length)}\n${rulesTable(rules, 'docs/rules/')}\n${text.slice(to)}`;
}

/** The setting \`mergewright.rules\`: one severity per rule. */
export function rulesSetting(rules: readonly RuleInfo[]): unknown {
  return {
    type: 'object',
    scope: 'resource',
    default: {},
    markdownDescription:
      'Severity of rules by name; `off` turns a rule off. A `mergewright.json` in the folder goes before.',
    additionalProperties: false,
    properties: Object.fromEntries(
      rules.map((rule) => [
        rule.name,
        {
          type: 'string',
          enum: ['error', 'warning', 'info', 'hint', 'off'],
          default: rule.severity,
          description: rule.summary,
        },
      ]),
    ),
  };
}

/** package.json with the setting of the rules; everything else stays as it is. */
export function manifestWithRules(current: string | null, rules: readonly RuleInfo[]): string {
  const text = current ?? '{}';
  const manifest = JSON.parse(text) as {
    contributes?: { configuration?: { properties?: Record<string, unknown> } };
  };
  const properties = manifest.contributes?.configuration?.properties;
  if (properties === undefined) return text;
  properties['mergewright.rules'] = rulesSetting(rules);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
