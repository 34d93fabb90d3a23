import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { countingSource, dbTestHost } from './test-source.ts';

const target = ['--into', 'postgres://postgres@127.0.0.1:1/postgres'];

describe('before a connection is opened', () => {
  it.each([
    ['a rehearsal without --yes and without a terminal', [...target]],
    ['a report that is not JSON', [...target, '--yes', '--report', 'report.pdf']],
    ['a report in a folder that does not exist', [...target, '--yes', '--report', '/missing/report.json']],
    ['no target', ['--yes']],
    ['a target of another engine', ['--yes', '--into', 'redis://127.0.0.1:1']],
    ['a stall timeout that is no duration', [...target, '--yes', '--stall-timeout', 'soon']],
  ])('%s is a usage error', async (_what, words) => {
    const source = await countingSource();
    const address = ['--source', `postgres://mover@127.0.0.1:${source.port}/shop`];
    const ran = await runCloudctl(dbTestHost(), ['db', 'rehearse', ...address, ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('db-rehearse', ran.err);
    expect(source.asked()).toBe(0);
  });
});

it('a target that cannot be reached is named, and nothing is created on the source', async () => {
  const source = await countingSource();
  const port = await closedPort();
  const address = ['--source', `postgres://mover@127.0.0.1:${source.port}/shop`];
  const into = ['--into', `postgres://postgres@127.0.0.1:${port}/postgres`];
  const ran = await runCloudctl(dbTestHost(), ['db', 'rehearse', ...address, ...into, '--yes', '-o', 'json']);
  expect(ran).toMatchObject({ code: 6, out: '' });
  expect(ran.error()).toMatchObject({ code: 'unreachable', detail: expect.stringContaining(`127.0.0.1:${port}`) });
  expect(source.asked()).toBe(0);
});
