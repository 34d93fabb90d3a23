import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { captureRunningSandboxState } from '../../../src/sandbox/state/world-state.ts';
import { journalOf, makeFolder, openWorld, readAfterKill, readFolder, SEED } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 60);
const steps = fc.array(
  fc.record({ change: fc.constantFrom(...Object.keys(WORLD_CHANGES)), pick: fc.nat(1000), isAwaited: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

describe('the state folder', { timeout: 60_000 + runs * 500 }, () => {
  it('has the state of the last response, after any changes and any number of restarts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(300, 3000, 1_000_000), fc.nat(40), async (plan, compactAt, restartAt) => {
        const folder = makeFolder();
        let opened = await openWorld(folder, { compactAt });
        for (const [at, { change, pick, isAwaited }] of plan.entries()) {
          WORLD_CHANGES[change]?.(opened.world, pick);
          if (isAwaited) {
            await opened.writer.whenSaved();
            expect(readAfterKill(folder)).toEqual(captureRunningSandboxState(opened.world.state));
          }
          if (at === restartAt) {
            const before = captureRunningSandboxState(opened.world.state);
            await opened.close();
            opened = await openWorld(folder, { compactAt });
            expect(captureRunningSandboxState(opened.world.state)).toEqual(before);
          }
        }
        await opened.writer.whenSaved();
        expect(readAfterKill(folder)).toEqual(captureRunningSandboxState(opened.world.state));
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
        const history = [captureRunningSandboxState(opened.world.state)];
        let answered = 0;
        for (const { change, pick, isAwaited } of plan.filter((step) => step.change !== 'reset')) {
          WORLD_CHANGES[change]?.(opened.world, pick);
          history.push(captureRunningSandboxState(opened.world.state));
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
    const { pairs, authorizations, migrations } = captureRunningSandboxState(first.world.state);
    expect(pairs.length * authorizations.length * migrations.length).toBeGreaterThan(0);
    for (const { person, clientId } of authorizations)
      expect(second.world.latestAuthorization(person, clientId)).toEqual(
        first.world.latestAuthorization(person, clientId),
      );
    for (const { refreshToken = '' } of pairs)
      expect(second.world.pairByRefreshToken(refreshToken)).toEqual(first.world.pairByRefreshToken(refreshToken));
    for (const { uuid } of [...SEED.people, ...SEED.teams]) {
      expect(second.world.droplets(uuid)).toEqual(first.world.droplets(uuid));
      expect(second.world.actions(uuid)).toEqual(first.world.actions(uuid));
    }
    expect([...second.world.state.migrationStore.latest]).toEqual([...first.world.state.migrationStore.latest]);
    await second.close();
  });

  it('truncated anywhere in its last line has the state before or after that change, and continues from it', async () => {
    const folder = makeFolder();
    const { world, writer, journal, close } = await openWorld(folder);
    WORLD_CHANGES.authorize?.(world, 8);
    WORLD_CHANGES.issueCode?.(world, 0);
    await writer.whenSaved();
    const before = captureRunningSandboxState(world.state);
    const start = statSync(journal()).size;
    WORLD_CHANGES.exchange?.(world, 0);
    await writer.whenSaved();
    const after = captureRunningSandboxState(world.state);
    await close();
    const bytes = readFileSync(journal());
    expect(bytes.length).toBeGreaterThan(start + 100);
    for (let length = start; length <= bytes.length; length += 1) {
      writeFileSync(journal(), bytes.subarray(0, length));
      expect([length, readFolder(folder)]).toEqual([length, length === bytes.length ? after : before]);
    }
    truncateSync(journal(), start + 50);
    const again = await openWorld(folder);
    expect(statSync(journal()).size).toBe(start);
    WORLD_CHANGES.signIn?.(again.world, 0);
    await again.close();
    expect(readAfterKill(folder)).toEqual(captureRunningSandboxState(again.world.state));
  });

  it('treats a last line with zeros, as of an unwritten sector, as torn', async () => {
    const { folder, world, writer, journal, close } = await openWorld(makeFolder());
    await writer.whenSaved();
    const before = captureRunningSandboxState(world.state);
    WORLD_CHANGES.signIn?.(world, 0);
    await close();
    const bytes = readFileSync(journal());
    writeFileSync(journal(), bytes.fill(0, 20, bytes.length - 5));
    expect(readAfterKill(folder)).toEqual(before);
  });

  it('with one wrong byte in any line is reported with path and line, and not changed', async () => {
    const { folder, world, writer, journal, close } = await openWorld(makeFolder());
    for (const change of ['authorize', 'issueCode', 'signIn']) {
      WORLD_CHANGES[change]?.(world, 0);
      await writer.whenSaved();
    }
    await close();
    const bytes = readFileSync(journal());
    let line = 1;
    for (let at = 0; at < bytes.length; at += 1) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(journal(), damaged);
      const problem = problemOf(folder);
      expect(problem).toContain(`journal.1, line ${line}:`);
      expect(readFileSync(journal()).equals(damaged)).toBe(true);
      if (bytes[at] === 10) line += 1;
    }
    expect(line).toBe(4);
  });

  it('is reported as damaged when a line is missing, repeated or appended, or a file is missing', async () => {
    const { folder, world, writer, journal, close } = await openWorld(makeFolder());
    for (const change of ['authorize', 'issueCode', 'signIn']) {
      WORLD_CHANGES[change]?.(world, 0);
      await writer.whenSaved();
    }
    await close();
    const text = readFileSync(journal(), 'utf8');
    const [one, two, three] = text.split('\n');
    for (const [damaged, line] of [
      [`${one}\n${three}\n`, 2],
      [`${one}\n${one}\n${two}\n`, 2],
      [`${text}rubbish\n`, 4],
      [`${text}rubbish that is long enough`, 4],
    ] as const) {
      writeFileSync(journal(), damaged);
      expect(problemOf(folder)).toContain(`, line ${line}:`);
    }
    rmSync(journal());
    expect(problemOf(folder)).toContain('journal.1, line 1: ');
    writeFileSync(join(folder, 'journal.1'), text);
    rmSync(join(folder, 'snapshot'));
    expect(problemOf(folder)).toContain('snapshot, line 1: ');
  });

  it('with a wrong byte in its snapshot is reported as damaged', async () => {
    const { folder, close } = await openWorld(makeFolder());
    await close();
    const path = join(folder, 'snapshot');
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 13) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(path, damaged);
      expect(problemOf(folder)).toMatch(/snapshot, line 1: /);
    }
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    expect(problemOf(folder)).toContain('snapshot, line 1: ');
  });

  it('replaces a large journal by a snapshot, and removes the files of an interrupted replacement', async () => {
    const folder = makeFolder();
    const opened = await openWorld(folder, { compactAt: 2000 });
    for (let at = 0; at < 200; at += 1) {
      WORLD_CHANGES.advance?.(opened.world, 1);
      WORLD_CHANGES.signIn?.(opened.world, at);
      if (at % 10 > 0) WORLD_CHANGES.signOut?.(opened.world, 0);
      await opened.writer.whenSaved();
    }
    await opened.close();
    const names = readdirSync(folder).sort();
    expect(names).toEqual([journalOf(folder), 'lock', 'snapshot']);
    expect(names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)).toBeLessThan(20_000);

    writeFileSync(join(folder, '.snapshot.tmp'), 'half');
    writeFileSync(join(folder, 'journal.9999'), '');
    appendFileSync(join(folder, 'journal.1'), 'old');
    const again = await openWorld(folder);
    expect(captureRunningSandboxState(again.world.state)).toEqual(captureRunningSandboxState(opened.world.state));
    await again.close();
    expect(readdirSync(folder).sort()).toEqual(names);
  });

  it('reports the first failed write, and nothing as saved after it', async () => {
    const { folder, world, writer, close } = await openWorld(makeFolder(), { compactAt: 1 });
    await writer.whenSaved();
    rmSync(folder, { recursive: true });
    world.reset();
    await expect(writer.whenSaved()).rejects.toThrow(/ENOENT/);
    expect((await writer.failure).message).toMatch(/ENOENT/);
    await expect(writer.whenSaved()).rejects.toThrow(/ENOENT/);
    await close();
  });
});

function problemOf(folder: string): string {
  try {
    readFolder(folder);
    return 'none';
  } catch (error) {
    return error instanceof Error && 'detail' in error ? String(error.detail) : String(error);
  }
}
