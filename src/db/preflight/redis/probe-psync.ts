import type { Socket } from 'node:net';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../platform/connect-error.ts';
import { authenticateRedisConnection } from '../../../redis/authenticate.ts';
import { parseRedisErrorCode, redactRedisServerMessage } from '../../../redis/command-error.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { openRedisSocket } from '../../../redis/redis-socket.ts';
import { requestRedisReplyLine } from '../../../redis/resp.ts';
import type { RedisConnectOptions } from '../../../redis/send-redis-command.ts';
import type { PsyncCopyStartResult, PsyncProbeResult } from './source-facts.ts';

/** The description of `--probe`, for the help and for the report. */
export const psyncProbeDescription =
  'A probe requests a full synchronization on a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and disconnects when the copy begins. The source forks a child that begins a BGSAVE; nothing else changes.';

interface PsyncProbeOptions extends RedisConnectOptions {
  /** Time limit in milliseconds from the reply to PSYNC to the first byte of the copy. */
  readonly copyLimit: number;
}

/**
 * Requests a full synchronization with PSYNC, and disconnects when the copy begins. The source forks for a BGSAVE
 * because of PSYNC.
 */
export async function probePsync(source: RedisEndpoint, options: PsyncProbeOptions): Promise<PsyncProbeResult> {
  try {
    const { socket } = await openRedisSocket(source, options);
    try {
      await authenticateRedisConnection(socket, source, options);
      // REPLCONF, the first command of a replica, allows the source to send the copy without a file.
      await requestRedisReplyLine(socket, ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'], options);
      const reply = await requestRedisReplyLine(socket, ['PSYNC', '?', '-1'], options);
      if (reply.startsWith('-')) {
        const message = redactRedisServerMessage(reply.slice(1), source);
        // For a copy through a file the source forks before it replies to PSYNC.
        if (/\bBGSAVE failed\b/.test(message)) {
          return { kind: 'accepted', reply: 'a copy was attempted', copy: { kind: 'failed', reason: message } };
        }
        return { kind: 'refused', code: parseRedisErrorCode(message), message };
      }
      const copy = await awaitCopy(socket, reply, source, options);
      return { kind: 'accepted', reply: reply === '' ? 'the copy was started' : reply, copy };
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof DatabaseConnectError) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}

/**
 * The source sends empty lines while it forks, waits for other replicas (repl-diskless-sync-delay), or writes the RDB
 * file. The copy begins with `$` and its length, or with `$EOF:` if the source sends it without a file.
 */
async function awaitCopy(
  socket: Socket,
  reply: string,
  source: RedisEndpoint,
  options: PsyncProbeOptions,
): Promise<PsyncCopyStartResult> {
  const end = performance.now() + options.copyLimit;
  let line = reply;
  try {
    while (!line.startsWith('$')) {
      if (line.startsWith('-')) return { kind: 'failed', reason: redactRedisServerMessage(line.slice(1), source) };
      const left = end - performance.now();
      if (left <= 0) return copyIsLate(options);
      line = await requestRedisReplyLine(socket, undefined, { ...options, limit: left });
    }
    return { kind: 'started' };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
    return error.code === clientSideDatabaseErrorCodes.timeout
      ? copyIsLate(options)
      : { kind: 'failed', reason: error.message };
  }
}

function copyIsLate({ copyLimit }: PsyncProbeOptions): PsyncCopyStartResult {
  return { kind: 'late', reason: `the copy did not begin within ${Math.round(copyLimit / 1000)} s` };
}
