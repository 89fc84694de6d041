/** Links whose stages hold business keys and no hashes, as most vaults have them. */
import { describe, expect, test } from 'vitest';
import { inferLoads } from '../../server/src/load/candidates.ts';
import { defaultConventions } from '../../server/src/model/default-conventions.ts';
import { catalogFrom } from '../support/catalogs.ts';

const vault = `
  CREATE TABLE rdv.hub_order (hk_order char(64) NOT NULL PRIMARY KEY, order_no varchar(20) NOT NULL, load_date datetime2 NOT NULL, rec_src varchar(50) NOT NULL)
  GO
  CREATE TABLE rdv.hub_product (hk_product char(64) NOT NULL PRIMARY KEY, product_code varchar(30) NOT NULL, load_date datetime2 NOT NULL, rec_src varchar(50) NOT NULL)
  GO
  CREATE TABLE rdv.link_order_product (hk_order_product char(64) NOT NULL PRIMARY KEY, hk_order char(64) NOT NULL, hk_product char(64) NOT NULL, load_date datetime2 NOT NULL, rec_src varchar(50) NOT NULL)
  GO
`;

function linkLoads(stages: string, tables = vault) {
  const catalog = catalogFrom(tables + stages, 'sqlserver');
  const settings = { conventions: defaultConventions, defaults: {}, patterns: {}, loads: [] };
  return inferLoads(catalog, () => settings, [])
    .filter(({ specification }) => specification.target.table === 'link_order_product')
    .map(({ specification, reasons }) => ({
      from: specification.source.table,
      keys: specification.options.keys,
      reasons,
    }));
}

const line =
  'CREATE TABLE stg.OrderLine (order_no varchar(20), line_no int, product_code varchar(30), load_date datetime2)\nGO\n';

describe('a link is filled', () => {
  test('by a stage with the business keys of all hubs that it joins', () => {
    expect(linkLoads(line)).toEqual([
      {
        from: 'OrderLine',
        keys: ['order_no', 'product_code'],
        reasons: [
          'order_no and product_code are the business keys of the hubs that link_order_product joins.',
          'Both names speak of "order".',
        ],
      },
    ]);
  });

  test('by stages of its name where others hold the keys, too', () => {
    const other = 'CREATE TABLE stg.Shipment (order_no varchar(20), product_code varchar(30), weight int)\nGO\n';
    expect(linkLoads(line + other).map(({ from }) => from)).toEqual(['OrderLine']);
    expect(linkLoads(other).map(({ from }) => from)).toEqual(['Shipment']);
    const third = 'CREATE TABLE stg.Returned (order_no varchar(20), product_code varchar(30), reason int)\nGO\n';
    expect(linkLoads(other + third)).toEqual([]);
  });

  test('by no stage that lacks a key, and not where a hub is unknown', () => {
    expect(linkLoads('CREATE TABLE stg.OrderHead (order_no varchar(20), customer varchar(30))\nGO\n')).toEqual([]);
    const without = vault.replace('rdv.hub_product (hk_product', 'rdv.hub_product (hk_article');
    expect(linkLoads(line, without)).toEqual([]);
  });
});
