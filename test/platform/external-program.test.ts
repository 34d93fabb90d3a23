import { expect, test } from 'vitest';
import { runExternalProgram } from '../../src/platform/external-program.ts';

const node = (script: string, more: { readonly signal?: AbortSignal; readonly most?: number } = {}) =>
  runExternalProgram(process.execPath, ['-e', script], {
    env: { ONLY: 'this' },
    signal: more.signal ?? new AbortController().signal,
    maxOutputBytes: more.most ?? 1000,
  });

test('a program tells what it wrote and how it ended, and sees no environment but its own', async () => {
  const script = `process.stdout.write(JSON.stringify(Object.keys(process.env))); console.error('é'); process.exitCode = 3`;
  const end = await node(script);
  expect({ ...end, stdout: JSON.parse(end.stdout) }).toMatchObject({ status: 3, stderr: 'é\n' });
  expect(JSON.parse(end.stdout)).toContain('ONLY');
  expect(JSON.parse(end.stdout)).not.toContain('PATH');
});

test('a program that is no longer wanted is gone when that is told, even one that does not listen', async () => {
  const stop = new AbortController();
  const script = `process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)`;
  const running = node(script, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('enough')), 500);
  await expect(running).rejects.toThrow('enough');
});

test('nothing is started for a signal that has come before', async () => {
  await expect(node('', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow('too late');
});

test('a program that writes without end is ended', async () => {
  await expect(node(`setInterval(() => console.log('x'.repeat(500)), 1)`)).rejects.toThrow(/\b1000 bytes\b/);
});

test('a program that is not there is told', async () => {
  const options = { env: {}, signal: new AbortController().signal, maxOutputBytes: 1 };
  await expect(runExternalProgram('/no/such/program', [], options)).rejects.toThrow('ENOENT');
});
