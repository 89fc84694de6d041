import type { TableName } from '../../../protocol/catalog.ts';
import type { LoadCandidate } from '../../../protocol/requests.ts';
import type { RunStatus } from '../../../protocol/run.ts';
import type { Prompts, Server, Workbench } from '../ports.ts';
import { dotted, titleOf } from '../runs/load-target.ts';
import type { RunController } from '../runs/run-controller.ts';
import type { Command } from './command.ts';

export interface RunAllPorts {
  readonly server: Server;
  readonly prompts: Prompts;
  readonly workbench: Workbench;
  readonly runs: RunController;
  /** The setting `mergewright.run.onFailure`. */
  readonly onFailure: () => string;
}

/** How one of the loads went. */
interface Outcome {
  readonly candidate: LoadCandidate;
  /** `refused`: it could not begin. */
  readonly end: RunStatus | 'refused' | 'skipped' | 'left out';
  /** Why it was not run, as a part of a sentence; empty where it was. */
  readonly reason: string;
}

/**
 * Runs every load of the folder in the server's order, in which a load follows the loads that it depends on. After a
 * failure either nothing more runs, or everything that does not read what the failed load should have written.
 */
export class RunAllLoadsCommand implements Command {
  readonly id = 'runAllLoads';
  readonly #ports: RunAllPorts;

  constructor(ports: RunAllPorts) {
    this.#ports = ports;
  }

  async run(): Promise<void> {
    const { server, prompts, workbench } = this.#ports;
    const candidates = await server.request('mergewright/loads', {});
    if (candidates.length === 0) {
      await prompts.inform('This folder has no loads.');
      return;
    }
    const chosen = await prompts.pickMany(
      candidates.map((candidate) => ({
        label: candidate.title,
        description: titleOf(candidate.specification),
        value: candidate,
        picked: true,
      })),
      { title: 'Run All Loads', placeholder: 'Loads to run, in this order' },
    );
    if (chosen === undefined || chosen.length === 0) return;
    const outcomes = await this.#runAll(chosen);
    const isGood = outcomes.every(({ end }) => end === 'done');
    const summary = summaryOf(outcomes);
    const details = 'Show All';
    const answer = await (isGood ? prompts.inform(summary, details) : prompts.warn(summary, details));
    if (answer === details) await workbench.showText('Run All Loads', detailsOf(outcomes), 'plaintext');
  }

  async #runAll(chosen: readonly LoadCandidate[]): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    let stopped: string | null = null;
    for (const candidate of chosen) {
      const broken = brokenSource(candidate, outcomes);
      if (stopped !== null) outcomes.push({ candidate, end: 'left out', reason: stopped });
      else if (broken !== undefined) {
        const reason = `it reads ${dotted(broken.specification.target)}, which "${broken.title}" did not load`;
        outcomes.push({ candidate, end: 'skipped', reason });
      } else {
        const end = await this.#runOne(candidate);
        outcomes.push({ candidate, end, reason: '' });
        // A person who cancels one load means all of them.
        if (end === 'cancelled' || (end !== 'done' && this.#ports.onFailure() === 'stop'))
          stopped = `"${candidate.title}" ended as ${end}`;
      }
    }
    return outcomes;
  }

  async #runOne({ uri, specification, title }: LoadCandidate): Promise<Outcome['end']> {
    const result = await this.#ports.runs.start('run', { kind: 'specification', uri, specification, title });
    return result?.status ?? 'refused';
  }
}

/** The load, of those that did not end well, that writes a table which this one reads. */
function brokenSource({ specification }: LoadCandidate, outcomes: readonly Outcome[]): LoadCandidate | undefined {
  const read = [specification.source, ...Object.values(specification.extra ?? {})];
  const found = outcomes.find(
    ({ candidate, end }) => end !== 'done' && read.some((name) => sameTable(name, candidate.specification.target)),
  );
  return found?.candidate;
}

function sameTable(left: TableName, right: TableName): boolean {
  const same = (a: string | null, b: string | null) => a === null || b === null || a.toLowerCase() === b.toLowerCase();
  return same(left.table, right.table) && same(left.schema, right.schema) && same(left.database, right.database);
}

/** `Run All: 3 done, 1 failed, 2 skipped. Hub · load from Patient failed.` */
function summaryOf(outcomes: readonly Outcome[]): string {
  const ends = [...new Set(outcomes.map(({ end }) => end))];
  const counts = ends.map((end) => `${outcomes.filter((outcome) => outcome.end === end).length} ${end}`).join(', ');
  const bad = outcomes
    .filter(({ end, reason }) => end !== 'done' && reason === '')
    .map(({ candidate, end }) => ` "${candidate.title}": ${end}.`);
  return `Run All: ${counts}.${bad.join('')}`;
}

function detailsOf(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(({ candidate, end, reason }) => `${end.padEnd(9)} ${candidate.title}${reason === '' ? '' : ` (${reason})`}\n`)
    .join('');
}
