import { quoteShellArg } from '../../../../base/text.ts';
import { type CheckOutcome, failOutcome, passOutcome, skipOutcome } from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import { markOptional } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, redisAdministrator, redisMethods } from '../check.ts';
import { bindQuery, protectedModeQuery } from '../queries.ts';
import type { RedisSourceFacts } from '../source.ts';

export const protectedModeCheck = declareRedisCheck({
  id: 'protected-mode',
  title: 'the server accepts remote connections',
  headline: 'The server refuses remote connections',
  spec: 'S9.10',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    mode: markOptional(protectedModeQuery),
    bind: markOptional(bindQuery),
  },
  evaluate({ mode, bind }, facts, { isOverInternet }) {
    const { connection } = facts;
    if (connection.kind === 'refused') {
      return connection.code === 'DENIED'
        ? protectedModeDenies()
        : skipOutcome(`no session with the server: ${connection.message}`);
    }
    if (!usesLoopback(facts.address)) return passOutcome('a connection from another machine was accepted');
    // The address of this connection decides whether protected mode applies, unless the service connects over the
    // internet.
    if (!isOverInternet) return passOutcome('this connection was accepted');
    // Redis before 3.2 has no protected mode, and the reply to CONFIG GET is empty.
    if (mode.kind !== 'known') return outcomeWithoutValue(mode);
    if (bind.kind !== 'known') return outcomeWithoutValue(bind);
    const addresses = bind.value.get('bind') ?? '';
    const setting = mode.value.get('protected-mode');
    if (isLoopbackOnly(addresses)) return boundToLoopback(addresses);
    if (setting === 'yes' && !hasPassword(facts)) return protectedModeDenies();
    return passOutcome(`protected-mode ${setting ?? 'does not exist in this version'}, bind ${addresses || '*'}`);
  },
});

function hasPassword({ connection }: RedisSourceFacts): boolean {
  return connection.kind === 'connected' && connection.auth === 'password';
}

function protectedModeDenies(): CheckOutcome {
  return failOutcome(redisMethods, 'protected-mode yes, and the default user has no password', {
    required: 'a password: with one, protected mode refuses no connection',
    detail: 'Connections from other machines are refused with `-DENIED Redis is running in protected mode`.',
    fix: {
      shell: ["redis-cli CONFIG SET requirepass 'A-LONG-PASSWORD'", "redis-cli -a 'A-LONG-PASSWORD' CONFIG REWRITE"],
      notSimulated: 'the password is not known',
      undoShell: ["redis-cli -a 'A-LONG-PASSWORD' CONFIG SET requirepass ''", 'redis-cli CONFIG REWRITE'],
      by: redisAdministrator,
      text: 'Set a password on the server itself, and configure the applications to use it. Do not turn protected mode off without a password: every client could then connect.',
    },
  });
}

function boundToLoopback(addresses: string): CheckOutcome {
  return failOutcome(redisMethods, `bind ${addresses}`, {
    required: 'an address that other machines can reach, such as bind 0.0.0.0',
    detail: 'The server listens on loopback addresses only: other machines receive `Connection refused`.',
    fix: {
      shell: [`redis-cli CONFIG SET bind '0.0.0.0 -::*'`],
      effects: [{ kind: 'setting', name: 'bind', value: '0.0.0.0 -::*' }],
      undoShell: [`redis-cli CONFIG SET bind ${quoteShellArg(addresses)}`],
      by: redisAdministrator,
      text: 'Listen on the public address as well, with a password and behind a firewall. Before 7.0, change the bind line of redis.conf, and restart.',
    },
  });
}

/** In `bind`, a leading minus marks an address that the machine need not have. */
function isLoopbackOnly(addresses: string): boolean {
  const all = addresses.split(/\s+/).filter((address) => address !== '');
  return all.length > 0 && all.every((address) => /^-?(127\.|::1$|localhost$)/.test(address));
}
