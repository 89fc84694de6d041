/** Kept events and staged ones are compared byte by byte, so the kinds of both need one type. */
import { expect, test } from 'vitest';
import { conformanceCases } from '../support/cases.ts';
import { caseLoad } from '../support/loads.ts';

const ofFeeds = conformanceCases.filter(({ pattern }) => pattern === 'scd2_cdc');

test.each(['sqlserver:2016', 'sqlserver:2022', 'synapse', 'fabric'])('a kind has its kept type on %s', (platform) => {
  const texts = ofFeeds.flatMap((one) => caseLoad(one, platform).value?.batches.map(({ text }) => text) ?? []);
  const kinds = texts.flatMap((text) => [...text.matchAll(/ELSE (N?'upsert') END AS \[event_kind\]/g)]);
  expect(texts.filter((text) => text.includes('[event_kind] varchar(20) NOT NULL')).length).toBeGreaterThan(10);
  expect(new Set(kinds.map(([, kind]) => kind))).toEqual(new Set(["'upsert'"]));
});
