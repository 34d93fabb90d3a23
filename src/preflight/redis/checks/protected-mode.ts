import { type CheckOutcome, fail, pass, skip } from '../../finding.ts';
import { isConnectedOverLoopback } from '../../network/evaluate-host.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { redisAdministrator } from '../fixes.ts';
import { bindConfigQuery, protectedModeConfigQuery } from '../queries/config.ts';
import { optionalQuery } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const protectedModeCheck = redisCheck({
  id: 'protected-mode',
  title: 'the server lets others in than itself',
  spec: '4.6',
  needs: 'address',
  mayBlock: redisMethods,
  queries: { mode: optionalQuery(protectedModeConfigQuery), bound: optionalQuery(bindConfigQuery) },
  evaluate({ mode, bound }, ground, wish) {
    const { connection: entry } = ground;
    if (entry.kind === 'refused') {
      return entry.code === 'DENIED' ? denied() : skip(`the server was not entered: ${entry.message}`);
    }
    if (!isConnectedOverLoopback(ground.address)) return pass('it let a connection from another machine in');
    // Judged for the address that was used, unless the service is taken to be far away.
    if (!wish.asPublic) return pass('it let this connection in');
    // Before 3.2 there is no such mode, and the list of settings is empty.
    if (mode.kind !== 'known') return unansweredOutcome(mode);
    if (bound.kind !== 'known') return unansweredOutcome(bound);
    const addresses = bound.value.get('bind') ?? '';
    if (isOnlyLocal(addresses)) return onlyLocal(addresses);
    if (mode.value.get('protected-mode') === 'yes' && isOpen(ground)) return denied();
    return pass(
      `protected-mode ${mode.value.get('protected-mode') ?? 'unknown to this version'}, bind ${addresses || '*'}`,
    );
  },
});

function isOpen({ connection: entry }: RedisSourceFacts): boolean {
  return entry.kind === 'entered' && entry.auth !== 'password';
}

function denied(): CheckOutcome {
  return fail(redisMethods, 'protected-mode yes, and the default user has no password', {
    required: 'a password; then protected mode refuses nobody',
    detail: 'Connections from other machines end with `-DENIED Redis is running in protected mode`.',
    fix: {
      shell: ["redis-cli CONFIG SET requirepass 'A-LONG-PASSWORD'", "redis-cli -a 'A-LONG-PASSWORD' CONFIG REWRITE"],
      undoShell: ["redis-cli -a 'A-LONG-PASSWORD' CONFIG SET requirepass ''", 'redis-cli CONFIG REWRITE'],
      by: redisAdministrator,
      text: 'Set a password on the server itself, and give it to the applications. Protected mode off without a password opens the server to everybody.',
    },
  });
}

function onlyLocal(addresses: string): CheckOutcome {
  return fail(redisMethods, `bind ${addresses}`, {
    required: 'an address that others reach, such as bind 0.0.0.0',
    detail: 'The server listens to its own machine alone: others get `Connection refused`.',
    fix: {
      shell: [
        `redis-cli CONFIG SET bind '0.0.0.0 -::*'   # 7.0 and later; before: the bind line of redis.conf, and a restart`,
      ],
      undoShell: [`redis-cli CONFIG SET bind '${addresses}'`],
      by: redisAdministrator,
      text: 'Listen on the public address as well, behind a password and a firewall.',
    },
  });
}

/** An address that begins with a minus is allowed to be missing. */
function isOnlyLocal(addresses: string): boolean {
  const all = addresses.split(/\s+/).filter((address) => address !== '');
  return all.length > 0 && all.every((address) => /^-?(127\.|::1$|localhost$)/.test(address));
}
