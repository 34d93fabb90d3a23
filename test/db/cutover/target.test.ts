import { expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { createArgs } from '../../../src/cli/command.ts';
import {
  readRehearsalTarget,
  readTargetServer,
  rehearsalInputs,
  targetInputs,
  targetLoginHint,
  targetPsqlCommand,
} from '../../../src/db/cutover/target.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { ConnectError, clientErrorCodes } from '../../../src/platform/network-errors.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';

function argsWith(option: string, value?: string) {
  const specs = [option, 'allow-cleartext-password'].map((name) => ({ name, description: '', valueName: 'URL' }));
  return createArgs([], specs, new Map(value === undefined ? [] : [[option, [value]]]));
}

function read(url: string | undefined, engine: 'postgresql' | 'redis', env: Readonly<Record<string, string>> = {}) {
  const host = testHost({ env });
  return readRehearsalTarget(commandIo(host), argsWith('into', url), engine).then((target) => ({ target, host }));
}

it('the variable names the target when no option does', async () => {
  const { target } = await read(undefined, 'redis', { CLOUDCTL_REHEARSE_INTO: 'redis://staging\n' });
  expect(target).toMatchObject({ engine: 'redis', source: { host: 'staging' } });
});

it('its own password variable comes before those of the source', async () => {
  const env = { CLOUDCTL_REHEARSE_INTO_PASSWORD: 'target\n', PGPASSWORD: 'source', REDISCLI_AUTH: 'source' };
  for (const [url, engine] of [['postgres://u@h/d', 'postgresql'] as const, ['redis://h', 'redis'] as const]) {
    const { target } = await read(url, engine, env);
    expect(target.source.password?.reveal()).toBe('target');
  }
});

it('the target of a migration has an option and variables of its own', async () => {
  const host = testHost({
    env: { CLOUDCTL_TARGET: 'postgres://u@h/d', CLOUDCTL_TARGET_PASSWORD: 'target', PGPASSWORD: 'source' },
  });
  const target = await readTargetServer(commandIo(host), argsWith('target'), 'postgresql');
  expect(target.source).toMatchObject({ host: 'h' });
  expect(target.source.password?.reveal()).toBe('target');
  await readTargetServer(commandIo(host), argsWith('target', 'postgres://u:p4ss@h/d'), 'postgresql');
  expect(host.err()).toMatch(/^warning: .*--target/);
  expect(host.err()).not.toContain('p4ss');
});

it('a password in the option is used, and is a warning', async () => {
  const { target, host } = await read('postgres://u:p4ss@h/d', 'postgresql');
  expect(target.source.password?.reveal()).toBe('p4ss');
  expect(host.err()).toMatch(/^warning: .*--into/);
  expect(host.err()).not.toContain('p4ss');
});

it.each([
  ['no target', undefined, 'postgresql'],
  ['a target of another engine', 'redis://h', 'postgresql'],
  ['an address that cannot be parsed', 'postgres://u@h:port/d', 'postgresql'],
] as const)('%s is a usage error about the target', async (_what, url, engine) => {
  const failed = await read(url, engine).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'usage' });
  expect(String(failed)).not.toContain('--source');
});

const failed = (code: string): Error => new ConnectError('startup', code, 'no');

it.each([
  [clientErrorCodes.noTls, 'sslmode=disable'],
  [clientErrorCodes.cleartextPassword, 'sslmode=verify-full'],
  [clientErrorCodes.weakScram, 'sslmode=verify-full'],
  [clientErrorCodes.noPassword, 'CLOUDCTL_TARGET_PASSWORD'],
  ['28P01', 'CLOUDCTL_TARGET_PASSWORD'],
  ['WRONGPASS', 'CLOUDCTL_TARGET_PASSWORD'],
  ['ECONNREFUSED', '--target'],
])('the hint for %s names %s', (code, named) => {
  expect(targetLoginHint(failed(code), targetInputs)).toContain(named);
});

it('names the option and the variable of the command', () => {
  expect(targetLoginHint(failed('28P01'), rehearsalInputs)).toContain('CLOUDCTL_REHEARSE_INTO_PASSWORD');
  expect(targetLoginHint(new Error('x'), rehearsalInputs)).toContain('--into');
});

const target = (password: string): DbSource => ({
  engine: 'postgresql',
  source: { host: 'h', port: 1, dbname: 'd', username: 'u', ssl: 'disable', password: new Secret(password) },
});

it.each([
  [
    'its own variable',
    { CLOUDCTL_TARGET_PASSWORD: 'b', PGPASSWORD: 'a' },
    'PGPASSWORD="$CLOUDCTL_TARGET_PASSWORD" psql',
  ],
  ['.pgpass or a prompt', { PGPASSWORD: 'a' }, 'PGPASSWORD= psql'],
  ['.pgpass, without PGPASSWORD', {}, 'psql'],
])('with %s, psql does not take the password of the source', (_name, env, start) => {
  const command = targetPsqlCommand(target('b'), env);
  expect(command.split(' -X ')[0]).toBe(start);
  expect(command).toContain("'postgres://u@h:1/d?sslmode=disable'");
});
