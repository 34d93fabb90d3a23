import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { callWith, createSandboxMachine, logIn, refresh } from './sandbox-machine.ts';

const APPROVE = ['--consent', 'approve maya@example.com'];

describe('sandbox snapshot and sandbox restore', () => {
  test('bring a state back, through a file for its owner alone and through pipes', async () => {
    const ground = createSandboxMachine();
    const { ready } = await ground.startSandbox(APPROVE);
    const tokens = await logIn(ready);
    const file = join(ground.folders.work, 'logged-in.json');
    const taken = await ground.run('sandbox', 'snapshot', file);
    expect([taken.code, taken.stdout]).toEqual([0, '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const piped = await ground.run('sandbox', 'snapshot', '-');
    expect(piped.code).toBe(0);

    for (const way of ['file', 'pipe']) {
      expect((await refresh(ready, tokens)).status).toBe(200);
      expect(await callWith(ready, tokens)).toBe(404);
      const restored =
        way === 'file'
          ? await ground.run('sandbox', 'restore', file)
          : await run(['sandbox', 'restore', '-'], { folders: ground.folders, stdin: piped.stdout });
      expect([way, restored.code, restored.stdout]).toEqual([way, 0, '']);
      expect(await callWith(ready, tokens)).toBe(200);
    }
  });

  test('refuse a file that is damaged, foreign or missing with exit 2 and the reason, and change nothing', async () => {
    const ground = createSandboxMachine();
    const { ready } = await ground.startSandbox(APPROVE);
    const tokens = await logIn(ready);
    const file = join(ground.folders.work, 'one.json');
    await ground.run('sandbox', 'snapshot', file);
    const text = readFileSync(file, 'utf8');
    const bad: readonly (readonly [string, RegExp])[] = [
      [text.slice(0, text.length / 2), /detail: It is no JSON/],
      [text.replace('"read"', '"write"'), /detail: It is damaged: world\.authorizations\[0\]\.scope is none of/],
      [
        text.replace(/"accessToken": "sandbox_./, '"accessToken": "sandbox_-'),
        /detail: It is damaged: its digest does not fit/,
      ],
      [text.replace('"version": 1', '"version": 9'), /detail: It is a snapshot of another version/],
      ['{"profiles":{}}', /detail: It is no snapshot of a sandbox/],
      ['[]', /detail: It is no JSON object/],
    ];
    for (const [content, reason] of bad) {
      const other = join(ground.folders.work, 'bad.json');
      writeFileSync(other, content);
      const refused = await ground.run('sandbox', 'restore', other);
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(/error: .*bad\.json is no snapshot that can be restored/);
      expect(refused.stderr).toMatch(reason);
    }
    const missing = await ground.run('sandbox', 'restore', join(ground.folders.work, 'none.json'));
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('error: could not read');
    const nowhere = await ground.run('sandbox', 'snapshot', join(ground.folders.work, 'no', 'folder.json'));
    expect(nowhere.code).toBe(2);
    expect(await callWith(ready, tokens)).toBe(200);
  });

  test('carry people and applications into another sandbox, and `sandbox env` tells the new ones', async () => {
    const [from, to] = [createSandboxMachine(), createSandboxMachine()];
    const first = await from.startSandbox(APPROVE);
    const tokens = await logIn(first.ready);
    const file = join(from.folders.work, 'one.json');
    await from.run('sandbox', 'snapshot', file);
    const second = await to.startSandbox();
    const restored = await to.run('sandbox', 'restore', file);
    expect(restored.code).toBe(0);
    expect(restored.stderr).toContain('client ID and secret are others now');
    expect(await callWith(second.ready, tokens)).toBe(200);
    expect((await to.run('sandbox', 'env')).stdout).toContain(`CLOUDCTL_CLIENT_ID=${first.ready.client_id}`);
  });
});
