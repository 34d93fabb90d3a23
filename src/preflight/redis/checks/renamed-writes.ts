import { fail, pass } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery } from '../query.ts';
import { removeRenameFix } from './psync-command.ts';

export const renamedWritesCheck = redisCheck({
  id: 'renamed-writes',
  title: 'what applications write has a name the target knows',
  needs: 'entry',
  mayBlock: ['continuous'],
  queries: { server: optionalQuery(infoQuery) },
  evaluate({ server }, { renamed }) {
    if (renamed.kind !== 'known') return unansweredOutcome(renamed, { mayBlock: [] });
    const names = renamed.value.map((name) => name.toUpperCase());
    if (names.length === 0) return pass('every writing command that was called goes by its own name');
    const fix = removeRenameFix(names, server);
    return fail(['continuous'], `called under another name since the start: ${names.join(', ')}`, {
      required: 'their own names, on both sides',
      detail:
        'A replica is sent the name that was typed, and does not know it: its log says `This replica is sending an error to its master: unknown command`, the link stays up, and every such change is lost.',
      objects: names,
      fix: {
        ...fix,
        text: `Take the lines that rename ${names.join(', ')} out of redis.conf (rename-command) and restart, and let the applications call them by their own names; ACL SETUSER can forbid a command to the others.`,
      },
    });
  },
});
