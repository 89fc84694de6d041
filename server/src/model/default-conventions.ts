import { columnNames } from './column-names.ts';
import type { Conventions } from './conventions.ts';
import { schemaNames, tableNames } from './table-names.ts';

/** Naming families that are known without any setting. */
export const defaultConventions: Conventions = {
  columns: columnNames,
  tables: tableNames,
  schemas: schemaNames,
  ignoredAffixes: ['src', 'stg', 'source', 'stage', 'dim', 'sat', 'col'],
  keySuffixes: [
    '',
    'id',
    'no',
    'nr',
    'number',
    'num',
    'code',
    'cd',
    'key',
    'bk',
    'nk',
    'nbr',
    'identifier',
    'ref',
    'name',
    'nummer',
    'kennung',
    'schluessel',
    'schlüssel',
    'sleutel',
    // German joins words by a letter: KundenNr of a Kunde, AuftragsNr of an Auftrag.
    'nnr',
    'snr',
    'nnummer',
    'snummer',
  ],
  corrections: [],
};
