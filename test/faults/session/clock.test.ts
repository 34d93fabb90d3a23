import { expect, test } from 'vitest';
import type { SessionRecord } from '../../../src/auth/session/record.ts';
import { expectInvariants, killedAt, list, refreshCommits, runNextCommand } from './assertions.ts';
import { expireAtServer, type FaultFixture } from './fault-fixture.ts';
import { describeStores } from './stores.ts';

const day = 86_400_000;
const wrong = [
  { what: 'a day back', env: { TEST_CLOCK: JSON.stringify({ offset: -day }) } },
  { what: 'forty days ahead', env: { TEST_CLOCK: JSON.stringify({ offset: 40 * day }) } },
];

async function seedUntil(fixture: FaultFixture, days: number): Promise<SessionRecord> {
  const item = await fixture.item();
  if (item === undefined) throw new Error('there is no session');
  const record = { ...item, expiresAt: Math.floor((Date.now() + days * day) / 1000) };
  await fixture.write(record);
  return record;
}

describeStores('a wrong clock', ({ store, make }) => {
  // Each store with one of the two: what the clock is compared with is the same code.
  const own = wrong.filter((_, at) => at === (store === 'file' ? 0 : 1));

  test.for(wrong)('K18: renewed with the clock $what, used with the right one', async ({ env }, context) => {
    const fixture = await make(context);
    await seedUntil(fixture, -2);
    expect(await runNextCommand(fixture, { env })).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(1);
    expect(await runNextCommand(fixture)).toBe('usable');
    // What the client takes to be alive the server may have let expire: then the refusal decides.
    expireAtServer(fixture.sandbox);
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(2);
    await expectInvariants(fixture);
  });

  test.for(own)('K18: killed, and the clock $what when the next command comes', async ({ env }, context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K8-sealed');
    expect(await runNextCommand(fixture, { env })).toBe('usable');
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test.for(wrong)(
    'K18: killed with the clock $what, at the commit and before anything was sent',
    async ({ env }, context) => {
      const fixture = await make(context);
      await seedUntil(fixture, -2);
      await killedAt(fixture, 'K2-reserved', list, { env });
      expect(await runNextCommand(fixture)).toBe('usable');
      expect(refreshCommits(fixture)).toHaveLength(0);
      await killedAt(fixture, 'K8-sealed', ['auth', 'refresh'], { env });
      expect(await runNextCommand(fixture)).toBe('usable');
      expect(refreshCommits(fixture)).toHaveLength(1);
      await expectInvariants(fixture);
      expect(fixture.beside()).toEqual([]);
    },
  );

  test('K18: a clock ahead refreshes, and never gives a session up', async (context) => {
    const fixture = await make(context);
    await seedUntil(fixture, 20);
    for (let time = 1; time <= 2; time++) expect(await runNextCommand(fixture, wrong[1])).toBe('usable');
    // Renewed under the wrong clock it is good under the wrong clock: once, not at each command.
    expect(refreshCommits(fixture)).toHaveLength(1);
    await expectInvariants(fixture);
  });
});
