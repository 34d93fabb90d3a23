import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toWorldImage } from '../../../src/sandbox/state/world-state.ts';
import { journalOf, makeFolder, openWorld, readAfterKill, readFolder, SEED } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

const runs = Number(process.env.CLOUDCTL_TEST_RUNS ?? 60);
const steps = fc.array(
  fc.record({ deed: fc.constantFrom(...Object.keys(WORLD_CHANGES)), pick: fc.nat(1000), isAwaited: fc.boolean() }),
  { minLength: 1, maxLength: 40 },
);

describe('the state folder', { timeout: 60_000 + runs * 500 }, () => {
  it('holds the world as it was when the last answer left, after any transitions, through any number of starts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(300, 3000, 1_000_000), fc.nat(40), async (plan, foldAt, restartAt) => {
        const folder = makeFolder();
        let kept = await openWorld(folder, { foldAt });
        for (const [at, { deed, pick, isAwaited }] of plan.entries()) {
          WORLD_CHANGES[deed]?.(kept.world, pick);
          if (isAwaited) {
            await kept.writer.whenSaved();
            expect(readAfterKill(folder)).toEqual(toWorldImage(kept.world.state));
          }
          if (at === restartAt) {
            const before = toWorldImage(kept.world.state);
            await kept.close();
            kept = await openWorld(folder, { foldAt });
            expect(toWorldImage(kept.world.state)).toEqual(before);
          }
        }
        await kept.writer.whenSaved();
        expect(readAfterKill(folder)).toEqual(toWorldImage(kept.world.state));
        await kept.close();
        rmSync(folder, { recursive: true });
      }),
      { numRuns: runs },
    );
  });

  it('killed at any moment is the world between the last answer and now', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.infiniteStream(fc.nat(3)), async (plan, pauses) => {
        const kept = await openWorld(makeFolder());
        const history = [toWorldImage(kept.world.state)];
        let answered = 0;
        for (const { deed, pick, isAwaited } of plan.filter((step) => step.deed !== 'reset')) {
          WORLD_CHANGES[deed]?.(kept.world, pick);
          history.push(toWorldImage(kept.world.state));
          const now = history.length - 1;
          void Promise.resolve(kept.writer.whenSaved()).then(() => {
            answered = Math.max(answered, now);
          });
          if (isAwaited) for (let turn = pauses.next().value; turn > 0; turn -= 1) await new Promise(setImmediate);
          expect(history.slice(answered)).toContainEqual(readAfterKill(kept.folder));
        }
        await kept.close();
        rmSync(kept.folder, { recursive: true });
      }),
      { numRuns: Math.ceil(runs / 2) },
    );
  });

  it('finds what it keeps by the same ways after a start: names, tokens, owners, latest migrations', async () => {
    const folder = makeFolder();
    const first = await openWorld(folder);
    for (const [at, deed] of [...Object.values(WORLD_CHANGES), ...Object.values(WORLD_CHANGES)].entries()) {
      if (deed !== WORLD_CHANGES.reset && deed !== WORLD_CHANGES.withdraw && deed !== WORLD_CHANGES.signOut)
        deed(first.world, at);
    }
    await first.close();
    const second = await openWorld(folder);
    const { pairs, authorizations, migrations } = toWorldImage(first.world.state);
    expect(pairs.length * authorizations.length * migrations.length).toBeGreaterThan(0);
    for (const { person, clientId } of authorizations)
      expect(second.world.authorization(person, clientId)).toEqual(first.world.authorization(person, clientId));
    for (const { refreshToken = '' } of pairs)
      expect(second.world.pairByRefreshToken(refreshToken)).toEqual(first.world.pairByRefreshToken(refreshToken));
    for (const { uuid } of [...SEED.people, ...SEED.teams]) {
      expect(second.world.droplets(uuid)).toEqual(first.world.droplets(uuid));
      expect(second.world.actions(uuid)).toEqual(first.world.actions(uuid));
    }
    expect([...second.world.state.migrationStore.latest]).toEqual([...first.world.state.migrationStore.latest]);
    await second.close();
  });

  it('cut anywhere in its last line is the world before or after that transition, and goes on from there', async () => {
    const folder = makeFolder();
    const { world, writer: keeper, journal, close } = await openWorld(folder);
    WORLD_CHANGES.authorize?.(world, 8);
    WORLD_CHANGES.issueCode?.(world, 0);
    await keeper.whenSaved();
    const before = toWorldImage(world.state);
    const start = statSync(journal()).size;
    WORLD_CHANGES.exchange?.(world, 0);
    await keeper.whenSaved();
    const after = toWorldImage(world.state);
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
    expect(readAfterKill(folder)).toEqual(toWorldImage(again.world.state));
  });

  it('takes a last line with zeros in it, as a lost sector leaves them, for torn', async () => {
    const { folder, world, writer: keeper, journal, close } = await openWorld(makeFolder());
    await keeper.whenSaved();
    const before = toWorldImage(world.state);
    WORLD_CHANGES.signIn?.(world, 0);
    await close();
    const bytes = readFileSync(journal());
    writeFileSync(journal(), bytes.fill(0, 20, bytes.length - 5));
    expect(readAfterKill(folder)).toEqual(before);
  });

  it('with one wrong byte in any line is reported with path and line, and left as it is', async () => {
    const { folder, world, writer: keeper, journal, close } = await openWorld(makeFolder());
    for (const deed of ['authorize', 'issueCode', 'signIn']) {
      WORLD_CHANGES[deed]?.(world, 0);
      await keeper.whenSaved();
    }
    await close();
    const bytes = readFileSync(journal());
    let line = 1;
    for (let at = 0; at < bytes.length; at += 1) {
      const spoiled = Buffer.from(bytes);
      spoiled[at] = (spoiled[at] ?? 0) ^ 1;
      writeFileSync(journal(), spoiled);
      const problem = problemOf(folder);
      expect(problem).toContain(`journal.1, line ${line}:`);
      expect(readFileSync(journal()).equals(spoiled)).toBe(true);
      if (bytes[at] === 10) line += 1;
    }
    expect(line).toBe(4);
  });

  it('is reported when a line is missing, doubled or behind the last, or a file is gone', async () => {
    const { folder, world, writer: keeper, journal, close } = await openWorld(makeFolder());
    for (const deed of ['authorize', 'issueCode', 'signIn']) {
      WORLD_CHANGES[deed]?.(world, 0);
      await keeper.whenSaved();
    }
    await close();
    const text = readFileSync(journal(), 'utf8');
    const [one, two, three] = text.split('\n');
    for (const [spoiled, line] of [
      [`${one}\n${three}\n`, 2],
      [`${one}\n${one}\n${two}\n`, 2],
      [`${text}rubbish\n`, 4],
      [`${text}rubbish that is long enough`, 4],
    ] as const) {
      writeFileSync(journal(), spoiled);
      expect(problemOf(folder)).toContain(`, line ${line}:`);
    }
    rmSync(journal());
    expect(problemOf(folder)).toContain('journal.1, line 1: ');
    writeFileSync(join(folder, 'journal.1'), text);
    rmSync(join(folder, 'snapshot'));
    expect(problemOf(folder)).toContain('snapshot, line 1: ');
  });

  it('with a wrong byte in its snapshot is reported', async () => {
    const { folder, close } = await openWorld(makeFolder());
    await close();
    const path = join(folder, 'snapshot');
    const bytes = readFileSync(path);
    for (let at = 0; at < bytes.length; at += 13) {
      const spoiled = Buffer.from(bytes);
      spoiled[at] = (spoiled[at] ?? 0) ^ 1;
      writeFileSync(path, spoiled);
      expect(problemOf(folder)).toMatch(/snapshot, line 1: /);
    }
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    expect(problemOf(folder)).toContain('snapshot, line 1: ');
  });

  it('is folded before it grows for ever, and half a fold leaves nothing behind', async () => {
    const folder = makeFolder();
    const kept = await openWorld(folder, { foldAt: 2000 });
    for (let at = 0; at < 200; at += 1) {
      WORLD_CHANGES.advance?.(kept.world, 1);
      WORLD_CHANGES.signIn?.(kept.world, at);
      if (at % 10 > 0) WORLD_CHANGES.signOut?.(kept.world, 0);
      await kept.writer.whenSaved();
    }
    await kept.close();
    const names = readdirSync(folder).sort();
    expect(names).toEqual([journalOf(folder), 'lock', 'snapshot']);
    expect(names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)).toBeLessThan(20_000);

    writeFileSync(join(folder, '.snapshot.tmp'), 'half');
    writeFileSync(join(folder, 'journal.9999'), '');
    appendFileSync(join(folder, 'journal.1'), 'old');
    const again = await openWorld(folder);
    expect(toWorldImage(again.world.state)).toEqual(toWorldImage(kept.world.state));
    await again.close();
    expect(readdirSync(folder).sort()).toEqual(names);
  });

  it('tells when the disk takes nothing any more, and says of nothing after it that it is saved', async () => {
    const { folder, world, writer: keeper, close } = await openWorld(makeFolder(), { foldAt: 1 });
    await keeper.whenSaved();
    rmSync(folder, { recursive: true });
    world.reset();
    await expect(keeper.whenSaved()).rejects.toThrow(/ENOENT/);
    expect((await keeper.failure).message).toMatch(/ENOENT/);
    await expect(keeper.whenSaved()).rejects.toThrow(/ENOENT/);
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
