import type { RefusedHints } from '../../api/api-response.ts';
import type { ApiClient } from '../../api/client.ts';
import {
  describeFailures,
  type FetchedMigration,
  fetchMigration,
  isMigrationActive,
  isMigrationStopping,
} from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import type { Signals } from '../../platform/host.ts';
import { redactReason } from '../engine/tools.ts';
import {
  type FailureCommands,
  findLostKeys,
  helpWithFailures,
  keepRunKeys,
  type RunKeys,
  type SourceBaseline,
} from '../watch/index.ts';
import { type Cutover, describeMigrationFact, isServerError, openPair, readTargetObstacle, recordOf } from './check.ts';
import { type ChecklistLine, type CutoverFacts, hasMigrationFailed } from './checklist.ts';
import { listLeftOut } from './left-out.ts';
import type { Pair, Sighting } from './pair.ts';
import { type ComparedTables, type FollowView, Progress } from './progress.ts';
import type { Window } from './window.ts';

export interface FollowOptions extends Cutover {
  readonly signals: Signals;
  /** Whether to change the target and to stop the migration; otherwise the commands are printed. */
  readonly isApplied: boolean;
  readonly compared: ComparedTables;
  /** The source at the start of the migration; needed to know what has changed since. */
  readonly baseline: SourceBaseline | undefined;
  /** Milliseconds after which the wait for a step that others do ends. */
  readonly waitTimeout: number;
  /** Shell commands without passwords: for the sequences, for the stop, for the comparison, and for this command. */
  readonly commands: FailureCommands & Readonly<Record<'sequences' | 'compare' | 'status' | 'again', string>>;
  readonly loginHints: RefusedHints;
  readonly view: FollowView;
  /** Lines of the checklist that the user has checked. */
  readonly accepted: readonly string[];
  /** What to do about a line that is not done, with the command for it. */
  readonly helpWith: (line: ChecklistLine, facts: CutoverFacts) => string;
  /** Called once, when both servers are read and before anything is changed; rejects if the user does not want it. */
  readonly confirm: () => Promise<void>;
  /** Opens the events of the cut-over of a migration, given its id. */
  readonly openWindow: (migration: string) => Window;
  /** Called once, when the target accepts the login. */
  readonly onTarget: () => void;
}

/** One run of a followed cut-over: both servers, the migration at the service, and what the run has seen and changed. */
export class Attempt {
  readonly api: ApiClient;
  readonly options: FollowOptions;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** As the service has shown it last. */
  migration: FetchedMigration | undefined;
  /** When the wait for others began, in milliseconds. */
  waitedSince: number;
  #pair: Pair | undefined;
  /** The keys of the run of the source in which it had all of them. */
  #runKeys: RunKeys | undefined;

  constructor(api: ApiClient, options: FollowOptions, signal: AbortSignal) {
    this.api = api;
    this.options = options;
    this.signal = signal;
    const { source, accepted, commands } = options;
    const facts = { engine: source.engine, migration: 'not read yet', accepted };
    this.progress = new Progress(facts, { ...options, again: commands.again });
    this.waitedSince = this.progress.startedAt;
    this.#runKeys = recordOf(options)?.runKeys;
  }

  /** Rejects when the migration has failed. */
  async readMigration(): Promise<void> {
    const { cluster, commands, ignoreDbs } = this.options;
    const shown = await fetchMigration(this.api, cluster, { until: this.signal });
    if (shown === undefined)
      throw new CliError('not_found', 'the service shows no migration into this cluster', {
        hint: `check the UUID of the cluster with \`${commands.status}\``,
      });
    if (this.migration === undefined) this.progress.continue(this.options.openWindow(shown.id || cluster));
    this.migration = shown;
    const migration = describeMigrationFact(shown, ignoreDbs);
    this.progress.add({ migration, leftOut: listLeftOut(shown, ignoreDbs) });
    if (hasMigrationFailed({ migration }))
      throw new CliError('api_error', 'the migration failed at the service', {
        detail: describeFailures(migration.failures ?? []),
        hint: `do not stop the application; ${helpWithFailures(migration.failures ?? [], !migration.hasEnded, commands)}`,
      });
  }

  /** Whether every database has ended at the service. */
  get hasEnded(): boolean {
    return this.migration !== undefined && !isMigrationActive(this.migration);
  }

  /** Whether a stop is under way or done. */
  get isStopped(): boolean {
    return this.migration !== undefined && (this.hasEnded || isMigrationStopping(this.migration));
  }

  async pair(): Promise<Pair> {
    const { source, target, ignoreDbs } = this.options;
    this.#pair ??= await openPair(source, target, { ignoreDbs, signal: this.signal });
    return this.#pair;
  }

  async look(): Promise<Sighting> {
    const seen = await (await this.pair()).look();
    const lostKeys = findLostKeys(this.#runKeys, seen.runKeys);
    this.#runKeys = keepRunKeys(this.#runKeys, seen.runKeys);
    this.progress.add({ lostKeys });
    return seen;
  }

  /** Undefined while a server does not answer: one that restarts or fails over is asked again, with new connections. */
  async lookAgain(): Promise<Sighting | undefined> {
    try {
      return await this.look();
    } catch (error) {
      if (this.signal.aborted || !isServerError(error)) throw error;
      await this.close();
      const { source, target } = this.options;
      const reason = redactReason(error, source.source.password, target.source.password);
      await this.progress.show(`a server could not be read, and is asked again: ${reason}`);
      return undefined;
    }
  }

  /** A target that is equal to a source that lost its keys has lost them, too. */
  requireKeys(): void {
    const open = this.progress.openLine(({ id }) => id === 'lost_keys');
    if (open === undefined) return;
    throw this.progress.incomplete('the source has lost keys since the start of the migration', {
      observed: open.observed,
      hint: `do not switch; ${this.options.helpWith(open, this.progress.facts)}`,
    });
  }

  /** Before anything is changed, and at the end: a target that is equal to the source may refuse the application. */
  async requireWritable(): Promise<void> {
    const { target, commands } = this.options;
    const obstacle = await readTargetObstacle(target, this.signal);
    if (obstacle === undefined) return;
    this.progress.add({ ...obstacle });
    await this.progress.show('');
    throw this.progress.incomplete('the target cannot take the writes of the application', {
      observed: obstacle.targetFailure,
      hint: `do not switch; ${obstacle.targetHint}; then run \`${commands.again}\``,
    });
  }

  async close(): Promise<void> {
    const pair = this.#pair;
    this.#pair = undefined;
    await pair?.close();
  }
}
