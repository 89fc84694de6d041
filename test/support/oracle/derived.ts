/** What is rebuilt from other tables: PIT, bridge, end-dating view, hash columns, NULL keys of a stage. */

import { caseHashRules } from '../../../cli/src/conformance/hashes.ts';
import type { TextRow } from '../../../cli/src/conformance/values.ts';
import { ghostDigest, resolvedHashRules } from '../../../server/src/load/digest.ts';
import type { Model } from './load.ts';
import { digest, lastOf, storedKey } from './values.ts';

/** Per hub key and date the newest row of each satellite not later than the date, else the ghost. */
export const pointInTime: Model = (load, dates) => {
  const {
    as_of: asOf = 'as_of',
    satellites = {},
    ghost,
    target_key: [hubKey = ''],
  } = load.options;
  const zero = ghostDigest(resolvedHashRules(caseHashRules(load.options), 'hash_key').algorithm, 'unknown');
  const loadTs = load.options.load_ts ?? 'load_ts';
  const rows = (load.extra['hub'] ?? []).flatMap((hub) =>
    dates.map((date) => {
      const references = Object.entries(satellites).flatMap(([satellite, [keyColumn = '', timeColumn = '']]) => {
        const times = (load.extra[satellite] ?? [])
          .filter((row) => row[hubKey] === hub[hubKey] && (row[loadTs] ?? '') <= (date[asOf] ?? ''))
          .map((row) => row[loadTs] ?? '')
          .sort();
        const time = lastOf(times);
        return time === undefined
          ? [[keyColumn, zero] as const, [timeColumn, ghost?.load_ts ?? null] as const]
          : [[keyColumn, hub[hubKey] ?? null] as const, [timeColumn, time] as const];
      });
      return { [hubKey]: hub[hubKey] ?? null, [asOf]: date[asOf] ?? null, ...Object.fromEntries(references) };
    }),
  );
  return { target: rows };
};

/** Per hub key and date the links that are open at it, by the newest effectivity row loaded by then. */
export const bridge: Model = (load, dates) => {
  const [hubKey = '', , linkKey = ''] = load.options.target_key;
  const asOf = load.options.as_of ?? 'as_of';
  const loadTs = load.options.load_ts ?? 'load_ts';
  const start = load.options.start ?? 'start_ts';
  const end = load.options.end ?? 'end_ts';
  const rows: TextRow[] = [];
  for (const hub of load.extra['hub'] ?? []) {
    for (const date of dates) {
      const day = date[asOf] ?? '';
      for (const link of load.extra['link'] ?? []) {
        if (link[hubKey] !== hub[hubKey]) continue;
        const known = (load.extra['eff_sat'] ?? [])
          .filter((row) => row[linkKey] === link[linkKey] && (row[loadTs] ?? '') <= day)
          .sort((a, b) => ((a[loadTs] ?? '') < (b[loadTs] ?? '') ? -1 : 1));
        const newest = lastOf(known);
        if (newest === undefined || (newest[start] ?? '') > day || (newest[end] ?? '') <= day) continue;
        rows.push({ [hubKey]: hub[hubKey] ?? null, [asOf]: day, [linkKey]: link[linkKey] ?? null });
      }
    }
  }
  return { target: rows };
};

/** The end of a version is the start of the key's next one, or one microsecond before it. */
export const endDatingView: Model = (load, staged) => {
  const {
    load_ts: loadTs = 'load_ts',
    valid_to: end = '',
    open_end: openEnd = null,
    is_current: current,
  } = load.options;
  const rows = staged.map((row) => {
    const next = staged
      .filter((other) => storedKey(other, load) === storedKey(row, load) && (other[loadTs] ?? '') > (row[loadTs] ?? ''))
      .map((other) => other[loadTs] ?? '')
      .sort()[0];
    const ends =
      next === undefined ? openEnd : load.options.end_offset === '1 microsecond' ? microsecondBefore(next) : next;
    const flag = current === undefined ? {} : { [current]: next === undefined ? 'true' : 'false' };
    return { ...row, [end]: ends, ...flag };
  });
  return { target: rows };
};

export const hashColumns: Model = (load, staged) => {
  const { hash_columns: columns = {}, hash_role: role = 'hashdiff', keys = [] } = load.options;
  return {
    target: staged.map((row) => ({
      ...Object.fromEntries(keys.map((key) => [key, row[key] ?? null])),
      ...Object.fromEntries(Object.entries(columns).map(([hash, inputs]) => [hash, digest(inputs, row, role, load)])),
    })),
  };
};

export const nullKeyStage: Model = (load, staged) => {
  const { required = {}, optional = {}, keep_original_suffix: suffix } = load.options;
  const standIns = Object.entries({ ...required, ...optional });
  return {
    target: staged.map((row) => ({
      ...row,
      ...Object.fromEntries(standIns.map(([column, standIn]) => [column, row[column] ?? standIn])),
      ...(suffix === undefined
        ? {}
        : Object.fromEntries(standIns.map(([column]) => [column + suffix, row[column] ?? null]))),
    })),
  };
};

function microsecondBefore(time: string): string {
  const [seconds = '', fraction = ''] = time.split('.');
  const micros = BigInt(Date.parse(`${seconds.replace(' ', 'T')}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')) - 1n;
  const whole = new Date(Number(micros / 1_000_000n) * 1000).toISOString();
  const rest = (micros % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${whole.slice(0, 10)} ${whole.slice(11, 19)}${rest === '' ? '' : `.${rest}`}`;
}
