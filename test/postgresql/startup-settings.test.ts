import { expect, test } from 'vitest';
import { ConnectError, clientErrorCodes } from '../../src/platform/network-errors.ts';
import { connectPostgresql, isStartupRefusal, startupParameters } from '../../src/postgresql/connection.ts';
import * as wire from './wire.ts';

test.each([
  { phase: 'startup', code: '08P01', again: true },
  { phase: 'startup', code: '42704', again: true },
  { phase: 'startup', code: '28P01', again: false },
  { phase: 'startup', code: '3D000', again: false },
  { phase: 'startup', code: clientErrorCodes.closed, again: false },
  { phase: 'tls', code: '08P01', again: false },
] as const)(
  'a login that failed with $code ($phase) is tried without the settings: $again',
  ({ phase, code, again }) => {
    expect(isStartupRefusal(new ConnectError(phase, code, 'no'))).toBe(again);
  },
);

test('a pooler that rejects the settings is connected to without them, and its message is kept', async () => {
  const refusal = 'no such parameter';
  const logins: string[] = [];
  const server = await wire.serveMessages((text) => {
    if (!wire.isStartup(text)) return undefined;
    const login = text.subarray(8).toString();
    logins.push(login);
    return login.includes('search_path') ? wire.failure({ S: 'FATAL', C: '08P01', M: refusal }) : wire.hello;
  });
  try {
    const session = await connectPostgresql(server.source, { dbname: 'd', limit: 5000 });
    await session.end();
    expect(session.startupRefusal).toBe(refusal);
    expect(logins).toHaveLength(2);
    expect(Object.keys(startupParameters).filter((name) => logins[1]?.includes(name))).toEqual([]);
  } finally {
    await server.stop();
  }
});
