import { expect, test } from 'vitest';
import type { ActionName } from '../../../src/sandbox/faults/fault.ts';
import type { Running } from '../../fixtures/cli.ts';
import { endOf, expectInvariants, killedAt, list, refreshCommits, runNextCommand } from './assertions.ts';
import type { FaultFixture } from './fault-fixture.ts';
import { type Relay, startRelay } from './relay.ts';
import { describeStores } from './stores.ts';

const refreshing = { method: 'POST', path: '/v1/oauth/token', grant_type: 'refresh_token' };

function spoil({ sandbox }: FaultFixture, action: ActionName, times: number): void {
  sandbox.faults.add({ match: refreshing, action, times, delay: action === 'slow_drip' ? 1 : 0 });
}

describeStores('a refresh over a bad network', ({ store, make }) => {
  test.for(['killed', 'cut'] as const)('K3: %s when half of the request was sent', async (how, context) => {
    const relays: Relay[] = [];
    const fixture = await make(context, {
      authUrl: async ({ ready }) => {
        const relay = await startRelay(ready.auth_url, context);
        relays.push(relay);
        return relay.origin;
      },
    });
    const running: Running[] = [];
    relays[0]?.halve(() => (how === 'killed' ? running[0]?.kill('SIGKILL') : undefined));
    running.push(fixture.start(list));
    const ran = await running[0]?.ended;
    expect(relays[0]?.halves()).toBe(1);
    // A connection that was cut is doubt, and the same token is sent once more by the same command.
    if (how === 'killed') expect(ran?.signal).toBe('SIGKILL');
    else expect(ran?.code).toBe(0);
    expect(refreshCommits(fixture)).toHaveLength(how === 'killed' ? 0 : 1);
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
  });

  const gaveUp: readonly (readonly [ActionName, number, number])[] = [
    ['drop_before_commit', 2, 6],
    ...(store === 'keychain'
      ? []
      : ([
          ['reset', 2, 6],
          ['html_502', 2, 1],
          ['status', 2, 1],
          ['redirect_307', 1, 1],
          ['rate_limit', 3, 1],
        ] as const)),
  ];
  test.for(gaveUp)('K4: %s, %d times in a row: the next command goes on', async ([action, times, code], context) => {
    const fixture = await make(context);
    spoil(fixture, action, times);
    expect((await fixture.run(list)).code).toBe(code);
    expect(fixture.refreshes().map(({ fault, committed }) => [fault, committed])).toEqual(
      Array.from({ length: times }, () => [action, false]),
    );
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
    // The doubt ends with an answer.
    if (action !== 'drop_before_commit') return;
    expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test('K4: dropped once: the same command asks again', async (context) => {
    const fixture = await make(context);
    spoil(fixture, 'drop_before_commit', 1);
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test.for([
    ['K5', 'commit_then_drop'],
    ['K6', 'half_body'],
    ['K6', 'bad_json'],
  ] as const)('%s: %s after the commit is the end of the session, and said so', async ([, action], context) => {
    const fixture = await make(context);
    spoil(fixture, action, 1);
    // What is whole and not understood is an answer: it is not asked again before the next command.
    if (action === 'bad_json') expect((await fixture.run(list)).code).toBe(1);
    expect(await runNextCommand(fixture)).toBe('needs_login');
    const [first] = fixture.refreshes();
    expect(first).toMatchObject({ fault: action, committed: true });
    expect(first?.delivered ?? false).toBe(action === 'bad_json');
    await expectInvariants(fixture, { lost: 1 });
    expect(fixture.beside()).toEqual([]);
  });

  test('K5: killed before it asks again', async (context) => {
    const fixture = await make(context);
    spoil(fixture, 'commit_then_drop', 1);
    await killedAt(fixture, 'K3-sending:2');
    expect(await runNextCommand(fixture)).toBe('needs_login');
    expect(fixture.refreshes()[0]).toMatchObject({ committed: true });
    expect(fixture.refreshes()[0]?.delivered).toBe(false);
    await expectInvariants(fixture, { lost: 1 });
  });

  test('K6: an answer that comes a byte at a time is taken; killed in the middle of it, it is lost', async (context) => {
    const fixture = await make(context);
    spoil(fixture, 'slow_drip', 2);
    const ran = await fixture.run(list);
    expect(endOf(ran)).toBe('usable');
    await expectInvariants(fixture);
    await fixture.expire();
    await killedAt(fixture, 'K6-partial:9');
    expect(await runNextCommand(fixture)).toBe('needs_login');
    expect(fixture.refreshes()[1]).toMatchObject({ committed: true });
    expect(fixture.refreshes()[1]?.delivered).toBe(false);
    await expectInvariants(fixture, { lost: 1 });
  });
});
