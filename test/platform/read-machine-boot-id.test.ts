import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { readMachineBootId } from '../../src/platform/read-machine-boot-id.ts';

const told = '/proc/sys/kernel/random/boot_id';

it.skipIf(!existsSync(told))('a folder on a file system of this machine lasts until its next start', () => {
  const boot = readMachineBootId(tmpdir(), 'linux');
  expect(boot).toMatch(/^[0-9a-f-]{36}$/);
  expect(boot).toBe(readFileSync(told, 'utf8').trim());
});

it.skipIf(!existsSync('/proc/self'))('nothing is sure of another file system', () => {
  expect(readMachineBootId('/proc/self', 'linux')).toBeUndefined();
});

it('nothing is sure of a folder that is not there, nor on another system', () => {
  expect(readMachineBootId('/no/such/folder', 'linux')).toBeUndefined();
  expect(readMachineBootId(tmpdir(), 'darwin')).toBeUndefined();
});
