import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isStorageFault, storageError } from '../../src/base/storage-error.ts';
import { toCliError } from '../../src/cli/error-output.ts';
import { readConfig, writeCurrent } from '../../src/config/config-file.ts';
import { recordedRequests, runCloudctl } from '../commands/run-cloudctl.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { sandboxFor, tokenFor } from '../sandbox/requests.ts';

function fault(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: reason, ${syscall} '/x'`), { code, syscall });
}

describe('an error of the file system', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ENOTDIR'])('%s is not a bug', (code) => {
    expect(toCliError(fault(code, 'open'))).toMatchObject({ code: 'storage', exitCode: 7 });
  });

  it.each([
    ['EACCES', 'listen'],
    ['EACCES', 'spawn x'],
    ['EPERM', 'kill'],
    ['ENOENT', 'open'],
  ])('%s of %s is none', (code, syscall) => {
    expect(isStorageFault(fault(code, syscall))).toBe(false);
  });

  it('has the hint that helps: space on a full disk, another place otherwise', () => {
    const hints = ['ENOSPC', 'EROFS', 'EACCES'].map((code) => {
      const error = storageError('m', fault(code, 'write'), { elsewhere: 'set CLOUDCTL_STATE_DIR to another folder' });
      return `${code}: ${error.hint}`;
    });
    expectGolden('errors', hints.join('\n'));
  });
});

const like = ['--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];

/** Also for root: a file in the place of a folder cannot be written. */
describe('a command whose state folder cannot be written', () => {
  it.each(['', '/batches', '/batches/running'])('creates nothing and says which folder: state%s', async (part) => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    const host = testHost({ env });
    const blocked = `${host.folders.state}${part}`;
    rmSync(blocked, { recursive: true, force: true });
    mkdirSync(dirname(blocked), { recursive: true });
    writeFileSync(blocked, '');
    const ran = await runCloudctl(host, ['droplets', 'create', 'a', 'b', ...like, '-o', 'json']);
    expect([ran.code, ran.out]).toEqual([7, '']);
    expect(ran.error()).toMatchObject({ code: 'storage', exit_code: 7 });
    expect(ran.error().hint).toContain('CLOUDCTL_STATE_DIR');
    expect((await recordedRequests(sandbox)).filter((line) => line.startsWith('POST'))).toEqual([]);
  });
});

it.skipIf(!existsSync('/sys'))('a config.json that cannot be written is no bug', () => {
  const config = readConfig('/sys/cloudctl');
  expect(() => writeCurrent('/sys/cloudctl', config, 'p')).toThrow(
    expect.objectContaining({ code: 'storage', exitCode: 7, hint: expect.stringContaining('CLOUDCTL_CONFIG_DIR') }),
  );
});
