import type { Clock } from '../../platform/host.ts';
import type { PgSession } from '../../postgresql/connection.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Finding } from '../finding.ts';
import type { Wish } from '../wish.ts';
import { capacity } from './asks/capacity.ts';
import { type Database, databases } from './asks/databases.ts';
import { lockedDatabases } from './asks/locks.ts';
import { overview } from './asks/overview.ts';
import { measured, type Sizes, sizesOf } from './asks/sizes.ts';
import { type WalPosition, walPosition } from './asks/wal.ts';
import type { AnyCheck, DatabaseCheck } from './check.ts';
import { askOn, mayPass, type Visit, type Visited, visit } from './database.ts';
import { databaseFinding } from './findings.ts';
import { type Answers, type AnyAsk, readAnswer } from './gather.ts';
import type { Entry, Ground, Reach, WalRate } from './ground.ts';
import { chosen } from './ignore.ts';

export interface SurveyOptions {
  readonly checks: readonly AnyCheck[];
  /** As every further connection dials it. */
  readonly source: PostgresSource;
  /** Open, and entered. The survey ends it. */
  readonly session: PgSession;
  readonly entered: Extract<Entry, { readonly kind: 'entered' }>;
  readonly ground: Ground;
  readonly wish: Wish;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly walInterval: number;
  readonly nearest: (word: string, known: readonly string[]) => string | undefined;
  readonly onSent: (database: string, text: string) => void;
  readonly onProgress: (done: number, total: number) => void;
}

export interface Survey {
  readonly databases: readonly string[];
  readonly reach: ReadonlyMap<string, Reach>;
  /** To the questions about the server. */
  readonly answers: Answers;
  /** Why the connection ended, twice where that may help, before they were all answered. */
  readonly lost: string | undefined;
  readonly findings: readonly Finding[];
  readonly sizes: ReadonlyMap<string, Sizes>;
  readonly walRate: WalRate | undefined;
  /** Milliseconds spent on nothing but the second reading of the WAL position. */
  readonly waited: number;
}

/** Asks the server and every database. Databases are judged as they are done, so that their answers need not be kept. */
export async function survey(options: SurveyOptions): Promise<Survey> {
  const { session, ground, wish, clock, signal, onProgress } = options;
  const before = wayOf(options);
  try {
    const first = await onFirst(session, [databases, capacity, lockedDatabases], ground.dbname, before);
    const plan = first.answers;
    const way = { ...before, plan };
    let lost = brokenOf(first);
    const known = readAnswer(plan, databases);
    const names = known === undefined ? [ground.dbname] : chosen(known, wish.ignoreDbs, options.nearest);
    onProgress(0, names.length);
    const state: State = { options, way, known, names, reach: new Map(), sizes: new Map(), findings: new Map() };
    const serverAsks = asksOf(options.checks, 'server').filter((ask) => !plan.has(ask));
    let read = 0;
    const server = onFirst(session, [...serverAsks, walPosition], ground.dbname, way).then((visited): Answers => {
      read = clock.now();
      lost ??= brokenOf(visited);
      return new Map([...plan, ...visited.answers]);
    });
    const free = readAnswer(plan, capacity);
    const lanes = Math.max(1, Math.min(options.concurrency, free === undefined ? 1 : tenth(free)));
    await visitAll(state, server, lanes);
    const answers = await server;
    const begun = clock.now();
    const walRate = await secondReading(readAnswer(answers, walPosition), read, options, way);
    const waited = clock.now() - begun;
    if (signal.aborted) onProgress(state.findings.size, names.length);
    return {
      databases: names,
      reach: state.reach,
      answers,
      lost,
      findings: names.flatMap((name) => state.findings.get(name) ?? judgeOne(state, name, answers)),
      sizes: state.sizes,
      walRate,
      waited,
    };
  } finally {
    await session.end();
  }
}

interface State {
  readonly options: SurveyOptions;
  readonly way: Visit;
  readonly known: readonly Database[] | undefined;
  readonly names: readonly string[];
  readonly reach: Map<string, Reach>;
  readonly sizes: Map<string, Sizes>;
  readonly findings: Map<string, readonly Finding[]>;
}

function wayOf({ source, entered, clock, signal, onSent }: SurveyOptions): Visit {
  return {
    source,
    version: entered.version,
    context: { inRecovery: entered.inRecovery, superuser: entered.superuser },
    plan: new Map(),
    clock,
    signal,
    onSent,
  };
}

/** Each question of the checks once. */
function asksOf(checks: readonly AnyCheck[], scope: 'server' | 'database'): readonly AnyAsk[] {
  const all = checks.flatMap(({ asks }) => Object.values<AnyAsk>(asks));
  return [...new Set(scope === 'database' ? [overview, measured, ...all] : all)].filter((ask) => ask.scope === scope);
}

/** On the session that is open; when it breaks, on a new one. */
async function onFirst(session: PgSession, asks: readonly AnyAsk[], dbname: string, way: Visit): Promise<Visited> {
  const asked = await askOn(session, dbname, asks, way);
  if (!mayPass(asked.code)) return asked;
  const again = await visit(dbname, asks, way, asked);
  return again.answers.size === 0 ? asked : again;
}

/** Why the connection ended before everything was answered. */
function brokenOf({ reach }: Visited): string | undefined {
  if (reach.kind === 'entered') return reach.broken;
  return 'message' in reach ? reach.message : undefined;
}

/** The free connections belong to those who work with the database. */
function tenth({ max, reserved, used }: { max: number; reserved: number; used: number }): number {
  return Math.floor((max - reserved - used) / 10);
}

async function visitAll(state: State, server: Promise<Answers>, lanes: number): Promise<void> {
  const { options, way, names } = state;
  const asks = asksOf(options.checks, 'database');
  const waiting = names.filter((name) => !isClosed(state, name) && name !== options.ground.dbname);
  let done = names.length - waiting.length - (names.includes(options.ground.dbname) ? 1 : 0);
  for (const name of names) if (isClosed(state, name)) state.reach.set(name, { kind: 'closed' });
  const finish = async (name: string, reach: Reach, answers: Answers) => {
    state.reach.set(name, reach);
    const seen = readAnswer(answers, overview);
    if (seen !== undefined) state.sizes.set(name, sizesOf(seen, readAnswer(answers, measured)));
    state.findings.set(name, judgeOne(state, name, new Map([...(await server), ...answers])));
    done += 1;
    options.onProgress(done, names.length);
  };
  const own = async () => {
    const { session, entered, ground } = options;
    await server;
    if (names.includes(ground.dbname)) {
      const visited = await onFirst(session, asks, ground.dbname, way);
      const broken = brokenOf(visited);
      const reach: Reach = {
        kind: 'entered',
        direct: entered.pooler === undefined,
        ...(broken === undefined ? {} : { broken }),
      };
      await finish(ground.dbname, reach, visited.answers);
    }
    // It counts among the connections that may be open at once.
    await session.end();
  };
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined && !way.signal.aborted; name = waiting.shift()) {
      const { reach, answers } = await visit(name, asks, way);
      await finish(name, reach, answers);
    }
  };
  await Promise.all([own().then(lane), ...Array.from({ length: lanes - 1 }, lane)]);
}

/** The catalogue tells that it would be refused, so nobody knocks. */
function isClosed({ known }: State, name: string): boolean {
  const found = known?.find((database) => database.name === name);
  return found !== undefined && !(found.allowsConnections && found.mayConnect && found.connectionLimit !== -2);
}

function judgeOne({ options, names, reach }: State, name: string, answers: Answers): readonly Finding[] {
  const ground: Ground = { ...options.ground, databases: names, reach };
  return options.checks
    .filter((check): check is DatabaseCheck => check.scope === 'database')
    .map((check) => databaseFinding(check, answers, name, ground, options.wish));
}

async function secondReading(
  first: WalPosition | undefined,
  read: number,
  { ground, clock, signal, walInterval }: SurveyOptions,
  way: Visit,
): Promise<WalRate | undefined> {
  if (first === undefined) return undefined;
  await clock.sleep(Math.max(0, walInterval - (clock.now() - read)), signal).catch(() => {});
  if (signal.aborted) return undefined;
  const second = readAnswer((await visit(ground.dbname, [walPosition], way)).answers, walPosition);
  // Both times are the server's own.
  return second === undefined ? undefined : { bytes: second.bytes - first.bytes, seconds: second.at - first.at };
}
