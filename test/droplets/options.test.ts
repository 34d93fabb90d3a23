import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeEvent } from '../../src/droplets/events.ts';
import { createLedgerAt } from '../../src/droplets/ledger.ts';
import { readLedgerSelection } from '../../src/droplets/options.ts';
import { startLedger } from '../../src/droplets/stored.ts';
import { recordedRequests, runCloudctl } from '../commands/run-cloudctl.ts';
import { argsFrom } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';
import { seedSession } from '../fixtures/session.ts';
import { MAYA, sandboxFor, userOf } from '../sandbox/requests.ts';
import { batchOf, testLedgerPath, testMachine } from './batch-fixtures.ts';

describe('attribute options', () => {
  const like = ['droplets', 'create', 'a', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64'];
  const uuid = '5a4981aa-9653-4bd1-bef5-d6bff52042e4';

  async function bodyOf(...words: string[]): Promise<object> {
    const ran = await runCloudctl(testHost(), [...like, ...words, '--dry-run', '-o', 'json']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    return ran.json<{ body: object }[]>()[0]?.body ?? {};
  }

  describe('options for attributes', () => {
    it('are sent as the API names them', async () => {
      const keys = ['--ssh-keys', '512189,3b:16:bf:e4', '--ssh-keys', '7'];
      const flags = ['--enable-backups', '--ipv6', '--monitoring'];
      expect(await bodyOf('--tag-names', 'web,env:prod', '--vpc-uuid', uuid, ...keys, ...flags)).toMatchObject({
        tags: ['web', 'env:prod'],
        ssh_keys: [512189, '3b:16:bf:e4', 7],
        vpc_uuid: uuid,
        backups: true,
        ipv6: true,
        monitoring: true,
      });
    });

    it('merge tags with those of --set, without case', async () => {
      expect(await bodyOf('--set', 'tags=["web","x"]', '--tag-names', 'WEB,b', '--tag-names', 'B,c')).toMatchObject({
        tags: ['web', 'x', 'b', 'c'],
      });
    });

    it('are visible in the droplet', async () => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      await seedSession(host, sandbox, { scope: 'read write' });
      const flags = ['--enable-backups', '--ipv6', '--monitoring', '--tag-names', 'web', '--vpc-uuid', uuid];
      expect((await runCloudctl(host, [...like, ...flags])).code).toBe(0);
      const created = sandbox.world.droplets.of(userOf(sandbox, MAYA).uuid).find(({ name }) => name === 'a');
      expect(created).toMatchObject({ tags: ['web'], features: ['backups', 'ipv6', 'monitoring'], vpc: uuid });
    });

    it.each([
      ['a tag with a space', ['--tag-names', 'a b']],
      ['an empty tag', ['--tag-names', '']],
      ['a tag that is too long', ['--tag-names', 'x'.repeat(256)]],
      ['an SSH key with a space', ['--ssh-keys', 'ssh-ed25519 AAAA']],
      ['a VPC that is no UUID', ['--vpc-uuid', 'default']],
      ['--set tags that is no list', ['--set', 'tags="a"', '--tag-names', 'b']],
      ['--ipv6 and --set', ['--set', 'ipv6=false', '--ipv6']],
      ['--monitoring and --set', ['--set', 'monitoring=true', '--monitoring']],
      ['--enable-backups and --set', ['--set', 'backups=true', '--enable-backups']],
      ['--vpc-uuid and --set', ['--set', 'vpc_uuid="x"', '--vpc-uuid', uuid]],
      ['--ssh-keys and --set', ['--set', 'ssh_keys=[1]', '--ssh-keys', '1']],
      ['--user-data-file and --set', ['--set', 'user_data="x"', '--user-data-file', '/dev/null']],
    ])('refuses %s before any request', async (_, words) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      await seedSession(host, sandbox, { scope: 'read write' });
      const ran = await runCloudctl(host, [...like, ...words, '-o', 'json']);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(await recordedRequests(sandbox)).toEqual([]);
    });

    it('that differ from the ledger are refused by --resume', async () => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      await seedSession(host, sandbox, { scope: 'read write' });
      const ran = await runCloudctl(host, [...like, 'b', '--tag-names', 'web', '--ipv6', '-o', 'json']);
      const ledger = ran.json<{ ledger: string }[]>()[0]?.ledger ?? '';
      const resume = (...words: string[]) => runCloudctl(host, ['droplets', 'create', '--resume', ledger, ...words]);
      expect((await resume('--tag-names', 'web', '--ipv6')).code).toBe(0);
      expect((await resume('--tag-names', 'web,other')).code).toBe(2);
      expect((await resume('--monitoring')).code).toBe(2);
    });
  });
});

describe('batch ledger selection', () => {
  describe('the ledger of a run', () => {
    it('is new, that of --resume, or that of --ledger when the file has one', async () => {
      const path = testLedgerPath();
      expect(readLedgerSelection(argsFrom({}))).toEqual({});
      expect(readLedgerSelection(argsFrom({ resume: ['/x'] }))).toEqual({ resumed: '/x' });
      expect(readLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ created: path });
      await (await createLedgerAt(path, batchOf(['a']), testMachine)).close();
      expect(readLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
    });

    it.each([
      ['an empty file', ''],
      ['the start of a first line', encodeEvent(batchOf(['a'])).slice(0, 60)],
    ])('of --ledger takes the place of %s', async (_, text) => {
      const path = testLedgerPath();
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      expect(readLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ created: path });
      const ledger = await createLedgerAt(path, batchOf(['a']), testMachine);
      await ledger.close();
      expect(readLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
    });

    it('of --ledger never takes the place of another file or folder', async () => {
      const path = testLedgerPath();
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'web-1');
      expect(readLedgerSelection(argsFrom({ ledger: [path] }))).toEqual({ resumed: path });
      expect(readLedgerSelection(argsFrom({ ledger: [dirname(path)] }))).toEqual({ resumed: dirname(path) });
      await expect(createLedgerAt(path, batchOf(['a']), testMachine)).rejects.toMatchObject({ code: 'config_invalid' });
    });

    it.each([
      ['an empty file', true],
      ['no file', false],
    ])('of --ledger never takes the place of a symbolic link to %s, such as /dev/stdout', async (_, exists) => {
      const path = testLedgerPath();
      const target = `${path}.target`;
      mkdirSync(dirname(path), { recursive: true });
      if (exists) writeFileSync(target, '');
      symlinkSync(target, path);
      expect(() => readLedgerSelection(argsFrom({ ledger: [path] }))).toThrow(
        expect.objectContaining({ code: 'usage' }),
      );
      await expect(createLedgerAt(path, batchOf(['a']), testMachine)).rejects.toMatchObject({ code: 'storage' });
      expect(readlinkSync(path)).toBe(target);
      expect(existsSync(target)).toBe(exists);
    });

    it('of --ledger is the one that a symbolic link leads to', async () => {
      const path = testLedgerPath();
      const link = `${path}.link`;
      await (await createLedgerAt(path, batchOf(['a']), testMachine)).close();
      symlinkSync(path, link);
      expect(readLedgerSelection(argsFrom({ ledger: [link] }))).toEqual({ resumed: link });
    });

    it.each([
      { 'batch-id': ['x'], resume: ['/x'] },
      { resume: ['/x'], ledger: ['/x'] },
      { plan: [], 'dry-run': [] },
      { ledger: [''] },
    ])('is not chosen by options that contradict each other: %j', (options) => {
      expect(() => readLedgerSelection(argsFrom(options))).toThrow(expect.objectContaining({ code: 'usage' }));
    });
  });

  it('the ledger of a --batch-id is another one for another profile or server', async () => {
    const host = testHost();
    const paths: string[] = [];
    for (const changes of [{}, { profile: 'p' }, { base_url: 'https://b' }]) {
      const batch = batchOf(['a'], {
        id: 'con',
        content_hash: '0123456789ab',
        ...changes,
      });
      const ledger = await startLedger(host, batch, { path: undefined, identity: {}, days: 0 });
      paths.push(ledger.path);
      await ledger.close();
    }
    expect(new Set(paths).size).toBe(3);
    expect(paths[0]).toMatch(/\/batches\/id-con-[0-9a-f]{8}\.jsonl$/);
  });
});
