import { countOf, formatBytes, formatDuration } from '../../../base/text.ts';
import { createStyles, usesColor } from '../../../cli/color.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import { createScreen } from '../../../cli/progress.ts';
import { createMeasurer } from '../../../cli/text.ts';
import type { Clock } from '../../../platform/host.ts';
import { allStreaming, type EngineRun, type EngineState, type TableSyncState } from '../../engine/index.ts';
import type { DbSource } from '../../source/index.ts';
import {
  type LoggedState,
  nextLogLines,
  pollSource,
  renderScreen,
  type StatusSample,
  sourceAddress,
} from '../../watch/index.ts';
import { formatSourceName } from '../../watch/record.ts';
import type { BrokenRule, Wait } from './report.ts';

interface RehearsalCatchUpResult {
  /**
   * Result of the wait. `arrived`: all tables are replicated; `over`: the migration ended; `stuck`: no progress within
   * the stall timeout.
   */
  readonly kind: 'arrived' | 'over' | 'stuck';
  /** Seconds until each database was replicated, or until its migration ended. */
  readonly seconds: ReadonlyMap<string, number>;
}

interface RehearsalCatchUpOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds between two polls of the migration. */
  readonly poll: number;
  /** Milliseconds without progress of the copy after which the wait ends. */
  readonly stallTimeout: number;
  readonly onWait?: (wait: Wait) => void;
  /** Describes the transactions that delay a replication slot on the source; undefined if there is none. */
  readonly readOpenTransactions?: () => Promise<string | undefined>;
}

/** Waits until every table of every running database is replicated. Rejects when the signal aborts. */
export async function waitForCatchUp(
  migration: EngineRun,
  { clock, signal, poll, stallTimeout, onWait, readOpenTransactions }: RehearsalCatchUpOptions,
): Promise<RehearsalCatchUpResult> {
  const startedAt = clock.now();
  const seconds = new Map<string, number>();
  const isProgress = createProgressTracker();
  let progressAt = startedAt;
  let open: { readonly text: string | undefined; readonly at: number } | undefined;
  for (;;) {
    signal.throwIfAborted();
    const state = migration.state();
    const now = clock.now();
    if (readOpenTransactions !== undefined && isCreatingSlot(state) && now - (open?.at ?? startedAt) >= readEvery)
      open = { text: await readOpenTransactions().catch(() => undefined), at: now };
    const wait = waitOf(state, stallTimeout, open?.text);
    if (wait !== undefined) onWait?.(wait);
    for (const { name, phase } of state.databases) {
      if (!seconds.has(name) && settledPhases.has(phase)) seconds.set(name, (now - startedAt) / 1000);
    }
    if (isOver(state)) return { kind: 'over', seconds };
    // While a dump finishes, its status is syncing, but its rows can be compared only after it has ended.
    const isFinishing = state.databases.some(({ phase }) => phase === 'finishing');
    if (allStreaming(state.databases) && !isFinishing) return { kind: 'arrived', seconds };
    if (isProgress(state)) progressAt = now;
    if (now - progressAt >= stallTimeout) {
      for (const { name } of state.databases) if (!seconds.has(name)) seconds.set(name, (now - startedAt) / 1000);
      return { kind: 'stuck', seconds };
    }
    await clock.sleep(poll, signal);
  }
}

/** Milliseconds between two readings of the open transactions, while a replication slot is being created. */
const readEvery = 2000;

function isCreatingSlot({ databases }: EngineState): boolean {
  return databases.some(({ phase }) => phase === 'connecting');
}

/**
 * The wait that follows from the state of the migration; undefined if nothing is left to wait for, or if it is not known yet.
 * @param openTransactions of the source, while a replication slot is being created
 */
function waitOf(state: EngineState, stallTimeout: number, openTransactions: string | undefined): Wait | undefined {
  const limit = `or after ${formatDuration(stallTimeout)} without progress`;
  const { databases } = state;
  const stalled = databases.find(({ phase, reason }) => reason !== undefined && !settledPhases.has(phase));
  if (stalled !== undefined) {
    const { name, reason } = stalled;
    return { key: `${name} ${reason}`, state: `${name} waits: ${reason}`, ends: `ends when this is over, ${limit}` };
  }
  if (isCreatingSlot(state) && openTransactions !== undefined)
    return {
      key: 'connecting',
      state: `waiting for ${openTransactions}`,
      ends: `the replication slot is created after the commit or rollback of each; ends then, ${limit}`,
    };
  const tables = databases.flatMap((database) => database.tables);
  const count = (...stages: readonly TableSyncState[]) => tables.filter(({ stage }) => stages.includes(stage)).length;
  const [uncopied, behind] = [count('i', 'd'), count('f', 's')];
  if (uncopied > 0)
    return {
      key: 'copying',
      state: `waiting for the copy of ${uncopied} of ${countOf(tables.length, 'table')}`,
      ends: `ends when all rows are on the target, ${limit}`,
    };
  if (behind === 0) return undefined;
  const lag = databases.reduce((sum, { lagBytes = 0 }) => sum + lagBytes, 0);
  return {
    key: 'catching up',
    state: `waiting for ${behind} of ${countOf(tables.length, 'table')} to receive what was written during the copy, ${formatBytes(lag)} behind`,
    ends: `ends when the target has caught up, ${limit}; fewer writes on the source end it sooner`,
  };
}

function isOver({ status }: EngineState): boolean {
  return status !== 'running' && status !== 'syncing';
}

const settledPhases: ReadonlySet<string> = new Set(['streaming', 'done', 'stopped', 'error']);

/** Detects progress beyond the best state so far, so that a copy which fails and restarts makes no progress. */
function createProgressTracker(): (state: EngineState) => boolean {
  const stages: readonly TableSyncState[] = ['i', 'd', 'f', 's', 'r'];
  const best = new Map<string, number>();
  return ({ databases }) => {
    let hasProgress = false;
    const note = (key: string, value: number) => {
      if (value <= (best.get(key) ?? -1)) return;
      best.set(key, value);
      hasProgress = true;
    };
    for (const { name, phase, tables } of databases) {
      note(`${name} ${phase}`, 0);
      for (const table of tables) {
        note(`${name} ${table.name} stage`, stages.indexOf(table.stage));
        note(`${name} ${table.name} rows`, table.rows);
      }
    }
    return hasProgress;
  };
}

/** Watches the source while a rehearsal runs, as `db watch` does. */
interface RehearsalWatch {
  /** Shows what the rehearsal waits for from now on. */
  readonly onWait: (wait: Wait) => void;
  /** Ends the watch. Resolves with the rules of the service that were violated during the rehearsal, each once. */
  stop(): Promise<readonly BrokenRule[]>;
}

interface RehearsalWatchOptions {
  readonly source: DbSource;
  readonly ignoreDbs: readonly string[];
  /** Names of the replication slots of the rehearsal; empty for Redis. */
  readonly slots: readonly string[];
  /** Milliseconds between two polls of the source. */
  readonly interval: number;
}

/**
 * Shows on stderr what `db watch` shows: a status screen in a terminal, log lines elsewhere. The view is written to
 * stderr, because standard output is for the report.
 */
export async function startRehearsalWatch(
  io: CommandIo,
  { source, ignoreDbs, slots, interval }: RehearsalWatchOptions,
): Promise<RehearsalWatch> {
  const stopping = new AbortController();
  const violations = new Map<string, BrokenRule>();
  const screen = await openRehearsalScreen(io, formatSourceName(sourceAddress(source)));
  const watching = (async () => {
    const options = { clock: io.host.clock, signal: stopping.signal, ignoreDbs, slots };
    for await (const { sample } of pollSource(source, interval, options)) {
      if (stopping.signal.aborted) break;
      for (const { rule, observed, hint, database } of sample.violations) {
        const key = `${rule} ${database ?? ''}`;
        if (!violations.has(key))
          violations.set(key, { rule, ...(database === undefined ? {} : { database }), observed, hint });
      }
      // The rehearsal has created the slots itself, so there is nothing to identify.
      const { identified_by: _, ...shown } = sample;
      await screen.show(shown);
    }
  })();
  // The rehearsal continues if watching the source fails.
  const done = watching.catch(() => {});
  return {
    onWait: (wait) => screen.onWait(wait),
    async stop() {
      stopping.abort();
      await done;
      await screen.close();
      return [...violations.values()];
    },
  };
}

interface RehearsalScreen {
  onWait(wait: Wait): void;
  show(sample: StatusSample): Promise<void>;
  close(): Promise<void>;
}

async function openRehearsalScreen(io: CommandIo, title: string): Promise<RehearsalScreen> {
  const { host, globals } = io;
  if (globals.has('quiet')) return { onWait: () => {}, show: async () => {}, close: async () => {} };
  if (!host.stderr.isTTY) return createLineScreen(io);
  const { stderr, env } = host;
  const [styles, ruler] = await Promise.all([
    createStyles(usesColor({ sink: stderr, env, noColor: globals.has('no-color') })),
    createMeasurer(),
  ]);
  const screen = createScreen(stderr);
  const lags: number[] = [];
  let last: readonly string[] = [];
  let wait: Wait | undefined;
  return {
    onWait: (now) => {
      wait = now;
    },
    async show(sample) {
      lags.push(sample.lag_bytes ?? 0);
      if (lags.length > 200) lags.shift();
      const notes = [...(wait === undefined ? [] : [wait.ends]), ...(sample.notes ?? [])];
      last = renderScreen(
        { ...(wait?.isCopied === true ? asCopied(sample) : sample), notes },
        {
          columns: stderr.columns ?? 80,
          rows: stderr.rows ?? 24,
          title: `rehearsal of ${title}`,
          footer: 'Ctrl-C ends the rehearsal and removes what it created',
          deadlineText: wait?.state ?? 'ends when all rows are replicated and compared',
          lags,
          paint: styles,
          ruler,
        },
      );
      await screen.draw(last);
    },
    close: () => screen.end(last.slice(0, -2)),
  };
}

/** The source does not show the copies of tables that end between two polls. */
function asCopied(sample: StatusSample): StatusSample {
  const done = <T extends Pick<StatusSample, 'phase' | 'bytes_total'>>(one: T): T =>
    one.phase === 'copying' || one.phase === 'waiting'
      ? { ...one, phase: 'streaming', percent: 100, bytes_done: one.bytes_total }
      : one;
  const databases = sample.databases.map((database) => ({
    ...done(database),
    tables: database.tables.map((table) => ({ ...table, state: 'done' as const, bytes_done: table.bytes_total })),
  }));
  return { ...done(sample), databases };
}

function createLineScreen({ host, output }: Pick<CommandIo, 'host' | 'output'>): RehearsalScreen {
  let logged: LoggedState | undefined;
  let said: string | undefined;
  let isAllCopied = false;
  return {
    onWait({ key, state, ends, isCopied = false }) {
      isAllCopied = isCopied;
      if (key === said) return;
      said = key;
      const at = new Date(host.clock.now()).toISOString().slice(0, 19);
      void output.note(`${at}Z ${state}; ${ends}`);
    },
    async show(sample) {
      const next = nextLogLines(logged, isAllCopied ? asCopied(sample) : sample);
      logged = next.said;
      if (next.lines.length > 0) await output.note(next.lines);
    },
    close: async () => {},
  };
}
