import { numberIn } from '../../../redis/info.ts';
import { fail, info as tell, unknown, warn } from '../../finding.ts';
import { bytesText } from '../../formats/shared.ts';
import { known, maybe } from '../ask.ts';
import { type Config, memory } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { check, every } from '../check.ts';
import { loadOf } from '../load.ts';

export const maxmemory = check({
  id: 'maxmemory',
  title: 'the data fits the target',
  needs: 'entry',
  mayBlock: every,
  asks: { server: info, settings: maybe(memory) },
  judge({ server, settings }, _ground, wish) {
    const load = loadOf(server);
    if (load === undefined) return unknown('the server does not tell its memory');
    const need = Math.ceil(load.bytes * 1.1);
    const config = known<Config, undefined>(settings, undefined);
    const limit = numberIn(server, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0);
    const policy = server.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction';
    const observed = `${bytesText(load.bytes)} of data, maxmemory ${limit === 0 ? 'unlimited' : bytesText(limit)}, ${policy}`;
    const detail = `${bytesText(load.bytes)} + 10 % = ${bytesText(need)} needed`;
    if (wish.targetMemory !== undefined && need > wish.targetMemory) {
      return fail(every, observed, {
        required: `at most ${bytesText(wish.targetMemory)}, the memory of the target`,
        detail: `${detail}. A replica ignores its own maxmemory and is killed, or evicts and answers \`OOM command not allowed\` once it is promoted.`,
        fix: { text: 'Take a larger plan, or delete what is not needed.' },
      });
    }
    const room = wish.targetMemory === undefined ? detail : `${detail}, the target has ${bytesText(wish.targetMemory)}`;
    if (policy !== 'noeviction' && limit > 0) {
      return warn(observed, {
        required: `maxmemory-policy ${policy} on the target too`,
        detail: `${room}. With noeviction, writes end with \`OOM command not allowed when used memory > 'maxmemory'\` where the source would have evicted.`,
        fix: { text: `Set maxmemory-policy ${policy} on the target before the applications move.` },
      });
    }
    return tell(observed, { detail: `${room}.` });
  },
});
