import { fail, type Outcome, pass, skip } from '../../finding.ts';
import { dialsLoopback } from '../../network/host.ts';
import { maybe } from '../ask.ts';
import { bind, protectedMode } from '../asks/config.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';
import { administrator } from '../fixes.ts';
import type { Ground } from '../ground.ts';

export const protectedModeCheck = check({
  id: 'protected-mode',
  title: 'the server lets others in than itself',
  spec: '4.6',
  needs: 'address',
  mayBlock: every,
  asks: { mode: maybe(protectedMode), bound: maybe(bind) },
  judge({ mode, bound }, ground, wish) {
    const { entry } = ground;
    if (entry.kind === 'refused') {
      return entry.code === 'DENIED' ? denied() : skip(`the server was not entered: ${entry.message}`);
    }
    if (!dialsLoopback(ground.address)) return pass('it let a connection from another machine in');
    // Judged for the address that was used, unless the service is taken to be far away.
    if (!wish.asPublic) return pass('it let this connection in');
    // Before 3.2 there is no such mode, and the list of settings is empty.
    if (mode.kind !== 'known') return unanswered(mode);
    if (bound.kind !== 'known') return unanswered(bound);
    const addresses = bound.value.get('bind') ?? '';
    if (isOnlyLocal(addresses)) return onlyLocal(addresses);
    if (mode.value.get('protected-mode') === 'yes' && isOpen(ground)) return denied();
    return pass(
      `protected-mode ${mode.value.get('protected-mode') ?? 'unknown to this version'}, bind ${addresses || '*'}`,
    );
  },
});

function isOpen({ entry }: Ground): boolean {
  return entry.kind === 'entered' && entry.auth !== 'password';
}

function denied(): Outcome {
  return fail(every, 'protected-mode yes, and the default user has no password', {
    required: 'a password; then protected mode refuses nobody',
    detail: 'Connections from other machines end with `-DENIED Redis is running in protected mode`.',
    fix: {
      shell: ["redis-cli CONFIG SET requirepass 'A-LONG-PASSWORD'", "redis-cli -a 'A-LONG-PASSWORD' CONFIG REWRITE"],
      undoShell: ["redis-cli -a 'A-LONG-PASSWORD' CONFIG SET requirepass ''", 'redis-cli CONFIG REWRITE'],
      by: administrator,
      text: 'Set a password on the server itself, and give it to the applications. Protected mode off without a password opens the server to everybody.',
    },
  });
}

function onlyLocal(addresses: string): Outcome {
  return fail(every, `bind ${addresses}`, {
    required: 'an address that others reach, such as bind 0.0.0.0',
    detail: 'The server listens to its own machine alone: others get `Connection refused`.',
    fix: {
      shell: [
        `redis-cli CONFIG SET bind '0.0.0.0 -::*'   # 7.0 and later; before: the bind line of redis.conf, and a restart`,
      ],
      undoShell: [`redis-cli CONFIG SET bind '${addresses}'`],
      by: administrator,
      text: 'Listen on the public address as well, behind a password and a firewall.',
    },
  });
}

/** An address that begins with a minus is allowed to be missing. */
function isOnlyLocal(addresses: string): boolean {
  const all = addresses.split(/\s+/).filter((address) => address !== '');
  return all.length > 0 && all.every((address) => /^-?(127\.|::1$|localhost$)/.test(address));
}
