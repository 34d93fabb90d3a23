import { fail, pass } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { redisAdministrator } from '../fixes.ts';

export const busyScriptCheck = redisCheck({
  id: 'busy-script',
  title: 'no script holds the server up',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: {},
  evaluate(_values, { busy }) {
    if (busy === undefined) return pass('it answers');
    // The server names the one command it still takes: a function is not ended as a script is.
    const kill = /\b(SCRIPT|FUNCTION) KILL\b/.exec(busy)?.[0];
    return fail(redisMethods, busy, {
      required: 'a server that answers',
      detail: `A script runs longer than lua-time-limit (busy-reply-threshold), and until it ends every command is refused, PING and PSYNC of a replica too: what was asked meanwhile is unknown.${
        kill === undefined ? '' : ` ${kill} ends it, unless it has written: then only its own end is left.`
      }`,
      fix: {
        ...(kill === undefined ? {} : { shell: [`redis-cli ${kill}`] }),
        by: redisAdministrator,
        text: `Wait for the end of the script${kill === undefined ? '' : `, or end it with ${kill}`}, and run it again.`,
      },
    });
  },
});
