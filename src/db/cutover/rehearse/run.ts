import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CliError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { quoteShellArg } from '../../../base/text.ts';
import type { ParsedArgs } from '../../../cli/command.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import { listFolder, tryReadText, writeAtomically } from '../../../platform/files.ts';
import { type HeldLock, tryAcquire } from '../../../platform/locks.ts';
import { type DbSource, sourceUrlText, targetUrlText } from '../../source/index.ts';
import { formatSourceName } from '../../watch/record.ts';
import type { TargetServer } from '../target.ts';
import { startRehearsalWatch } from './catch-up.ts';
import { type PlannedChanges, postgresDriver, type RehearsalDriver, redisDriver, type TargetFacts } from './driver.ts';
import { createRecordFile, type RecordFile, readRehearsal, rehearsalFolder, rehearsalPath } from './record.ts';
import type { BrokenRule, RehearsalLeftover, RehearsalResult, Wait } from './report.ts';
import { formatLeftover } from './text.ts';

interface RehearsalRunOptions {
  readonly source: DbSource;
  readonly target: TargetServer;
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
  inspectTarget(): Promise<TargetFacts>;
  /** The objects that will be created on both servers, as text for the confirmation. */
  plan(method: 'continuous' | 'dump'): Promise<readonly string[]>;
  /** Runs the rehearsal, and removes the objects that it created, however it ends. */
  run(method: 'continuous' | 'dump'): Promise<Rehearsed>;
  /** The objects that could not be removed. */
  leftovers(): readonly RehearsalLeftover[];
  targetVersion(): string;
  /** Releases the locks. */
  close(): Promise<void>;
}

export interface Rehearsed extends RehearsalResult {
  /** Rules of the service that were violated while the rehearsal ran. */
  readonly violations: readonly BrokenRule[];
  /** The objects that could not be removed. */
  readonly leftovers: readonly RehearsalLeftover[];
}

export async function openRehearsal(io: CommandIo, options: RehearsalRunOptions): Promise<RehearsalRun> {
  const { host, output } = io;
  const { source, target, args, signal, keep, stallTimeout, interval } = options;
  const names = { source: serverName(source), target: serverName(target) };
  const path = rehearsalPath(host.folders.state, names.source, names.target);
  const locks = [lockRehearsal(path)];
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
  let planned: PlannedChanges | undefined;
  const cleanUp = async (file: RecordFile, keepCopies: boolean): Promise<void> => {
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
      await warnAboutLeftovers(io, path);
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
      const file = createRecordFile(path, {
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
        const events = { onWait: view.onWait, onCompared: () => void view.stop() };
        const result = await driver.run(file, { ...params, ...events }, method);
        const violations = await view.stop();
        await cleanUp(file, keep);
        return { ...result, violations, leftovers };
      } catch (error) {
        await view.stop();
        await cleanUp(file, false);
        // The remaining objects are printed here, because the thrown error does not contain them. After a signal the caller
        // lists them in its error instead.
        if (!signal.aborted) for (const one of leftovers) await output.warn(`could not remove ${formatLeftover(one)}`);
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
): RehearsalDriver {
  const deps = { clock, env, random, signal };
  if (source.engine === 'postgresql' && target.engine === 'postgresql') {
    return postgresDriver(source.source, target, args.values('ignore-dbs'), deps);
  }
  if (source.engine === 'redis' && target.engine === 'redis') return redisDriver(source.source, target.source, deps);
  throw new Error('source and target have different engines');
}

/** Removes the objects of a rehearsal that was killed, before a new rehearsal overwrites its record. */
async function cleanUpEarlierRun({ output }: CommandIo, driver: RehearsalDriver, path: string): Promise<void> {
  const record = readRehearsal(path);
  if (record === undefined) return;
  if (record === 'damaged') {
    throw new CliError('config_invalid', 'could not read the record of an earlier rehearsal', {
      detail: path,
      hint: 'remove the replication slots and publications named cloudctl_… from the source, and delete the file',
    });
  }
  await output.note('Removing what an interrupted rehearsal left.');
  const how = { keep: record.kept === true, isLate: true };
  const leftovers = await driver.cleanUp(createRecordFile(path, record), how);
  if (leftovers.length === 0) return;
  throw new CliError('rehearsal_failed', 'could not remove what an interrupted rehearsal left', {
    detail: leftovers.map(formatLeftover).join('\n'),
    hint: 'run the statements for the objects that can be dropped, then run the command again',
  });
}

function serverName({ engine, source: { host, port } }: DbSource): string {
  return formatSourceName({ engine, host, port });
}

/** The command line of this rehearsal, without passwords. */
function rehearseAgainCommand(source: DbSource, target: TargetServer, args: ParsedArgs): string {
  const caFile = args.value('ca-file');
  const ignoreDbs = args.values('ignore-dbs');
  const options = [
    ...['--source', sourceUrlText(source), '--into', targetUrlText(target)],
    ...(source.engine === 'postgresql' && source.source.ssl === 'disable' ? ['--disable-ssl'] : []),
    ...(caFile === undefined ? [] : ['--ca-file', caFile]),
    ...(args.has('allow-cleartext-password') ? ['--allow-cleartext-password'] : []),
    ...(ignoreDbs.length === 0 ? [] : ['--ignore-dbs', ignoreDbs.join(',')]),
    ...(args.has('allow-superuser-objects') ? ['--allow-superuser-objects'] : []),
  ];
  return `cloudctl db rehearse ${options.map(quoteShellArg).join(' ')}`;
}

/** Shows the progress of a rehearsal on stderr. */
interface RehearsalProgressView {
  readonly onWait: (wait: Wait) => void;
  /** Ends the display. Resolves with the rules of the service that were violated during the rehearsal, each once. */
  stop(): Promise<readonly BrokenRule[]>;
}

interface RehearsalProgressViewOptions {
  readonly method: 'continuous' | 'dump';
  readonly source: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Names of the replication slots of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
}

/**
 * A continuous rehearsal is shown as `db watch` shows a migration. A dump has no replication slot to poll, so the view
 * shows only what is waited for.
 */
async function startRehearsalProgressView(
  io: CommandIo,
  options: RehearsalProgressViewOptions,
): Promise<RehearsalProgressView> {
  const { method, ...watchOptions } = options;
  if (method === 'continuous') {
    const watch = await startRehearsalWatch(io, watchOptions);
    let stopping: Promise<readonly BrokenRule[]> | undefined;
    return {
      onWait: watch.onWait,
      stop: () => {
        stopping ??= watch.stop();
        return stopping;
      },
    };
  }
  return {
    onWait: ({ state }) => void io.progress.show(state),
    stop: async () => {
      await io.progress.stop();
      return [];
    },
  };
}

/**
 * Takes a lock for the pair of source and target of a rehearsal. Throws a CliError while another rehearsal with the
 * same source and target runs.
 */
export function lockRehearsal(path: string): HeldLock {
  const lockPath = rehearsalLockPath(path);
  const lock = tryAcquire(lockPath);
  if (lock !== undefined) return lock;
  throw new CliError('busy', 'another rehearsal of this source into this target is running', {
    detail: `that rehearsal holds the lock ${lockPath}`,
    hint: 'wait until that rehearsal ends, or end it with Ctrl-C in its terminal',
  });
}

/**
 * Takes a lock for the target of a rehearsal, so that two rehearsals with different sources do not take the objects of
 * each other for their own. Throws a CliError that names the other rehearsal while it runs on this machine.
 * @param identity the address of the target, or another text that identifies the server
 * @param names source and target as `HOST:PORT`
 */
function lockRehearsalTarget(
  stateFolder: string,
  identity: string,
  names: { readonly source: string; readonly target: string },
): HeldLock {
  const fingerprint = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  const path = join(rehearsalFolder(stateFolder), `target-${fingerprint}`);
  const lock = tryAcquire(`${path}.lock`);
  if (lock === undefined) {
    const holder = tryReadText(`${path}.txt`)?.trim() ?? 'another rehearsal';
    throw new CliError('busy', `another rehearsal into ${names.target} is running`, {
      detail: sanitizeReportLine(`${holder} holds the lock ${path}.lock`),
      hint: 'wait until that rehearsal ends, or end it with Ctrl-C in its terminal',
    });
  }
  writeAtomically(`${path}.txt`, `the rehearsal of ${names.source} into ${names.target}\n`);
  return lock;
}

/**
 * Warns about interrupted rehearsals with other sources or targets, and prints the commands that remove their objects.
 */
export async function warnAboutLeftovers(
  { host, output }: Pick<CommandIo, 'host' | 'output'>,
  currentPath: string,
): Promise<void> {
  const folder = rehearsalFolder(host.folders.state);
  for (const name of listFolder(folder).filter((file) => file.endsWith('.json'))) {
    const path = join(folder, name);
    if (path === currentPath) continue;
    const lock = tryAcquire(rehearsalLockPath(path));
    // A rehearsal that still holds its lock is running, and so is not reported.
    if (lock === undefined) continue;
    const record = readRehearsal(path);
    lock.release();
    if (record === undefined) continue;
    await output.warn(
      record === 'damaged'
        ? `could not read the record of an earlier rehearsal: ${path}`
        : `a rehearsal of ${record.source} into ${record.target} was interrupted; remove what it left with: ${record.command}`,
    );
  }
}

function rehearsalLockPath(path: string): string {
  return path.replace(/\.json$/, '.lock');
}
