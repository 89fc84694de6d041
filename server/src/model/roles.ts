import type { TableRole } from '../../../protocol/roles.ts';
import type { Conventions } from './conventions.ts';
import { type Evidence, structuralEvidence } from './evidence.ts';
import { fitsPattern, words } from './names.ts';
import type { Structure } from './structure.ts';

/** A role with how sure it is and why. */
export interface RoleGuess {
  readonly role: TableRole;
  /** 0 to 1. */
  readonly confidence: number;
  /** Sentences a person can read. */
  readonly reasons: readonly string[];
}

/** What other tables of the catalog add to one table's roles. */
export type Hints = Readonly<Partial<Record<TableRole, readonly Evidence[]>>>;

const tableNameWeight = 0.25;
const placeWeight = 0.3;
const leastScore = 0.3;

/** Weighs structure, names and hints for every role and takes the best; `unknown` when nothing speaks clearly. */
export function guessRole(structure: Structure, conventions: Conventions, hints: Hints = {}): RoleGuess {
  const guesses: Scored[] = [];
  for (const role of rolesWithEvidence) {
    const structural = structuralEvidence[role](structure);
    if (structural !== null) {
      guesses.push(score(role, [...structural, ...nameEvidence(structure, role, conventions), ...(hints[role] ?? [])]));
    }
  }
  guesses.sort((left, right) => right.score - left.score);
  const [best, second] = guesses;
  if (best === undefined || best.score < leastScore) {
    return { role: 'unknown', confidence: 0, reasons: ['Neither its columns nor its name say what the table is for.'] };
  }
  // A close second makes the guess less sure, however strong it is by itself.
  const lead = best.score - (second?.score ?? 0);
  const confidence = Math.max(0.05, Math.min(0.99, best.score) - Math.max(0, 0.15 - lead));
  return { role: best.role, confidence: Math.round(confidence * 100) / 100, reasons: reasonsOf(best.evidence) };
}

interface Scored {
  readonly role: TableRole;
  readonly score: number;
  readonly evidence: readonly Evidence[];
}

const rolesWithEvidence = Object.keys(structuralEvidence).filter(isKnownRole);

function isKnownRole(role: string): role is Exclude<TableRole, 'unknown'> {
  return role in structuralEvidence;
}

function score(role: TableRole, evidence: readonly Evidence[]): Scored {
  return { role, score: evidence.reduce((sum, item) => sum + item.weight, 0), evidence };
}

function reasonsOf(evidence: readonly Evidence[]): readonly string[] {
  return evidence.flatMap(({ reason, weight }) => (reason === null || weight <= 0 ? [] : [sentence(reason)]));
}

/** Reasons are clauses in lower case; names keep their spelling. */
function sentence(clause: string): string {
  return `${clause.replace(/^(it|its|a|every|versions|business|tells|the)\b/, (word) => word[0]?.toUpperCase() + word.slice(1))}.`;
}

function nameEvidence(structure: Structure, role: TableRole, conventions: Conventions): Evidence[] {
  const { name } = structure.table;
  const found: Evidence[] = [];
  if (fitsPattern(name.table, conventions.tables[role] ?? [])) {
    found.push({
      weight: tableNameWeight,
      reason: `the name ${name.table} is one of ${article(role)} ${spoken(role)} table`,
    });
  }
  const schemas = conventions.schemas[role] ?? [];
  const place = [name.schema, name.database].find((part) => part !== null && fitsPattern(part, schemas));
  if (place !== undefined) found.push({ weight: placeWeight, reason: `it stands in ${place}` });
  if (role === 'dimension' || role === 'reference' || role === 'staging') {
    const fact = fitsPattern(name.table, factNames) || (name.schema !== null && fitsPattern(name.schema, factNames));
    if (fact || fitsPattern(name.table, logNames)) found.push({ weight: -0.5, reason: null });
  }
  if (role === 'dimension' && vaultWords.has(words(name.table)[0] ?? '')) found.push({ weight: -0.5, reason: null });
  return found;
}

/** Facts have surrogate keys as dimensions have, and no role of their own. */
const factNames = ['fact', 'fact*', '*_fact', '*_facts', 'fct', 'fct_*', '*_fct'];
/** What loads write about themselves, and what steers them. */
const logNames = [
  'log',
  'log_*',
  '*_log',
  '*_logs',
  'audit_*',
  '*_audit',
  'config',
  'config_*',
  '*_config',
  'batch_*',
  '*_batch',
  '*_errors',
];
/** Hubs with numbers for keys, and Kimball's bridges. */
const vaultWords = new Set(['hub', 'lnk', 'link', 'sat', 'bridge', 'brg', 'pit']);

function article(role: TableRole): string {
  return /^[aeiou]/.test(spoken(role)) ? 'an' : 'a';
}

/** The role as prose has it: `multi-active satellite`. */
export function spoken(role: TableRole): string {
  const names: Readonly<Partial<Record<TableRole, string>>> = {
    'persistent-staging': 'persistent staging',
    'nh-link': 'non-historised link',
    'ma-satellite': 'multi-active satellite',
    'eff-satellite': 'effectivity satellite',
    'st-satellite': 'status tracking satellite',
    'rt-satellite': 'record tracking satellite',
    xts: 'extended tracking satellite',
    pit: 'point-in-time',
  };
  return names[role] ?? role;
}
