import { expect, it } from 'vitest';
import { rejectWhenAuthServerUnreachable } from '../../../src/auth/session/reject-when-auth-server-unreachable.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';

const clock = { now: () => 0, sleep: async () => undefined };

/** Fails this often, then succeeds. */
function deps(failures: number) {
  let calls = 0;
  const probeServer = async (): Promise<void> => {
    calls += 1;
    if (calls <= failures)
      throw new HttpSendError('connection', false, 'could not connect to https://auth.example.com');
  };
  return { clock, probeServer, unreachableHint: 'HINT', calls: () => calls };
}

it('names a server that cannot be reached three times', async () => {
  const watched = deps(3);
  await expect(rejectWhenAuthServerUnreachable(watched, new AbortController().signal)).rejects.toMatchObject({
    code: 'unreachable',
    exitCode: 6,
    message: expect.stringContaining('https://auth.example.com'),
    hint: 'HINT',
  });
  expect(watched.calls()).toBe(3);
});

it.each([
  [
    new HttpSendError('tls', false, 'no trusted CA', { unknownIssuer: true, hint: 'set SSL_CERT_FILE' }),
    'set SSL_CERT_FILE',
  ],
  [new HttpSendError('tls', false, 'certificate has expired'), 'check the host name, the dates of the certificate'],
  [new HttpSendError('connection', false, '407', { atProxy: true, hint: 'check the password' }), 'check the password'],
])('asks once where another attempt fails as well: %s', async (error, hint) => {
  let calls = 0;
  const probeServer = async (): Promise<void> => {
    calls += 1;
    throw error;
  };
  const watched = { clock, probeServer, unreachableHint: 'HINT' };
  await expect(rejectWhenAuthServerUnreachable(watched, new AbortController().signal)).rejects.toMatchObject({
    hint: expect.stringContaining(hint),
  });
  expect(calls).toBe(1);
});

it('stays pending when the server is reached, also at the third attempt', async () => {
  const watched = deps(2);
  const pending = rejectWhenAuthServerUnreachable(watched, new AbortController().signal);
  const later = new Promise((resolve) => setTimeout(resolve, 50, 'pending'));
  expect(await Promise.race([pending, later])).toBe('pending');
  expect(watched.calls()).toBe(3);
});
