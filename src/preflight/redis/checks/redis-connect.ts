import { connectErrorCodes } from '../../../platform/connect-error.ts';
import type { RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, fail, warn } from '../../finding.ts';
import { evaluateConnect } from '../../network/evaluate-connect.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const redisConnectCheck = redisCheck({
  id: 'redis-connect',
  title: 'the server takes connections and speaks the protocol of Redis',
  spec: '4.6',
  needs: 'address',
  mayBlock: redisMethods,
  queries: { told: optionalQuery(infoQuery) },
  evaluate({ told }, ground) {
    const outcome = evaluateConnect(ground.address, redisMethods);
    if (outcome.status === 'fail') return { ...outcome, fix: cure(ground) };
    return broken(ground) ?? mute(ground) ?? (isStrange(told) ? stranger(ground) : (relented(ground) ?? outcome));
  },
});

/** Entered, and gone before everything was answered. */
function broken({ broken: reason, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (reason === undefined) return undefined;
  return fail(redisMethods, `port ${port}: ${reason}`, {
    required: 'a connection that holds',
    detail:
      'It broke while the source was asked: a restart, a hung server, a proxy that gives up, a small client-output-buffer-limit for normal clients, or somebody who killed it or took the user away (ACL DELUSER). What was not answered is unknown.',
    fix: { text: 'Look at the log of the server, and run it again.' },
  });
}

/** It answers a question, and not many at once. */
function relented({ pipelineFailure: reason, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (reason === undefined) return undefined;
  return warn(`port ${port}: ${reason}`, {
    required: 'a connection that holds while many replies are on their way',
    detail:
      'It was cut while everything was asked at once, and held when one question followed the other: a small client-output-buffer-limit for normal clients, or a proxy. A replica is a client of another kind, but applications that read much at once are cut off too.',
    fix: {
      text: 'CONFIG GET client-output-buffer-limit: normal 0 0 0 is what a server has that nobody changed. If a proxy stands before it, give the server itself.',
    },
  });
}

/** Connected, and nothing sensible came back. */
function mute({ connection: entry, address, port }: RedisSourceFacts): CheckOutcome | undefined {
  if (entry.kind === 'entered' || address.lookup.kind === 'failed') return undefined;
  if (entry.phase === 'network') {
    return fail(redisMethods, `port ${port}: ${entry.message}`, {
      required: 'a connection that is taken',
      fix: { text: `Let port ${port} through, and check that the server runs and listens on it.` },
    });
  }
  if (entry.phase !== 'startup') return undefined;
  if (entry.code === connectErrorCodes.protocol) {
    return fail(redisMethods, `port ${port}: ${entry.message}`, {
      required: 'a Redis server',
      detail: 'Another service listens on this port.',
      fix: { text: 'Give the port of Redis, 6379 unless it was changed.' },
    });
  }
  if (disconnectCodes.has(entry.code)) return closed(entry.message, port);
  if (entry.code !== connectErrorCodes.timeout && entry.code !== connectErrorCodes.aborted) return undefined;
  return fail(redisMethods, `port ${port}: ${entry.message}`, {
    required: 'an answer to PING',
    detail:
      'The connection is taken and nothing is answered: a hung server or one that a script holds up, a proxy without a server behind it, or a firewall that lets the handshake pass.',
    fix: { text: 'Look at the log of the server; redis-cli -h HOST -p PORT PING must answer.' },
  });
}

function isStrange(told: RedisQueryResult<RedisInfo>): boolean {
  return told.kind === 'known' ? told.value.size === 0 : told.kind === 'failed' && /cannot be read$/.test(told.reason);
}

/** It says yes to whatever it is told: a stub, a check of health, another protocol of lines. */
function stranger({ port }: RedisSourceFacts): CheckOutcome {
  return fail(redisMethods, `port ${port}: PING is answered, and INFO tells nothing`, {
    required: 'a Redis server',
    detail: 'Every Redis tells its version and its role by INFO. What listens here only looks like one.',
    fix: {
      text: 'Give the port of Redis, 6379 unless it was changed, and the server itself when a proxy stands before it.',
    },
  });
}

/** A write to a side that has gone fails by the one or the other, as it happens. */
export const disconnectCodes: ReadonlySet<string> = new Set([connectErrorCodes.closed, 'EPIPE']);

function closed(message: string, port: number): CheckOutcome {
  return fail(redisMethods, `port ${port}: ${message}`, {
    required: 'an answer to PING',
    detail:
      'The connection is taken and closed again: protected mode (DENIED), no free connection (maxclients), a proxy without a server behind it, or a firewall that lets the handshake pass.',
    fix: {
      text: 'redis-cli -h HOST -p PORT PING, without a password, shows what the server says; its log tells the rest.',
    },
  });
}

function cure({ address, port }: RedisSourceFacts) {
  const refused = address.connects.some(({ error }) => error === 'ECONNREFUSED');
  if (refused) {
    return {
      text: `Check that the server runs and listens beyond localhost (bind, port ${port}), and that no firewall rejects port ${port}.`,
    };
  }
  return {
    text: `Let port ${port} through: firewall, security group or the list of trusted sources. Put the old rules back when the migration is over.`,
  };
}
