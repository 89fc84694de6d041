import { describe, expect, test } from 'vitest';
import type { PatternName } from '../../protocol/specification.ts';
import { generateLoad } from '../../server/src/generate/generate.ts';
import { defaultStyle } from '../../server/src/generate/style.ts';
import { type InferenceSettings, inferSpecification } from '../../server/src/load/infer.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { catalogFrom, tableIn } from '../support/catalogs.ts';

const settings: InferenceSettings = { conventions: defaultConventions, defaults: {}, patterns: {}, loads: [] };
const technical = 'load_date TIMESTAMP NOT NULL, record_source VARCHAR NOT NULL';
const catalog = catalogFrom(
  `CREATE TABLE pit_dates (as_of TIMESTAMP NOT NULL);
   CREATE TABLE stg_customer (customer_no VARCHAR NOT NULL);
   CREATE TABLE hub_customer (customer_hk BLOB NOT NULL, customer_no VARCHAR NOT NULL, ${technical}, PRIMARY KEY (customer_hk));
   CREATE TABLE hub_order (order_hk BLOB NOT NULL, order_no INTEGER NOT NULL, ${technical}, PRIMARY KEY (order_hk));
   CREATE TABLE link_customer_order (customer_order_hk BLOB NOT NULL, customer_hk BLOB NOT NULL, order_hk BLOB NOT NULL, ${technical}, PRIMARY KEY (customer_order_hk));
   CREATE TABLE sat_customer (customer_hk BLOB NOT NULL, load_date TIMESTAMP NOT NULL, hashdiff BLOB NOT NULL, city VARCHAR, record_source VARCHAR NOT NULL, PRIMARY KEY (customer_hk, load_date));
   CREATE TABLE eff_sat_customer_order (customer_order_hk BLOB NOT NULL, start_date TIMESTAMP NOT NULL, end_date TIMESTAMP, ${technical}, PRIMARY KEY (customer_order_hk, load_date, start_date));
   CREATE TABLE pit_customer (customer_hk BLOB NOT NULL, as_of TIMESTAMP NOT NULL, sat_customer_hk BLOB, sat_customer_ldts TIMESTAMP, PRIMARY KEY (customer_hk, as_of));
   CREATE TABLE bridge_customer_order (customer_hk BLOB NOT NULL, as_of TIMESTAMP NOT NULL, customer_order_hk BLOB NOT NULL, PRIMARY KEY (customer_hk, as_of, customer_order_hk));`,
  'duckdb',
);

function infer(pattern: PatternName, source: string, target: string) {
  const request = { pattern, source: tableIn(catalog, source), target: tableIn(catalog, target) };
  return inferSpecification(request, catalog, settings);
}

function table(name: string) {
  return tableIn(catalog, name).name;
}

function scriptOf(pattern: PatternName, source: string, target: string): string {
  const { value: specification, problems } = infer(pattern, source, target);
  if (specification === null) throw new Error(problems.map(({ message }) => message).join('\n'));
  const extra = Object.entries(specification.extra ?? {}).map(([role, name]) => [role, tableIn(catalog, name.table)]);
  const tables = {
    source: tableIn(catalog, source),
    target: tableIn(catalog, target),
    extra: Object.fromEntries(extra),
  };
  const { value } = generateLoad({ specification, tables, style: defaultStyle });
  return value?.files[0]?.text ?? '';
}

describe('tables that are rebuilt from others', () => {
  test('a point-in-time table names its hub and the satellites that its columns point into', () => {
    const { value, problems } = infer('pit', 'pit_dates', 'pit_customer');
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(value?.extra).toEqual({ hub: table('hub_customer'), sat_customer: table('sat_customer') });
    expect(value?.options).toMatchObject({
      kind: 'rebuild',
      target_key: ['customer_hk', 'as_of'],
      as_of: 'as_of',
      satellites: { sat_customer: ['sat_customer_hk', 'sat_customer_ldts'] },
    });
  });

  test('a bridge names the link that it shares keys with, and the effectivity of its relationships', () => {
    const { value, problems } = infer('bridge', 'pit_dates', 'bridge_customer_order');
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(value?.extra).toEqual({
      hub: table('hub_customer'),
      link: table('link_customer_order'),
      eff_sat: table('eff_sat_customer_order'),
    });
    expect(value?.options.target_key).toEqual(['customer_hk', 'as_of', 'customer_order_hk']);
  });
});

describe('hash columns that hold bytes', () => {
  test('a missing pointer is the zero key in bytes', () => {
    expect(scriptOf('pit', 'pit_dates', 'pit_customer')).toContain(`THEN unhex('${'0'.repeat(64)}')`);
  });

  test('a hub takes the digest in bytes', () => {
    expect(scriptOf('hub', 'stg_customer', 'hub_customer')).toMatch(/unhex\((sha256|sha1|md5)\(/);
  });
});
