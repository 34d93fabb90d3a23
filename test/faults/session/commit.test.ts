import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesOf } from '../../fixtures/processes.ts';
import { type SecretService, startSecretService } from '../../fixtures/secret-service.ts';
import {
  errorOf,
  expectInvariants,
  expectNoSecretInProcesses,
  killedAt,
  list,
  refreshCommits,
  runNextCommand,
  stoppedAt,
} from './assertions.ts';
import { createFaultFixture, type FaultFixture } from './fault-fixture.ts';
import { describeStores, noKeyring } from './stores.ts';

interface Trouble {
  readonly what: string;
  begin(service: SecretService, fixture: FaultFixture): void | Promise<void>;
  end(service: SecretService): void | Promise<void>;
  /** The next command cannot ask it either. */
  readonly lasts: boolean;
}

const troubles: readonly Trouble[] = [
  { what: 'hangs', begin: (service) => service.pause(), end: (service) => service.resume(), lasts: true },
  { what: 'is locked', begin: (service) => service.lock(), end: (service) => service.restart(), lasts: true },
  { what: 'is gone', begin: (service) => service.end(), end: (service) => service.restart(), lasts: true },
  { what: 'loses its helper', begin: (_, fixture) => killHelper(fixture), end: () => undefined, lasts: false },
];

function killHelper({ folders }: FaultFixture): void {
  const helpers = processesOf(folders).filter(({ argv }) => argv.some((word) => word.endsWith('keychain.cjs')));
  expect(helpers).toHaveLength(1);
  for (const { pid } of helpers) process.kill(pid, 'SIGKILL');
}

describe.skipIf(noKeyring).concurrent('the keychain at the commit', () => {
  test.for(troubles)(
    'K9: the keychain $what: the command succeeds and says so, the next one stores',
    async (trouble, context) => {
      const service = await startSecretService();
      context.onTestFinished(() => service.stop());
      const fixture = await createFaultFixture('keychain', { service, test: context });
      // With -o json there would be no warning.
      const running = await stoppedAt(fixture, 'K9-storing', ['actions', 'list', '-o', 'csv']);
      expectNoSecretInProcesses(fixture);
      await trouble.begin(service, fixture);
      running.kill('SIGCONT');
      const ran = await running.ended;
      expect(ran.code, ran.stderr).toBe(0);
      if (trouble.lasts) {
        expect(ran.stderr).toContain('warning: ');
        expect(fixture.beside()).toHaveLength(1);
        const blind = await fixture.run(list);
        expect([blind.code, errorOf(blind)]).toEqual([1, 'keychain_unavailable']);
        expect(fixture.beside()).toHaveLength(1);
      }
      await trouble.end(service);
      expect(await runNextCommand(fixture)).toBe('usable');
      expect(refreshCommits(fixture)).toHaveLength(1);
      await expectInvariants(fixture);
      expect(fixture.beside()).toEqual([]);
    },
  );
});

type Damage = readonly [what: string, damage: (bytes: Buffer) => Buffer];

function cut(at: number): (bytes: Buffer) => Buffer {
  return (bytes) => bytes.subarray(0, at < 0 ? bytes.length + at : at);
}

function flip(at: (bytes: Buffer) => number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const torn = Buffer.from(bytes);
    const place = at(bytes);
    torn[place] = (torn[place] ?? 0) ^ 1;
    return torn;
  };
}

/** Where the sealed answer begins: behind line 1. */
const behind = (bytes: Buffer): number => bytes.indexOf('\n') + 1;

const damages: readonly Damage[] = [
  ['empty', cut(0)],
  ['cut in line 1', cut(20)],
  ['cut behind line 1', (bytes) => bytes.subarray(0, behind(bytes))],
  ['cut in the answer', (bytes) => bytes.subarray(0, behind(bytes) + 200)],
  ['without its last byte', cut(-1)],
  ['half zeros', (bytes) => Buffer.from(bytes).fill(0, Math.floor(bytes.length / 2))],
  ['a bit of line 1 flipped', flip(() => 12)],
  ['a bit of the nonce flipped', flip(behind)],
  ['a bit of the tag flipped', flip((bytes) => behind(bytes) + 12)],
  ['a bit of the answer flipped', flip((bytes) => behind(bytes) + 60)],
  ['the last bit flipped', flip((bytes) => bytes.length - 1)],
];

interface Status {
  readonly state: string;
  readonly pending_write: boolean;
}

describeStores('a damaged file', ({ make }) => {
  const fileOf = (fixture: FaultFixture): string => {
    const [name = '', ...more] = fixture.beside();
    expect(more).toEqual([]);
    return join(fixture.place.folder, name);
  };

  test('K11: torn before anything was sent, it costs nothing', async (context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K2-reserved');
    const path = fileOf(fixture);
    const whole = readFileSync(path);
    for (const [what, damage] of damages.filter((_, at) => at % 3 === 0)) {
      writeFileSync(path, damage(whole), { mode: 0o600 });
      expect([what, await runNextCommand(fixture)]).toEqual([what, 'usable']);
    }
    expect((await fixture.run(['auth', 'refresh'])).code).toBe(0);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test('K11: torn when the record was stored, it is removed and changes nothing', async (context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K8-sealed');
    const path = fileOf(fixture);
    const whole = readFileSync(path);
    expect(await runNextCommand(fixture)).toBe('usable');
    for (const [what, damage] of damages.filter((_, at) => at % 3 === 1)) {
      writeFileSync(path, damage(whole), { mode: 0o600 });
      expect([what, await runNextCommand(fixture)]).toEqual([what, 'usable']);
      await expectInvariants(fixture);
    }
    writeFileSync(path, whole, { mode: 0o600 });
    await fixture.expire();
    expect(await runNextCommand(fixture)).toBe('usable');
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test('K11: a sealed answer that is torn is never taken for one, and is taken again when it is whole', async (context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K8-sealed');
    const path = fileOf(fixture);
    const whole = readFileSync(path);
    for (const [what, damage] of damages) {
      writeFileSync(path, damage(whole), { mode: 0o600 });
      const status = await fixture.run(['auth', 'status', '-o', 'json']);
      const { state, pending_write } = status.json<Status>();
      const { gen } = (await fixture.item()) ?? {};
      expect([what, gen]).toEqual([what, 1]);
      expect([what, state, pending_write]).toEqual([what, 'in_doubt', false]);
    }
    writeFileSync(path, whole, { mode: 0o600 });
    expect(await runNextCommand(fixture)).toBe('usable');
    expect(refreshCommits(fixture)).toHaveLength(1);
    await expectInvariants(fixture);
    expect(fixture.beside()).toEqual([]);
  });

  test('K11: an answer that the disk has lost is asked for, and the end of the session told', async (context) => {
    const fixture = await make(context);
    await killedAt(fixture, 'K8-sealed');
    const path = fileOf(fixture);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.from(whole).fill(0, behind(whole)));
    expect(await runNextCommand(fixture)).toBe('needs_login');
    await expectInvariants(fixture, { lost: 1 });
  });
});
