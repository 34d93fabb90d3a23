import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorOf, runNextCommand } from './assertions.ts';
import { describeStores } from './stores.ts';

const hook = fileURLToPath(new URL('./unshared-locks.cjs', import.meta.url));
const unshared = { env: { NODE_OPTIONS: `--require=${hook}` } };
const [processes, rounds] = [6, Number(process.env.CLOUDCTL_TEST_UNSHARED ?? '4')];

describeStores('locks that are not shared', ({ make }) => {
  test(
    `${processes} processes meet an expired token ${rounds} times, and no round loses the session`,
    async (context) => {
      const fixture = await make(context);
      const lost: number[] = [];
      const failures: string[] = [];
      for (let round = 0; round < rounds; round++) {
        await fixture.expire(true);
        const list = ['actions', 'list', '-o', 'json'];
        const ran = await Promise.all(Array.from({ length: processes }, () => fixture.run(list, unshared)));
        failures.push(
          ...ran.filter(({ code }) => code !== 0).map((one) => `${one.code} ${errorOf(one)} ${one.stderr}`),
        );
        const next = await fixture.run(list);
        if (next.code !== 0) {
          lost.push(round);
          break;
        }
      }
      expect({ lost, failures }).toEqual({ lost: [], failures: [] });
      expect(await runNextCommand(fixture)).toBe('usable');
    },
    10 * 60_000,
  );
});
