import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../../fixtures/cli.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { callWith, createSandboxMachine, logIn, refresh } from './sandbox-machine.ts';

const APPROVE = ['--consent', 'approve maya@example.com'];

describe('sandbox snapshot and sandbox restore', () => {
  test('restore a state, from a file with mode 0600 and through pipes', async () => {
    const machine = createSandboxMachine();
    const { ready } = await machine.startSandbox(APPROVE);
    const tokens = await logIn(ready);
    const file = join(machine.folders.work, 'logged-in.json');
    const taken = await machine.run('sandbox', 'snapshot', file);
    expect([taken.code, taken.stdout]).toEqual([0, '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const piped = await machine.run('sandbox', 'snapshot', '-');
    expect(piped.code).toBe(0);

    for (const way of ['file', 'pipe']) {
      expect((await refresh(ready, tokens)).status).toBe(200);
      expect(await callWith(ready, tokens)).toBe(404);
      const restored =
        way === 'file'
          ? await machine.run('sandbox', 'restore', file)
          : await run(['sandbox', 'restore', '-'], { folders: machine.folders, stdin: piped.stdout });
      expect([way, restored.code, restored.stdout]).toEqual([way, 0, '']);
      expect(await callWith(ready, tokens)).toBe(200);
    }
  });

  test('reject a damaged, foreign or missing file with exit 2, and change nothing', async () => {
    const machine = createSandboxMachine();
    const { ready } = await machine.startSandbox(APPROVE);
    const tokens = await logIn(ready);
    const file = join(machine.folders.work, 'one.json');
    await machine.run('sandbox', 'snapshot', file);
    const text = readFileSync(file, 'utf8');
    const bad: Readonly<Record<string, string>> = {
      incomplete: text.slice(0, text.length / 2),
      'wrong scope': text.replace('"read"', '"write"'),
      'wrong digest': text.replace(/"accessToken": "sandbox_./, '"accessToken": "sandbox_-'),
      'other version': text.replace('"version": 1', '"version": 9'),
      'other file': '{"profiles":{}}',
      array: '[]',
    };
    for (const [name, content] of Object.entries(bad)) {
      const other = join(machine.folders.work, 'bad.json');
      writeFileSync(other, content);
      const refused = await machine.run('sandbox', 'restore', other);
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toContain('bad.json');
      // The sandbox rejects an object; the command rejects everything else itself.
      const [detail = ''] = /^detail: .*$/m.exec(refused.stderr) ?? [];
      if (content.endsWith('}') || content.endsWith('}\n')) expectGolden('sandbox', detail, name);
    }
    const missing = await machine.run('sandbox', 'restore', join(machine.folders.work, 'none.json'));
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('none.json');
    const nowhere = await machine.run('sandbox', 'snapshot', join(machine.folders.work, 'no', 'folder.json'));
    expect(nowhere.code).toBe(2);
    expect(await callWith(ready, tokens)).toBe(200);
  });

  test('bring people and applications into another sandbox, and `sandbox env` prints the new ones', async () => {
    const [from, to] = [createSandboxMachine(), createSandboxMachine()];
    const first = await from.startSandbox(APPROVE);
    const tokens = await logIn(first.ready);
    const file = join(from.folders.work, 'one.json');
    await from.run('sandbox', 'snapshot', file);
    const second = await to.startSandbox();
    const restored = await to.run('sandbox', 'restore', file);
    expect(restored.code).toBe(0);
    expect(await callWith(second.ready, tokens)).toBe(200);
    expect((await to.run('sandbox', 'env')).stdout).toContain(`CLOUDCTL_CLIENT_ID=${first.ready.client_id}`);
  });
});
