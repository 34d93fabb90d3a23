import { expect, test } from 'vitest';
import type { CredentialRecord } from '../../../src/session/credential-record.ts';
import { expectInvariants, killedAt, list, refreshCommits, runNextCommand } from './assertions.ts';
import { expireAtServer, type FaultFixture } from './fault-fixture.ts';
import { describeStores } from './stores.ts';

const day = 86_400_000;
const wrong = [
  { what: 'a day back', env: { TEST_CLOCK: JSON.stringify({ offset: -day }) } },
  { what: 'forty days ahead', env: { TEST_CLOCK: JSON.stringify({ offset: 40 * day }) } },
];

async function seedUntil(ground: FaultFixture, days: number): Promise<CredentialRecord> {
  const item = await ground.item();
  if (item === undefined) throw new Error('there is no session');
  const record = { ...item, expiresAt: Math.floor((Date.now() + days * day) / 1000) };
  await ground.write(record);
  return record;
}

describeStores('a wrong clock', ({ store, make }) => {
  // Each store with one of the two: what the clock is compared with is the same code.
  const own = wrong.filter((_, at) => at === (store === 'file' ? 0 : 1));

  test.for(wrong)('K18: renewed with the clock $what, used with the right one', async ({ env }, context) => {
    const ground = await make(context);
    await seedUntil(ground, -2);
    expect(await runNextCommand(ground, { env })).toBe('usable');
    expect(refreshCommits(ground)).toHaveLength(1);
    expect(await runNextCommand(ground)).toBe('usable');
    // What the client takes to be alive the server may have let expire: then the refusal decides.
    expireAtServer(ground.sandbox);
    expect(await runNextCommand(ground)).toBe('usable');
    expect(refreshCommits(ground)).toHaveLength(2);
    await expectInvariants(ground);
  });

  test.for(own)('K18: killed, and the clock $what when the next command comes', async ({ env }, context) => {
    const ground = await make(context);
    await killedAt(ground, 'K8-sealed');
    expect(await runNextCommand(ground, { env })).toBe('usable');
    expect(await runNextCommand(ground)).toBe('usable');
    await expectInvariants(ground);
    expect(ground.beside()).toEqual([]);
  });

  test.for(wrong)(
    'K18: killed with the clock $what, at the commit and before anything was sent',
    async ({ env }, context) => {
      const ground = await make(context);
      await seedUntil(ground, -2);
      await killedAt(ground, 'K2-reserved', list, { env });
      expect(await runNextCommand(ground)).toBe('usable');
      expect(refreshCommits(ground)).toHaveLength(0);
      await killedAt(ground, 'K8-sealed', ['auth', 'refresh'], { env });
      expect(await runNextCommand(ground)).toBe('usable');
      expect(refreshCommits(ground)).toHaveLength(1);
      await expectInvariants(ground);
      expect(ground.beside()).toEqual([]);
    },
  );

  test('K18: a clock ahead refreshes, and never gives a session up', async (context) => {
    const ground = await make(context);
    await seedUntil(ground, 20);
    for (let time = 1; time <= 2; time++) expect(await runNextCommand(ground, wrong[1])).toBe('usable');
    // Renewed under the wrong clock it is good under the wrong clock: once, not at each command.
    expect(refreshCommits(ground)).toHaveLength(1);
    await expectInvariants(ground);
  });
});
