import { clientSideDatabaseErrorCodes, DatabaseError } from '../platform/connect-error.ts';
import { connectRedis, type RedisConnection, type RedisReply } from '../redis/connection.ts';
import type { RedisEndpoint } from '../redis/endpoint.ts';
import { createReconnectingCall, sharedStoreTimeLimits } from './create-reconnecting-call.ts';
import { decodeSharedLogEntry, decodeSharedSessionOperationResult } from './decode-shared-session.ts';
import type { SharedSessionEntryKey, SharedSessionStore } from './shared-session.ts';
import { buildSharedStoreScriptCall } from './shared-store-script-call.ts';

export interface RedisSharedStoreCallbacks {
  /** Called after a commit that the server has not confirmed to be on its disk, or on a replica. */
  readonly onUnconfirmed?: ((missing: string) => void) | undefined;
}

/** The shared store in Redis: a hash without expiry for each profile, and a stream as its log. Each operation is one script. */
export function createRedisSharedStore(
  source: RedisEndpoint,
  { share, profile }: SharedSessionEntryKey,
  { onUnconfirmed }: RedisSharedStoreCallbacks = {},
): SharedSessionStore {
  const keys = [`cloudctl:{${share}}:${profile}`, `cloudctl:{${share}}:${profile}:log`];
  const calls = createReconnectingCall<RedisConnection>({
    connect: async (limit) => {
      const session = await connectRedis(source, { limit });
      const { notice } = session.authentication;
      if (notice !== undefined && notice.code !== 'NOPERM') {
        session.end();
        throw new DatabaseError(notice.code, notice.message, false);
      }
      if (source.db !== undefined && source.db !== 0)
        await session.send(['SELECT', String(source.db)], sharedStoreTimeLimits.statementMs);
      return session;
    },
    end: (session) => session.end(),
  });
  return {
    location: `Redis ${source.host}:${source.port}/${source.db ?? 0}`,
    run: (operation) =>
      calls.run(async (session) => {
        const { script, args } = buildSharedStoreScriptCall(operation);
        const reply = await session.send(['EVAL', script, '2', ...keys, ...args], sharedStoreTimeLimits.statementMs);
        const snapshot = decodeSharedSessionOperationResult(recordOfReply(reply));
        if (snapshot === undefined) throw malformedReply();
        if (operation.op === 'commit' && snapshot.applied) {
          const missing = await findMissingConfirmation(session);
          if (missing !== undefined) onUnconfirmed?.(missing);
        }
        return snapshot;
      }),
    readLog: (limit) =>
      calls.run(async (session) => {
        const reply = await session.send(['XREVRANGE', keys[1]!, '+', '-', 'COUNT', String(limit)]);
        if (!Array.isArray(reply)) throw malformedReply();
        return reply.flatMap((entry) => (Array.isArray(entry) ? (decodeSharedLogEntry(pairs(entry[1])) ?? []) : []));
      }),
    findLogFailure: () =>
      calls.run(async (session) => {
        try {
          // The id is older than each entry, and NOMKSTREAM creates no stream, so nothing is added.
          await session.send(['XADD', keys[1]!, 'NOMKSTREAM', '0-1', 'event', 'check']);
          return undefined;
        } catch (error) {
          if (!(error instanceof DatabaseError) || error.lost) throw error;
          return ['NOPERM', 'WRONGTYPE'].includes(error.code) ? error.message : undefined;
        }
      }),
    close: calls.close,
  };
}

/** Milliseconds to wait until the commit is on the disk and on a replica. */
const confirmationMs = 1_000;

/**
 * WAITAOF (Redis 7.2) waits until the commit is in the append-only file and on a replica if there is one; older servers only
 * have WAIT. A success is no guarantee: a replica that is promoted may be another one.
 */
async function findMissingConfirmation(session: RedisConnection): Promise<string | undefined> {
  try {
    const info = String(await session.send(['INFO', 'replication'], sharedStoreTimeLimits.statementMs));
    const replicas = Math.min(1, Number(/^connected_slaves:(\d+)/m.exec(info)?.[1] ?? 0));
    const limit = confirmationMs + sharedStoreTimeLimits.statementMs;
    try {
      const done = await session.send(['WAITAOF', '1', String(replicas), String(confirmationMs)], limit);
      const [local, remote] = Array.isArray(done) ? done : [];
      if (Number(local) < 1) return 'its append-only file';
      return Number(remote) < replicas ? 'a replica' : undefined;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.lost) throw error;
      if (replicas === 0) return undefined;
      const count = await session.send(['WAIT', String(replicas), String(confirmationMs)], limit);
      return Number(count) < replicas ? 'a replica' : undefined;
    }
  } catch (error) {
    // The primary has acknowledged the commit. It is only not known whether the commit is on the disk or on a replica.
    if (error instanceof DatabaseError) return 'its append-only file';
    throw error;
  }
}

function recordOfReply(reply: RedisReply): unknown {
  if (!Array.isArray(reply)) return undefined;
  const [applied, now, fields] = reply;
  const session = pairs(fields);
  return {
    applied: applied === '1',
    now_ms: now,
    session: session === undefined || Object.keys(session).length === 0 ? null : session,
  };
}

/** The fields of a hash or a stream entry, which RESP2 returns as a flat list. */
function pairs(reply: RedisReply | undefined): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(reply)) return undefined;
  const fields: [string, unknown][] = [];
  for (let at = 0; at + 1 < reply.length; at += 2) fields.push([String(reply[at]), reply[at + 1]]);
  return Object.fromEntries(fields);
}

function malformedReply(): DatabaseError {
  return new DatabaseError(clientSideDatabaseErrorCodes.protocol, 'the reply of the script has an unknown form', false);
}
