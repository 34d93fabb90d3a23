import type { Clock } from '../../platform/host.ts';
import { connect, type PgSession } from '../../postgresql/connection.ts';
import { ConnectError, ownCodes, QueryError } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { AskContext } from './ask.ts';
import { type Answers, type AnyAsk, failureText, gather } from './gather.ts';
import type { Reach } from './ground.ts';

export interface Visit {
  readonly source: PostgresSource;
  readonly version: number;
  readonly context: AskContext;
  /** What the server answered before. */
  readonly plan: Answers;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onSent: (database: string, text: string) => void;
}

export interface Visited {
  readonly reach: Reach;
  readonly answers: Answers;
}

/** Milliseconds for everything in one database: two statements that the server gives up, and some room. */
export const databaseLimit = 40_000;

/**
 * Connects to one database and asks. A server that restarts is tried again for a few seconds, and so is a session that an
 * administrator ended. A connection that broke is made anew once; not when the server is recovering from a crash then,
 * since our question may be what crashed it.
 */
export async function visit(dbname: string, asks: readonly AnyAsk[], way: Visit, broken?: Attempt): Promise<Visited> {
  const end = way.clock.now() + databaseLimit;
  const left = () => end - way.clock.now();
  let before = broken?.code === ownCodes.closed ? broken : undefined;
  for (let tries = 1; ; tries += 1) {
    const visited = await attempt(dbname, asks, way, left);
    const { code, asked } = visited;
    if (code === undefined || way.signal.aborted || left() < 5000) return visited;
    if (code === ownCodes.closed && asked && before === undefined) {
      before = visited;
    } else if ((passing.has(code) || code === ownCodes.closed) && before === undefined && tries < 4) {
      await way.clock.sleep(1000, way.signal).catch(() => {});
    } else {
      return before !== undefined && passing.has(code) ? before : visited;
    }
  }
}

/** Asks on a session that is open already. */
export async function askOn(session: PgSession, dbname: string, asks: readonly AnyAsk[], way: Visit): Promise<Attempt> {
  const end = way.clock.now() + databaseLimit;
  const { answers, lost } = await gather(asks, {
    session,
    version: way.version,
    context: way.context,
    username: way.source.username,
    dbname,
    plan: way.plan,
    onSent: (text) => way.onSent(dbname, text),
    left: () => end - way.clock.now(),
  });
  const broken = lost === undefined ? {} : { broken: failureText(lost) };
  return { reach: { kind: 'entered', direct: true, ...broken }, answers, code: lost?.code, asked: true };
}

/** Whether another connection may do better. */
export function mayPass(code: string | undefined): boolean {
  return code !== undefined && (code === ownCodes.closed || passing.has(code));
}

/** 57P01 to 57P03: shut down, crashed, not up yet; 53300: no connection free just now. */
const passing: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '53300', 'ECONNREFUSED']);

export interface Attempt extends Visited {
  /** Of the failure that ended it. */
  readonly code: string | undefined;
  /** A question of ours was sent; before that nothing can be its fault. */
  readonly asked: boolean;
}

async function attempt(dbname: string, asks: readonly AnyAsk[], way: Visit, left: () => number): Promise<Attempt> {
  let session: PgSession | undefined;
  try {
    session = await connect(way.source, { dbname, limit: Math.min(left(), connectLimit), signal: way.signal });
    way.onSent(dbname, pidQuery);
    const pid = (await session.query(pidQuery, Math.min(left(), connectLimit)))[0]?.[0]?.pid;
    const { answers, lost } = await gather(asks, {
      session,
      version: way.version,
      context: way.context,
      username: way.source.username,
      dbname,
      plan: way.plan,
      onSent: (text) => way.onSent(dbname, text),
      left,
    });
    const direct = pid === String(session.processId);
    const broken = lost === undefined ? {} : { broken: failureText(lost) };
    return { reach: { kind: 'entered', direct, ...broken }, answers, code: lost?.code, asked: true };
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) {
      return { reach: notReached(error), answers: new Map(), code: error.code, asked: false };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

/** Bare, so that a pooler has to give it to a server process of its own. */
const pidQuery = 'SELECT pg_backend_pid() AS pid';

/** Milliseconds to be let in, and to be told the process. */
const connectLimit = 10_000;

function notReached(error: ConnectError | QueryError): Reach {
  const { code, message } = error;
  // Five digits and letters: the server itself said no. That it is not up is no answer about this database.
  const said = /^[0-9A-Z]{5}$/.test(code) && !passing.has(code);
  return said ? { kind: 'refused', code, message } : { kind: 'lost', message: failureText(error) };
}
