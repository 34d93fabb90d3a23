import { expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { expectGolden } from '../../fixtures/golden.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

it('sequences of a Redis source are a usage error', async () => {
  const ran = await runCloudctl(dbTestHost(), ['db', 'sequences', '--source', 'redis://127.0.0.1:1']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expectGolden('db-migrate', ran.err);
});

it('a source that cannot be reached prints no statement and is no success', async () => {
  const source = `postgres://mover@127.0.0.1:${await closedPort()}/shop`;
  const ran = await runCloudctl(dbTestHost(), ['db', 'sequences', '--source', source, '--disable-ssl', '-o', 'json']);
  expect(ran.code).not.toBe(0);
  expect(ran.out.trim()).toMatch(/^(\[\])?$/);
  expect(ran.error().code).toBe('source_unreachable');
});
