import { expect, it } from 'vitest';
import { encodeCredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { writeCredentialUnlessSuperseded } from '../../../src/auth/session/refresh-session.ts';
import { machineWith, singleUseServer, token } from './session-fixture.ts';

const changes = [
  { what: 'the record that was sent', change: {}, kind: 'done' },
  { what: 'an older generation', change: { gen: 2, refreshToken: token('rt-0') }, kind: 'done' },
  { what: 'the same generation that has ended', change: { refreshToken: undefined }, kind: 'done' },
  { what: 'another refresh token', change: { refreshToken: token('rt-other') }, kind: 'superseded' },
  { what: 'a newer generation', change: { gen: 4, refreshToken: token('rt-4') }, kind: 'superseded' },
  { what: 'a newer generation that has ended', change: { gen: 4, refreshToken: undefined }, kind: 'superseded' },
  { what: 'another session', change: { sid: 'fedcba9876543210' }, kind: 'superseded' },
];

it.each(changes)('over $what: $kind', async ({ change, kind }) => {
  const machine = await machineWith(await singleUseServer(), 'file', { gen: 3 });
  const sent = machine.stored();
  if (sent === undefined) throw new Error('no session');
  const { refreshToken: _sent, ...bare } = sent;
  const { refreshToken = sent.refreshToken, ...rest } = change;
  const isEnded = 'refreshToken' in change && change.refreshToken === undefined;
  const present = { ...bare, ...rest, ...(isEnded || refreshToken === undefined ? {} : { refreshToken }) };
  const next = { ...sent, gen: 4, refreshToken: token('rt-new') };
  await machine.store.withItems(async (items) => {
    await items.write('credential', encodeCredentialRecord(present));
    expect((await writeCredentialUnlessSuperseded(machine.store, items, next, sent)).kind).toBe(kind);
  });
  const expected = kind === 'done' ? next : present;
  expect(machine.stored()?.refreshToken?.reveal()).toBe(expected.refreshToken?.reveal());
});

it('does not bring back a session that was logged out', async () => {
  const machine = await machineWith(await singleUseServer(), 'file');
  const sent = machine.stored();
  if (sent === undefined) throw new Error('no session');
  await machine.store.withItems(async (items) => {
    await items.remove('credential');
    const written = await writeCredentialUnlessSuperseded(machine.store, items, { ...sent, gen: 2 }, sent);
    expect(written.kind).toBe('superseded');
  });
  expect(machine.stored()).toBeUndefined();
});
