import { pass, info as tell } from '../../finding.ts';
import { commandCalls } from '../asks/info.ts';
import { check } from '../check.ts';

export const waitUsers = check({
  id: 'wait-users',
  title: 'nobody waits for replicas',
  needs: 'entry',
  mayBlock: [],
  asks: { calls: commandCalls },
  judge({ calls }) {
    const waits = (calls.get('wait') ?? 0) + (calls.get('waitaof') ?? 0);
    if (waits === 0) return pass('no WAIT since the start');
    return tell(`${waits} calls of WAIT since the start`, {
      detail: 'The target counts as a replica, so a WAIT may be satisfied by it alone, far away and slow.',
    });
  },
});
