import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { errorOf, expectInvariants, list, runNextCommand } from './assertions.ts';
import { createFaultFixture } from './fault-fixture.ts';

/** As in a container with `-v FILE:FILE`; in a mount namespace of its own. */
const mounted = (file: string) => [
  ...['unshare', '--mount', 'sh', '-c', 'mount --bind "$1" "$1" && shift && exec "$@"', 'sh', file],
];
const mayMount = spawnSync('unshare', ['--mount', 'mount', '--bind', '/tmp', '/tmp']).status === 0;

test.skipIf(!mayMount)(
  'a credential file that is a mount of its own is an error before anything is sent',
  async (context) => {
    const fixture = await createFaultFixture('file', { test: context });
    const ran = await fixture.run(list, { under: mounted(fixture.place.credentialFile) });
    expect([ran.code, errorOf(ran)]).toEqual([1, 'keychain_unavailable']);
    expect(ran.stderr).toContain(fixture.place.folder);
    expect(fixture.refreshes()).toEqual([]);
    expect(fixture.beside()).toEqual([]);
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
  },
);
