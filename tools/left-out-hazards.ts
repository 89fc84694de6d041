/** Hazards that no rule reports, with the reason; the list of the rules' documentation ends with them. */
export const leftOut = [
  {
    hazard: 'M30',
    name: 'parallel MERGE on one Fabric table',
    why: 'Only the orchestration shows what runs at the same time; a script does not.',
  },
  {
    hazard: 'C07',
    name: 'collation hides changes',
    why: "Whether case and trailing blanks count is the house's decision, and scripts rarely name the collation; a finding would stand on nearly every comparison.",
  },
  {
    hazard: 'H15',
    name: 'columns of a hash changed',
    why: 'It takes the former version of the script; generated scripts report it as generated-script-is-stale.',
  },
  {
    hazard: 'H20',
    name: 'varchar(max) around every attribute is slow',
    why: 'It contradicts hash-input-is-cut, whose loss is worse than the time.',
  },
  {
    hazard: 'I07',
    name: 'deletes judged before the stage is complete',
    why: 'The order of jobs decides, which a script does not show.',
  },
  {
    hazard: 'P10',
    name: 'counts taken from driver messages',
    why: 'It happens in the program that runs the script, not in the script.',
  },
  {
    hazard: 'P20',
    name: 'empty UPDATE SET for a table of keys only',
    why: 'Such text does not parse, so it is reported as a syntax problem.',
  },
  {
    hazard: 'D06',
    name: 'syntax of newer Delta versions',
    why: 'The Delta version of a cluster is not part of the platform setting.',
  },
  {
    hazard: 'D08',
    name: 'result of a merge builder dropped',
    why: 'It is Python or Scala code, and only SQL is checked.',
  },
  {
    hazard: 'D12',
    name: 'string semantics of Spark',
    why: "Every comparison of texts would be reported; whether case and blanks count is the house's decision.",
  },
] as const;
