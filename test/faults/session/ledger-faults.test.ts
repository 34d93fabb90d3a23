import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { createFaultFixture, type FaultFixture } from './fault-fixture.ts';
import { faultSample, tell } from './figures.ts';
import { faultsAt, runWithFault, tracePlaces } from './strace.ts';

const options = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'fra1', '-o', 'json', '--yes'];
const create = (names: readonly string[]) => ['droplets', 'create', ...names, '--batch-size', '1', ...options];

test.skipIf(lacks('strace'))(
  'no system call on the ledger that fails, once or from then on, creates a name twice, and a resumed batch has all names',
  async (context) => {
    const fixture = await createFaultFixture('file', { test: context });
    await fixture.run(create(['warm-up']));
    const places = await tracePlaces(fixture, create(['traced-1', 'traced-2']));
    const faults = faultSample(faultsAt(places));
    const wrong: string[] = [];
    let hits = 0;
    for (const [at, fault] of faults.entries()) {
      const names = [`box-${at}-1`, `box-${at}-2`];
      const before = new Set(ledgersOf(fixture));
      const { ran, isHit } = await runWithFault(fixture, create(names), fault);
      if (isHit) hits++;
      const [ledger] = ledgersOf(fixture).filter((path) => !before.has(path));
      const resumed =
        ran.code === 0 || ledger === undefined
          ? undefined
          : await fixture.run(['droplets', 'create', '--resume', ledger, '--yes', '-o', 'json']);
      const counts = names.map((name) => dropletNames(fixture).filter((one) => one === name).length);
      const isWhole = ran.code === 0 || resumed?.code === 0;
      if (counts.some((count) => count > 1 || (isWhole && count !== 1)))
        wrong.push(`${JSON.stringify(fault)} ${counts} ${ran.code} ${ran.stderr} ${resumed?.stderr}`);
    }
    tell({
      what: 'faults',
      store: 'ledger',
      values: { places: places.length, faults: faults.length, hits, lost: wrong.length },
    });
    expect(wrong).toEqual([]);
    expect(hits).toBeGreaterThan(faults.length / 2);
  },
  90 * 60_000,
);

function ledgersOf({ folders }: FaultFixture): readonly string[] {
  return readdirSync(folders.state, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function dropletNames({ sandbox }: FaultFixture): readonly string[] {
  const maya = sandbox.ready.users.find(({ email }) => email === 'maya@example.com');
  return sandbox.world.droplets(maya?.uuid ?? '').map(({ name }) => name);
}
