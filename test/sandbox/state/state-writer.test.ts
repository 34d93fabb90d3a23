import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { captureState } from '../../../src/sandbox/state/world-state.ts';
import { makeFolder, openWorld, readAfterKill, readFolder, SEED } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 60);
const steps = fc.array(
  fc.record({ change: fc.constantFrom(...Object.keys(WORLD_CHANGES)), pick: fc.nat(1000), isAwaited: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

describe('the state folder', { timeout: 60_000 + runs * 500 }, () => {
  it('has the state of the last response, after any changes and any number of restarts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(40), async (plan, restartAt) => {
        const folder = makeFolder();
        let opened = await openWorld(folder);
        for (const [at, { change, pick, isAwaited }] of plan.entries()) {
          WORLD_CHANGES[change]?.(opened.world, pick);
          if (isAwaited) {
            await opened.writer.whenSaved();
            expect(readAfterKill(folder)).toEqual(captureState(opened.world.state));
          }
          if (at === restartAt) {
            const before = captureState(opened.world.state);
            await opened.close();
            opened = await openWorld(folder);
            expect(captureState(opened.world.state)).toEqual(before);
          }
        }
        await opened.writer.whenSaved();
        expect(readAfterKill(folder)).toEqual(captureState(opened.world.state));
        await opened.close();
        rmSync(folder, { recursive: true });
      }),
      { numRuns: runs },
    );
  });

  it('killed at any moment has a state between the last response and now', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.infiniteStream(fc.nat(3)), async (plan, pauses) => {
        const opened = await openWorld(makeFolder());
        const history = [captureState(opened.world.state)];
        let answered = 0;
        for (const { change, pick, isAwaited } of plan.filter((step) => step.change !== 'reset')) {
          WORLD_CHANGES[change]?.(opened.world, pick);
          history.push(captureState(opened.world.state));
          const now = history.length - 1;
          void Promise.resolve(opened.writer.whenSaved()).then(() => {
            answered = Math.max(answered, now);
          });
          if (isAwaited) for (let turn = pauses.next().value; turn > 0; turn -= 1) await new Promise(setImmediate);
          expect(history.slice(answered)).toContainEqual(readAfterKill(opened.folder));
        }
        await opened.close();
        rmSync(opened.folder, { recursive: true });
      }),
      { numRuns: Math.ceil(runs / 2) },
    );
  });

  it('rebuilds its indexes at a start: names, tokens, owners, latest migrations', async () => {
    const folder = makeFolder();
    const first = await openWorld(folder);
    for (const [at, change] of [...Object.values(WORLD_CHANGES), ...Object.values(WORLD_CHANGES)].entries()) {
      if (change !== WORLD_CHANGES.reset && change !== WORLD_CHANGES.withdraw && change !== WORLD_CHANGES.signOut)
        change(first.world, at);
    }
    await first.close();
    const second = await openWorld(folder);
    const { pairs, authorizations, migrations } = captureState(first.world.state);
    expect(pairs.length * authorizations.length * migrations.length).toBeGreaterThan(0);
    for (const { person, clientId } of authorizations)
      expect(second.world.grants.latestAuthorization(person, clientId)).toEqual(
        first.world.grants.latestAuthorization(person, clientId),
      );
    for (const { refreshToken = '' } of pairs)
      expect(second.world.grants.pairByRefreshToken(refreshToken)).toEqual(
        first.world.grants.pairByRefreshToken(refreshToken),
      );
    for (const { uuid } of [...SEED.people, ...SEED.teams]) {
      expect(second.world.droplets.of(uuid)).toEqual(first.world.droplets.of(uuid));
      expect(second.world.droplets.actionsOf(uuid)).toEqual(first.world.droplets.actionsOf(uuid));
    }
    for (const { uuid } of SEED.clusters)
      expect(second.world.migrations.latest(uuid)).toEqual(first.world.migrations.latest(uuid));
    await second.close();
  });

  it('truncated anywhere in its last line has the state before or after that change, and continues from it', async () => {
    const folder = makeFolder();
    const { world, writer, journal, close } = await openWorld(folder);
    WORLD_CHANGES.authorize?.(world, 8);
    WORLD_CHANGES.issueCode?.(world, 0);
    await writer.whenSaved();
    const before = captureState(world.state);
    const start = statSync(journal).size;
    WORLD_CHANGES.exchange?.(world, 0);
    await writer.whenSaved();
    const after = captureState(world.state);
    await close();
    const bytes = readFileSync(journal);
    expect(bytes.length).toBeGreaterThan(start + 100);
    for (let length = start; length <= bytes.length; length += 1) {
      writeFileSync(journal, bytes.subarray(0, length));
      expect([length, readFolder(folder)]).toEqual([length, length === bytes.length ? after : before]);
    }
    truncateSync(journal, start + 50);
    const again = await openWorld(folder);
    expect(captureState(again.world.state)).toEqual(before);
    WORLD_CHANGES.signIn?.(again.world, 0);
    await again.close();
    expect(readAfterKill(folder)).toEqual(captureState(again.world.state));
  });

  it('treats a last line with zeros, as of a block that was not written, as torn', async () => {
    const { folder, world, writer, journal, close } = await openWorld(makeFolder());
    WORLD_CHANGES.authorize?.(world, 8);
    await writer.whenSaved();
    const [start, before] = [statSync(journal).size, captureState(world.state)];
    WORLD_CHANGES.signIn?.(world, 0);
    await close();
    const bytes = readFileSync(journal);
    for (const end of [bytes.length - 5, bytes.length]) {
      writeFileSync(journal, Buffer.from(bytes).fill(0, start + 20, end));
      expect(readAfterKill(folder)).toEqual(before);
    }
  });

  it('has a line for each write, and at a start and a reset only the lines of the present state', async () => {
    const folder = makeFolder();
    const opened = await openWorld(folder);
    const count = () => readFileSync(opened.journal, 'utf8').split('\n').length - 1;
    const atStart = count();
    for (let at = 0; at < 200; at += 1) {
      WORLD_CHANGES.signIn?.(opened.world, at);
      WORLD_CHANGES.signOut?.(opened.world, 0);
      await opened.writer.whenSaved();
    }
    expect(count()).toBe(atStart + 200);
    await opened.close();
    // What a kill during an earlier rewrite left is replaced.
    writeFileSync(join(folder, '.journal.tmp'), 'half');
    const again = await openWorld(folder);
    expect(count()).toBe(atStart);
    expect(captureState(again.world.state)).toEqual(captureState(opened.world.state));
    WORLD_CHANGES.signIn?.(again.world, 1);
    await again.writer.whenSaved();
    again.world.reset();
    await again.writer.whenSaved();
    expect(count()).toBe(atStart);
    WORLD_CHANGES.signIn?.(again.world, 1);
    await again.close();
    expect(readFolder(folder)).toEqual(captureState(again.world.state));
    expect(readdirSync(folder).sort()).toEqual(['journal', 'lock']);
  });

  it('reports the first failed write, and nothing as saved after it', async () => {
    const { folder, world, writer, close } = await openWorld(makeFolder());
    await writer.whenSaved();
    rmSync(folder, { recursive: true });
    world.reset();
    await expect(writer.whenSaved()).rejects.toThrow(/ENOENT/);
    expect((await writer.failure).message).toMatch(/ENOENT/);
    await expect(writer.whenSaved()).rejects.toThrow(/ENOENT/);
    await close();
  });
});
