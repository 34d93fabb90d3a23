import { randomUUID } from 'node:crypto';
import type { ParsedArgs } from '../cli/command.ts';
import type { Context } from '../context.ts';
import type { DbSource } from '../db-source/read-source.ts';
import type { MigrationState } from '../engine/migration-state.ts';
import { CliError } from '../errors.ts';
import { quoteShellWord } from '../preflight/manual-copy.ts';
import { formatSourceName } from '../watch/watch-record.ts';
import { createPostgresqlDriver, createRedisDriver, type EngineDriver, type PlannedChanges } from './engine-driver.ts';
import { lockRehearsal, warnAboutLeftovers } from './leftovers.ts';
import type { TargetFacts } from './rehearsal-preflight.ts';
import {
  openRehearsalRecord,
  type RehearsalRecordFile,
  readRehearsalRecord,
  rehearsalPath,
} from './rehearsal-record.ts';
import type { Leftover, ObservedViolation } from './rehearsal-report.ts';
import type { RehearsalTarget } from './rehearsal-target.ts';
import { leftoverLine } from './rehearsal-text.ts';
import { startRehearsalWatch } from './rehearsal-watch.ts';
import type { RehearsalRunResult } from './run-params.ts';

export interface RehearsalRunOptions {
  readonly source: DbSource;
  readonly target: RehearsalTarget;
  readonly words: ParsedArgs;
  readonly signal: AbortSignal;
  readonly keep: boolean;
  readonly stallTimeout: number;
  readonly interval: number;
}

/** A rehearsal from its lock to the last thing it removes. */
export interface RehearsalRun {
  /** Removes first what an earlier one has left. */
  inspectTarget(): Promise<TargetFacts>;
  /** What will be made, to be told before it is. */
  plan(method: 'continuous' | 'dump'): Promise<string>;
  /** Does it, and removes whatever it made, however it ends. */
  run(
    method: 'continuous' | 'dump',
  ): Promise<
    RehearsalRunResult & { readonly violations: readonly ObservedViolation[]; readonly leftovers: readonly Leftover[] }
  >;
  /** What could not be removed. */
  left(): readonly Leftover[];
  targetVersion(): string;
  close(): void;
}

export async function openRehearsalRun(context: Context, options: RehearsalRunOptions): Promise<RehearsalRun> {
  const { host } = context;
  const { source, target: into, words, signal } = options;
  const names = { source: addressName(source), target: addressName(into) };
  const path = rehearsalPath(host.folders.state, names.source, names.target);
  const lock = lockRehearsal(path);
  const hands = driverFor(context, options);
  let left: readonly Leftover[] = [];
  let system = '';
  let version = '';
  let planned: PlannedChanges | undefined;
  return {
    async inspectTarget() {
      await warnAboutLeftovers(context, path);
      await hands.connectTarget();
      await cleanUpEarlierRun(context, hands, path);
      const surveyed = await hands.inspectTarget();
      ({ system, version } = surveyed);
      return surveyed;
    },
    async plan(method) {
      planned = await hands.plan(method);
      const { onSource, onTarget } = planned;
      const end = options.keep ? 'The copies stay on the target (--keep).' : 'All of it is removed in the end.';
      return [
        `On the source ${names.source} it ${onSource}.`,
        `On the target ${names.target} it ${onTarget}.`,
        end,
      ].join('\n');
    },
    async run(method) {
      const id = randomUUID();
      const none = { databases: [], roles: [], filled: [], objects: [] };
      const command = rehearseCommand(source, into, words);
      const file = openRehearsalRecord(path, { id, engine: source.engine, ...names, command, system, ...none });
      const beside = await startProgressView(context, method, options, planned?.slotsOf(id) ?? []);
      let violations: readonly ObservedViolation[] = [];
      const rest = async () => {
        violations = await beside.stop();
      };
      try {
        const course = {
          clock: host.clock,
          env: host.env,
          random: host.random,
          signal,
          stallTimeout: options.stallTimeout,
          maxRounds: 6,
        };
        const events = { onState: beside.onState, onCompared: () => void rest() };
        const played = await hands.run(file, { ...course, ...events }, method);
        await rest();
        left = await cleanUp(context, hands, file, options.keep);
        return { ...played, violations, leftovers: left };
      } catch (error) {
        await rest();
        left = await cleanUp(context, hands, file, false);
        // With an error of its own, what is left must be told beside it.
        if (!signal.aborted)
          for (const one of left) await context.output.warn(`could not be removed: ${leftoverLine(one)}`);
        throw error;
      }
    },
    left: () => left,
    targetVersion: () => version.replace(/^[a-z]+-/, ''),
    close: () => lock.release(),
  };
}

function driverFor(
  { host: { clock, env, random } }: Context,
  { source, target: into, words, signal }: RehearsalRunOptions,
): EngineDriver {
  const machine = { clock, env, random, signal };
  if (source.engine === 'postgresql' && into.engine === 'postgresql') {
    return createPostgresqlDriver(source.source, into, words.values('ignore-dbs'), machine);
  }
  if (source.engine === 'redis' && into.engine === 'redis')
    return createRedisDriver(source.source, into.source, machine);
  throw new Error('source and target are of two engines');
}

async function cleanUp(
  { output }: Context,
  hands: EngineDriver,
  file: RehearsalRecordFile,
  keep: boolean,
): Promise<readonly Leftover[]> {
  await output.note(keep ? 'Removing publications and slots; the copies stay.' : 'Removing what the rehearsal made.');
  return hands.cleanUp(file, { keep, isLate: false });
}

/** A rehearsal that was killed is ended now, before another begins: its record would be lost otherwise. */
async function cleanUpEarlierRun({ output }: Context, hands: EngineDriver, path: string): Promise<void> {
  const record = readRehearsalRecord(path);
  if (record === undefined) return;
  if (record === 'damaged') {
    throw new CliError('config_invalid', `the record of an earlier rehearsal cannot be read: ${path}`, {
      hint: 'look on the source for slots and publications named cloudctl_…, remove them, and delete the file',
    });
  }
  await output.note('An earlier rehearsal was cut off: removing what it left.');
  const left = await hands.cleanUp(openRehearsalRecord(path, record), { keep: false, isLate: true });
  if (left.length === 0) return;
  throw new CliError('rehearsal_failed', 'could not remove what an earlier rehearsal has left', {
    detail: left.map(leftoverLine).join('\n'),
    hint: 'give these statements, and run the command again',
  });
}

interface ProgressView {
  readonly onState: (state: MigrationState) => void;
  stop(): Promise<readonly ObservedViolation[]>;
}

/** A dump has no slot to be seen by: there the engine itself tells how far it is. */
async function startProgressView(
  context: Context,
  method: 'continuous' | 'dump',
  { source, words, interval }: RehearsalRunOptions,
  slots: readonly string[],
): Promise<ProgressView> {
  if (method === 'continuous') {
    const beside = await startRehearsalWatch(context, {
      source,
      ignoreDbs: words.values('ignore-dbs'),
      slots,
      interval,
    });
    let ended: Promise<readonly ObservedViolation[]> | undefined;
    return {
      onState: () => {},
      stop: () => {
        ended ??= beside.stop();
        return ended;
      },
    };
  }
  return {
    onState: ({ databases }) => {
      const tables = databases.flatMap((one) => one.tables);
      const done = tables.filter(({ stage }) => stage === 'r').length;
      void context.progress.show(`${done} of ${tables.length} tables copied`);
    },
    stop: async () => {
      await context.progress.stop();
      return [];
    },
  };
}

function addressName({ engine, source: { host, port } }: DbSource | RehearsalTarget): string {
  return formatSourceName({ engine, host, port });
}

/** As typed, without passwords. */
function rehearseCommand(source: DbSource, into: RehearsalTarget, words: ParsedArgs): string {
  const more = [
    ...(source.engine === 'postgresql' && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(words.value('ca-file') === undefined ? [] : ['--ca-file', words.value('ca-file') ?? '']),
    ...(words.values('ignore-dbs').length === 0 ? [] : ['--ignore-dbs', words.values('ignore-dbs').join(',')]),
  ];
  const all = ['--source', address(source), '--into', address(into), ...more];
  return `cloudctl db rehearse ${all.map(quoteShellWord).join(' ')}`;
}

function address({ engine, source }: DbSource | RehearsalTarget): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const scheme = engine === 'postgresql' ? 'postgres' : source.ssl === 'disable' ? 'redis' : 'rediss';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  return `${scheme}://${user}${host}:${source.port}${database}`;
}
