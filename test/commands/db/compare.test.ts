import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { countingSource, dbTestHost } from './test-source.ts';

describe('before a connection is opened', () => {
  it.each([
    ['no target', []],
    ['a target of another engine', ['--target', 'redis://127.0.0.1:1']],
    ['an address that cannot be parsed', ['--target', 'postgres://u@h:port/d']],
  ])('%s is a usage error', async (_what, words) => {
    const source = await countingSource();
    const address = ['--source', `postgres://mover@127.0.0.1:${source.port}/shop`];
    const ran = await runCloudctl(dbTestHost(), ['db', 'compare', ...address, ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('db-compare', ran.err);
    expect(source.asked()).toBe(0);
  });
});

it('a source that cannot be reached is exit 3 and named, without the password', async () => {
  const port = await closedPort();
  const host = dbTestHost({ CLOUDCTL_SOURCE: `redis://:s3cret-word@127.0.0.1:${port}`, CLOUDCTL_TARGET: 'redis://h' });
  const ran = await runCloudctl(host, ['db', 'compare', '-o', 'json']);
  expect(ran).toMatchObject({ code: 3, out: '' });
  expect(ran.error()).toMatchObject({ code: 'source_unreachable', detail: `127.0.0.1:${port}` });
  expect(ran.err).not.toContain('s3cret-word');
});
