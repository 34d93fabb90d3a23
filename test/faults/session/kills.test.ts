import { expect, test } from 'vitest';
import { expectInvariants, killedAt, refreshCommits, runNextCommand, type SessionEnd } from './assertions.ts';
import { expireAtServer } from './fault-fixture.ts';
import { describeStores } from './stores.ts';

interface Kill {
  readonly title: string;
  readonly point: string;
  /** Refreshes the server has carried out by then. */
  readonly committed: 0 | 1;
  readonly end: SessionEnd;
}

const kill = (title: string, point: string, committed: 0 | 1, end: SessionEnd): Kill => ({
  title,
  point,
  committed,
  end,
});

/** Where the program is killed, and what the next command finds. */
const kills: readonly Kill[] = [
  kill('K1: killed while it waits for the lock', 'K1-waiting', 0, 'usable'),
  kill('K1: killed when it has just locked', 'K1-locked', 0, 'usable'),
  kill('K2: killed when the place for the answer is made, and nothing sent', 'K2-reserved', 0, 'usable'),
  kill('K3: killed when the request is given to the network', 'K3-sending', 0, 'usable'),
  kill('K6: killed at the head of the answer', 'K6-answering', 1, 'needs_login'),
  kill('K6: killed at the first piece of the body', 'K6-partial', 1, 'needs_login'),
  kill('K7: killed when the body is read, and nothing of it written', 'K7-read', 1, 'needs_login'),
  kill('K7: killed when write(2) has returned', 'K7-written', 1, 'usable'),
  kill('K8: killed when the answer is on the disk', 'K8-sealed', 1, 'usable'),
  kill('K9: killed when the store is about to be asked', 'K9-storing', 1, 'usable'),
  kill('K10: killed when the record is stored', 'K10-stored', 1, 'usable'),
  kill('K10: killed when everything is tidied, and the lock still held', 'K10-cleared', 1, 'usable'),
];

describeStores('a killed refresh', ({ make }) => {
  test.for(kills)('$title', async ({ point, committed, end }, context) => {
    const fixture = await make(context);
    await killedAt(fixture, point);
    expect(refreshCommits(fixture)).toHaveLength(committed);
    expect(await runNextCommand(fixture)).toBe(end);
    await expectInvariants(fixture, { lost: end === 'usable' ? 0 : 1 });
    // What was not sent, or not answered, leaves a doubt until the next refresh.
    if (fixture.beside().length > 0) {
      expect(refreshCommits(fixture)).toEqual([]);
      expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
      await expectInvariants(fixture);
    }
    expect(fixture.beside()).toEqual([]);
  });

  test.for([
    ['K2', 'K2-reserved'],
    ['K3', 'K3-sending'],
  ] as const)('%s: killed there when the access token is dead at the server as well', async ([, point], context) => {
    const fixture = await make(context);
    expireAtServer(fixture.sandbox);
    await killedAt(fixture, point);
    expect(refreshCommits(fixture)).toHaveLength(0);
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(1);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test.for(['R-promoting', 'R-promoted'])('K10: killed again at %s', async (point, context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K8-sealed');
    await killedAt(fixture, point);
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(1);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });
});
