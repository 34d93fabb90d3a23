import { failOutcome, passOutcome } from '../../finding.ts';
import { declareRedisCheck, redisAdministrator, redisMethods } from '../check.ts';

export const busyScriptCheck = declareRedisCheck({
  id: 'busy-script',
  title: 'no script blocks the server',
  headline: 'A script blocks the server',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {},
  evaluate(_values, { busy }) {
    if (busy === undefined) return passOutcome('the server responds');
    // The BUSY error contains the only command that the server still accepts: SCRIPT KILL does not end a function.
    const kill = /\b(SCRIPT|FUNCTION) KILL\b/.exec(busy)?.[0];
    return failOutcome(redisMethods, busy, {
      required: 'a server that executes commands',
      detail: `A script runs longer than lua-time-limit (busy-reply-threshold). Until it ends every command is refused, also PING and PSYNC of a replica, so the values of other queries are unknown.${
        kill === undefined ? '' : ` ${kill} ends a script that has not written yet.`
      }`,
      fix: {
        ...(kill === undefined
          ? {}
          : { shell: [`redis-cli ${kill}`], notSimulated: 'the server replied to no other command' }),
        by: redisAdministrator,
        text: `Wait until the script has ended${kill === undefined ? '' : `, or end it with ${kill}`}, then run the preflight again.`,
      },
    });
  },
});
