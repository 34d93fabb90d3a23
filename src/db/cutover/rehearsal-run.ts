import { randomUUID } from 'node:crypto';
import { CliError } from '../../base/errors.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import {
  buildSourceUrlWithoutPassword,
  buildTargetUrlWithoutPassword,
} from '../source/build-source-url-without-password.ts';
import type { DbSource } from '../source/read-source.ts';
import { formatSourceName } from '../watch/watch-record.ts';
import {
  createPostgresqlRehearsalDriver,
  createRedisRehearsalDriver,
  type PlannedRehearsalChanges,
  type RehearsalEngineDriver,
} from './engine-driver.ts';
import { lockRehearsalOfSourceAndTarget, lockRehearsalTarget, warnAboutOtherRehearsalLeftovers } from './leftovers.ts';
import type { MigrationTargetServer } from './migration-target-server.ts';
import { startRehearsalProgressView } from './progress-view.ts';
import type { RehearsalTargetFacts } from './rehearsal-preflight.ts';
import {
  createRehearsalRecordFile,
  getRehearsalRecordPath,
  type RehearsalRecordFile,
  readRehearsalRecord,
} from './rehearsal-record.ts';
import type { RehearsalLeftover, RehearsalRuleViolation } from './rehearsal-report.ts';
import { formatRehearsalLeftover } from './render-rehearsal-report-text.ts';
import type { RehearsalRunResult } from './run-params.ts';

export interface RehearsalRunOptions {
  readonly source: DbSource;
  readonly target: MigrationTargetServer;
  readonly args: ParsedArgs;
  /** Ends the rehearsal; the objects that it created are removed even then. */
  readonly signal: AbortSignal;
  /** Whether the copied data stays on the target (`--keep`). */
  readonly keep: boolean;
  /** Milliseconds without progress after which the rehearsal fails. */
  readonly stallTimeout: number;
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
}

/**
 * One rehearsal, from taking its lock to removing the objects that it created. The functions must be called in the
 * order of their declaration.
 */
export interface RehearsalRun {
  /** Removes what an interrupted rehearsal left on both servers, and reads version and extensions of the target. */
  inspectTarget(): Promise<RehearsalTargetFacts>;
  /** The objects that will be created on both servers, as text for the confirmation. */
  plan(method: 'continuous' | 'dump'): Promise<readonly string[]>;
  /** Runs the rehearsal, and removes the objects that it created, however it ends. */
  run(method: 'continuous' | 'dump'): Promise<RehearsalOutcome>;
  /** The objects that could not be removed. */
  leftovers(): readonly RehearsalLeftover[];
  targetVersion(): string;
  /** Releases the locks. */
  close(): Promise<void>;
}

export interface RehearsalOutcome extends RehearsalRunResult {
  /** Rules of the service that were violated while the rehearsal ran. */
  readonly violations: readonly RehearsalRuleViolation[];
  /** The objects that could not be removed. */
  readonly leftovers: readonly RehearsalLeftover[];
}

export async function openRehearsalRun(io: CommandIo, options: RehearsalRunOptions): Promise<RehearsalRun> {
  const { host, output } = io;
  const { source, target, args, signal, keep, stallTimeout, interval } = options;
  const names = { source: serverName(source), target: serverName(target) };
  const path = getRehearsalRecordPath(host.folders.state, names.source, names.target);
  const locks = [lockRehearsalOfSourceAndTarget(path)];
  const releaseLocks = () => {
    for (const lock of locks.splice(0)) lock.release();
  };
  const lockTarget = (identity: string) => void locks.push(lockRehearsalTarget(host.folders.state, identity, names));
  try {
    lockTarget(names.target);
  } catch (error) {
    releaseLocks();
    throw error;
  }
  const driver = driverFor(io, options);
  let leftovers: readonly RehearsalLeftover[] = [];
  let system = '';
  let version = '';
  let planned: PlannedRehearsalChanges | undefined;
  const cleanUp = async (file: RehearsalRecordFile, keepCopies: boolean): Promise<void> => {
    await output.note(
      keepCopies
        ? 'Removing publications and replication slots; the copies stay on the target.'
        : 'Removing what the rehearsal created.',
    );
    if (keepCopies) file.change({ kept: true });
    leftovers = await driver.cleanUp(file, { keep: keepCopies, isLate: false });
  };
  return {
    async inspectTarget() {
      await warnAboutOtherRehearsalLeftovers(io, path);
      const identity = await driver.connectTarget();
      if (identity !== undefined) lockTarget(identity);
      await cleanUpEarlierRun(io, driver, path);
      const facts = await driver.inspectTarget();
      ({ system, version } = facts);
      return facts;
    },
    async plan(method) {
      planned = await driver.plan(method);
      return [
        `Source ${names.source}: ${planned.onSource}.`,
        `Target ${names.target}: ${planned.onTarget}.`,
        keep ? 'The copies stay on the target (--keep).' : 'Everything is removed when the rehearsal ends.',
      ];
    },
    async run(method) {
      const id = randomUUID();
      const file = createRehearsalRecordFile(path, {
        ...{ id, engine: source.engine, ...names, command: rehearseAgainCommand(source, target, args), system },
        ...{ databases: [], roles: [], filled: [], objects: [] },
      });
      const slots = planned?.slotsOf(id) ?? [];
      const ignoreDbs = args.values('ignore-dbs');
      const view = await startRehearsalProgressView(io, { method, source, ignoreDbs, slots, interval });
      try {
        const { clock, env, random } = host;
        const allowSuperuserObjects = args.has('allow-superuser-objects');
        const params = { clock, env, random, signal, stallTimeout, maxRounds: 6, allowSuperuserObjects };
        // After the rows are compared the rehearsal ends, so what the watch observes later violates no rule of the
        // service.
        const events = { onState: view.onState, onCompared: () => void view.stop() };
        const result = await driver.run(file, { ...params, ...events }, method);
        const violations = await view.stop();
        await cleanUp(file, keep);
        return { ...result, violations, leftovers };
      } catch (error) {
        await view.stop();
        await cleanUp(file, false);
        // The remaining objects are printed here, because the thrown error does not contain them. After a signal the caller
        // lists them in its error instead.
        if (!signal.aborted)
          for (const one of leftovers) await output.warn(`could not remove ${formatRehearsalLeftover(one)}`);
        throw error;
      }
    },
    leftovers: () => leftovers,
    targetVersion: () => version.replace(/^[a-z]+-/, ''),
    async close() {
      try {
        await driver.close();
      } finally {
        releaseLocks();
      }
    },
  };
}

function driverFor(
  { host: { clock, env, random } }: CommandIo,
  { source, target, args, signal }: RehearsalRunOptions,
): RehearsalEngineDriver {
  const deps = { clock, env, random, signal };
  if (source.engine === 'postgresql' && target.engine === 'postgresql') {
    return createPostgresqlRehearsalDriver(source.source, target, args.values('ignore-dbs'), deps);
  }
  if (source.engine === 'redis' && target.engine === 'redis')
    return createRedisRehearsalDriver(source.source, target.source, deps);
  throw new Error('source and target have different engines');
}

/** Removes the objects of a rehearsal that was killed, before a new rehearsal overwrites its record. */
async function cleanUpEarlierRun({ output }: CommandIo, driver: RehearsalEngineDriver, path: string): Promise<void> {
  const record = readRehearsalRecord(path);
  if (record === undefined) return;
  if (record === 'damaged') {
    throw new CliError('config_invalid', 'could not read the record of an earlier rehearsal', {
      detail: path,
      hint: 'remove the replication slots and publications named cloudctl_… from the source, and delete the file',
    });
  }
  await output.note('Removing what an interrupted rehearsal left.');
  const how = { keep: record.kept === true, isLate: true };
  const leftovers = await driver.cleanUp(createRehearsalRecordFile(path, record), how);
  if (leftovers.length === 0) return;
  throw new CliError('rehearsal_failed', 'could not remove what an interrupted rehearsal left', {
    detail: leftovers.map(formatRehearsalLeftover).join('\n'),
    hint: 'run the statements for the objects that can be dropped, then run the command again',
  });
}

function serverName({ engine, source: { host, port } }: DbSource): string {
  return formatSourceName({ engine, host, port });
}

/** The command line of this rehearsal, without passwords. */
function rehearseAgainCommand(source: DbSource, target: MigrationTargetServer, args: ParsedArgs): string {
  const caFile = args.value('ca-file');
  const ignoreDbs = args.values('ignore-dbs');
  const options = [
    ...['--source', buildSourceUrlWithoutPassword(source), '--into', buildTargetUrlWithoutPassword(target)],
    ...(source.engine === 'postgresql' && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
    ...(args.has('allow-cleartext-password') ? ['--allow-cleartext-password'] : []),
    ...(ignoreDbs.length === 0 ? [] : ['--ignore-dbs', ignoreDbs.join(',')]),
    ...(args.has('allow-superuser-objects') ? ['--allow-superuser-objects'] : []),
  ];
  return `cloudctl db rehearse ${options.map(quoteShellArg).join(' ')}`;
}
