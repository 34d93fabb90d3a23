import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import type { RedisInfo } from '../../../../redis/info.ts';
import { type CheckOutcome, failOutcome, warnOutcome } from '../../finding.ts';
import { evaluateConnections, openPortFix } from '../../network/evaluate.ts';
import { markOptional, type QueryResult } from '../../query.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { infoQuery } from '../queries.ts';
import { disconnectCodes, type RedisSourceFacts } from '../source.ts';

export const redisConnectCheck = declareRedisCheck({
  id: 'redis-connect',
  title: 'a Redis server accepts connections on the port',
  headline: 'No Redis server accepts connections on the port',
  spec: 'S9.10',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: { info: markOptional(infoQuery) },
  evaluate({ info }, facts) {
    const outcome = evaluateConnections(facts.address, redisMethods);
    if (outcome.status === 'fail') {
      const isRefused = facts.address.connects.some(({ error }) => error === 'ECONNREFUSED');
      return { ...outcome, fix: openPortFix(isRefused, facts.port, 'bind') };
    }
    return (
      brokenConnection(facts) ??
      noSession(facts) ??
      (isOtherServer(info) ? otherServer(facts) : (brokenPipeline(facts) ?? outcome))
    );
  },
});

/** The server accepted the connection, and closed it before every query had a reply. */
function brokenConnection({ broken, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (broken === undefined) return undefined;
  return failOutcome(redisMethods, `port ${port}: ${broken}`, {
    headline: 'The connection broke during the preflight',
    required: 'a stable connection',
    detail:
      'The connection broke while the source was queried: a restart, a server that hangs, a proxy with a timeout, a small client-output-buffer-limit for normal clients, a client that was killed, or a user that was deleted (ACL DELUSER). The missing values are unknown.',
    fix: { text: 'Find the reason in the server log, then run the preflight again.' },
  });
}

/** The server disconnects clients with many pending replies. */
function brokenPipeline({ pipelineFailure, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (pipelineFailure === undefined) return undefined;
  return warnOutcome(`port ${port}: ${pipelineFailure}`, {
    headline: 'The server disconnects clients with many pending replies',
    required: 'a connection that is stable while many replies are pending',
    detail:
      'The connection broke when all queries were sent at once, and was stable when they were sent one by one: a small client-output-buffer-limit for normal clients, or a proxy. A replica has a limit of its own, but applications that read much at once are disconnected too.',
    fix: {
      text: 'Check CONFIG GET client-output-buffer-limit: the default for normal clients is 0 0 0. If the address is that of a proxy, give the address of the server itself.',
    },
  });
}

/** The server accepted the connection, but sent no valid reply. */
function noSession({ connection, address, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (connection.kind === 'connected' || address.lookup.kind === 'failed') return undefined;
  const { phase, code, message } = connection;
  if (phase === 'network') {
    return failOutcome(redisMethods, `port ${port}: ${message}`, {
      required: 'an accepted connection',
      fix: { text: `Open port ${port}, and check that the server runs and listens on the port.` },
    });
  }
  if (phase !== 'startup') return undefined;
  if (code === clientErrorCodes.protocol) {
    return failOutcome(redisMethods, `port ${port}: ${message}`, {
      required: 'a Redis server',
      detail: 'Another service than Redis listens on the port of the source.',
      fix: { text: 'Give the port of the Redis server (default: 6379).' },
    });
  }
  if (disconnectCodes.has(code)) return disconnected(message, port);
  if (code !== clientErrorCodes.timeout && code !== clientErrorCodes.aborted) return undefined;
  return failOutcome(redisMethods, `port ${port}: ${message}`, {
    required: 'a reply to PING',
    detail:
      'The connection is accepted and no reply arrives: a server that hangs or runs a script, a proxy without a server behind it, or a firewall that accepts the handshake only.',
    fix: { text: 'Find the reason in the server log; redis-cli -h HOST -p PORT PING must reply.' },
  });
}

/** A test double, a health check, or another line-based protocol may reply to PING, but has no INFO. */
function isOtherServer(info: QueryResult<RedisInfo>): boolean {
  return info.kind === 'known' ? [...info.value].length === 0 : info.kind === 'failed' && info.isMalformed === true;
}

function otherServer({ port }: RedisSourceFacts): CheckOutcome {
  return failOutcome(redisMethods, `port ${port}: PING is answered, and INFO is empty or malformed`, {
    required: 'a Redis server',
    detail:
      'Every Redis server reports its version and its role in INFO. Another service than Redis listens on the port of the source.',
    fix: {
      text: 'Give the port of the Redis server (default: 6379), and the address of the server itself instead of that of a proxy.',
    },
  });
}

function disconnected(message: string, port: number): CheckOutcome {
  return failOutcome(redisMethods, `port ${port}: ${message}`, {
    required: 'a reply to PING',
    detail:
      'The connection is accepted and closed again: protected mode (DENIED), no free connection (maxclients), a proxy without a server behind it, or a firewall that accepts the handshake only.',
    fix: {
      text: 'Run redis-cli -h HOST -p PORT PING without a password, which shows the error of the server; the server log has the details.',
    },
  });
}
