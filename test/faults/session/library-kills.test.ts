import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type LibrarySession, startLibrarySession } from '../../fixtures/library-session.ts';

const steps = ['before the request', 'before the commit', 'after the commit', 'after the journal is removed'];

test.each(steps)('a session survives 25 kills of its process %s', async (step) => {
  const session = await fileSession();
  let token = await session.logIn();
  for (let round = 1; round <= 25; round++) {
    expect((await session.run(token, { KILL_AT: step })).signal).toBe('SIGKILL');
    const next = (await session.run(token)).stdout.trim();
    expect(session.sandbox.tokens.state(next)).toBe('valid');
    expect(next).not.toBe(token);
    expect(session.refreshes()).toBe(round);
    token = next;
  }
});

test('of several processes at once the others adopt what a killed one has written to the journal', async () => {
  const session = await fileSession();
  let token = await session.logIn();
  for (let round = 1; round <= 15; round++) {
    const all = await Promise.all([
      session.run(token, { KILL_AT: steps[round % steps.length] }),
      ...Array.from({ length: 3 }, () => session.run(token)),
    ]);
    const tokens = new Set(all.filter(({ signal }) => signal === null).map(({ stdout }) => stdout.trim()));
    expect(tokens.size).toBe(1);
    [token = ''] = tokens;
    expect(session.sandbox.tokens.state(token)).toBe('valid');
    expect(session.refreshes()).toBe(round);
  }
});

test('a kill between the response and the journal loses the session', async () => {
  const session = await fileSession();
  const token = await session.logIn();
  expect((await session.run(token, { KILL_AT: 'before the journal' })).signal).toBe('SIGKILL');
  expect((await session.run(token)).stdout).toBe('LoginRequiredError\n');
});

test('a kill at any moment loses no session before the server has processed the request', async () => {
  const session = await fileSession();
  let token = await session.logIn();
  for (let round = 0; round < 40; round++) {
    const before = session.refreshes();
    const running = session.start(token);
    await new Promise((resolve) => setTimeout(resolve, 60 + 4 * round));
    running.kill('SIGKILL');
    await running.ended;
    const isProcessed = session.refreshes() > before;
    const { stdout } = await session.run(token);
    if (isProcessed && stdout === 'LoginRequiredError\n') token = await session.logIn();
    else token = stdout.trim();
    expect(session.sandbox.tokens.state(token)).toBe('valid');
  }
});

async function fileSession(): Promise<LibrarySession> {
  const session = await startLibrarySession(({ work }) => ({ path: join(work, 'session.json') }));
  onTestFinished(() => session.stop());
  return session;
}
