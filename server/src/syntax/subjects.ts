/** Words that name what CREATE, ALTER and DROP work on. */

/** Objects whose CREATE and ALTER are known by their bounds only. */
export const createSubjects: ReadonlySet<string> = new Set([
  'AGGREGATE',
  'APPLICATION',
  'ASSEMBLY',
  'ASYMMETRIC',
  'AUTHORIZATION',
  'AVAILABILITY',
  'BROKER',
  'CERTIFICATE',
  'COLUMN',
  'CONTRACT',
  'CREDENTIAL',
  'CRYPTOGRAPHIC',
  'DATABASE',
  'DEFAULT',
  'ENDPOINT',
  'EVENT',
  'FEDERATION',
  'FULLTEXT',
  'JSON',
  'LOGIN',
  'MASTER',
  'MESSAGE',
  'PRIMARY',
  'QUEUE',
  'REMOTE',
  'RESOURCE',
  'ROLE',
  'ROUTE',
  'RULE',
  'SEARCH',
  'SECURITY',
  'SELECTIVE',
  'SERVER',
  'SERVICE',
  'SPATIAL',
  'SYMMETRIC',
  'SYNONYM',
  'USER',
  'VECTOR',
  'WORKLOAD',
  'XML',
]);

/** Objects that DROP alone names by these words. */
export const dropSubjects: ReadonlySet<string> = new Set([
  'COUNTER',
  'EXTERNAL',
  'PARTITION',
  'SENSITIVITY',
  'SIGNATURE',
  'TRIGGER',
]);

/** Objects whose CREATE, ALTER or DROP is understood. */
const knownSubjects: ReadonlySet<string> = new Set([
  'CLUSTERED',
  'COLUMNSTORE',
  'EXTERNAL',
  'FUNCTION',
  'INDEX',
  'MATERIALIZED',
  'NONCLUSTERED',
  'OR',
  'PARTITION',
  'PROC',
  'PROCEDURE',
  'SCHEMA',
  'SEQUENCE',
  'STATISTICS',
  'TABLE',
  'TRIGGER',
  'TYPE',
  'UNIQUE',
  'VIEW',
]);

/**
 * CREATE, ALTER or DROP begins a statement where the name of a kind of object follows; elsewhere, as in
 * `ALTER ROLE r DROP MEMBER m`, it belongs to the statement before it.
 */
export function isSubject(word: string): boolean {
  return knownSubjects.has(word) || createSubjects.has(word) || dropSubjects.has(word);
}
