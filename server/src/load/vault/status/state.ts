/** What the steps of a replay share: the load's status column and the state of a key at a load time. */
import type { CatalogColumn } from '../../../../../protocol/catalog.ts';
import { any, column, compare, isNull } from '../../build.ts';
import { type Expression, types, type ValueType } from '../../language.ts';
import { type StagedColumn, stagedAs, type VaultStage } from '../staging.ts';

export interface Status {
  readonly target: CatalogColumn;
  readonly type: ValueType;
  readonly alive: Expression;
  readonly dead: Expression;
}

export interface Replay {
  readonly stage: VaultStage;
  readonly loadTs: StagedColumn;
  readonly status: Status;
  /** The row of a vanished key repeats its last values; else it bears key, load time and source only. */
  readonly keepsValues: boolean;
  /** Keys that a load does not bring have vanished. */
  readonly isFull: boolean;
}

/** Name of the item that is 1 for a stored row that says that its key is gone. */
export const isDead = 'is_dead';

export function flag(of: string, name: string): Expression {
  return column(of, name, types.flag);
}

/** The load time before, of a row of `times`; NULL for the first. */
export function previousTime({ loadTs }: Replay, alias: string): Expression {
  return column(alias, 'previous_time', loadTs.type);
}

/** A load says something about a key only from the key's newest stored row on; what is older is known already. */
export function isFresh({ loadTs }: Replay, time: Expression): Expression {
  return any(isNull(stagedAs('o', loadTs)), compare(time, '>=', stagedAs('o', loadTs)));
}
