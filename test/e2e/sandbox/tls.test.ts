import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCloudctl, startCloudctl } from '../../commands/run-cloudctl.ts';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { testHost } from '../../fixtures/host.ts';
import { logIn } from '../../fixtures/login.ts';
import { startSandbox } from '../../fixtures/sandbox.ts';
import { makeCertificates } from '../../platform/certificates.ts';

let folders: Folders;
let options: readonly string[];
const at = (name: string): string => join(folders.work, name);

beforeAll(() => {
  folders = makeFolders();
  const { ca, cert, key } = makeCertificates();
  for (const [name, text] of Object.entries({ 'ca.pem': ca, 'cert.pem': cert, 'key.pem': key }))
    writeFileSync(at(name), text);
  chmodSync(at('key.pem'), 0o600);
  options = ['--tls-cert', at('cert.pem'), '--tls-key', at('key.pem'), '--consent', 'approve maya@example.com'];
});
afterAll(() => folders.remove());

const profile = ['--profile', 'sandbox'];
const create = [
  'droplets',
  'create',
  'web-{1..3}',
  '--size',
  's-1vcpu-1gb',
  '--image',
  'ubuntu-24-04-x64',
  '--region',
  'nyc3',
];

describe('a sandbox with --tls-cert and --tls-key', { timeout: 120_000 }, () => {
  test('serves a login, a batch and the admin commands of clients that trust it, and refuses the others', async () => {
    const sandbox = await startSandbox(folders, options);
    try {
      for (const url of [sandbox.auth_url, sandbox.base_url, sandbox.panel_url, sandbox.admin_url])
        expect(url).toMatch(/^https:/);
      const env = { SSL_CERT_FILE: at('ca.pem') };
      expect(await logIn({ folders, env }, [...profile, '--scope', 'read write'])).toMatchObject({ code: 0 });
      const created = await run([...create, ...profile, '-o', 'json'], { folders, env });
      expect(created).toMatchObject({ code: 0 });
      expect(await run(['droplets', 'list', 'web-?', ...profile, '--json', 'name'], { folders, env })).toMatchObject({
        code: 0,
      });
      expect(await run(['auth', 'refresh', ...profile], { folders, env })).toMatchObject({ code: 0 });
      expect(await run(['sandbox', 'clock', 'now'], { folders, env })).toMatchObject({ code: 0 });

      const count = async (): Promise<number> =>
        (await run(['sandbox', 'requests', '-o', 'json'], { folders, env })).stdout.length;
      const before = await count();
      for (const words of [
        ['droplets', 'list', ...profile],
        ['auth', 'refresh', ...profile],
        ['sandbox', 'clock', 'now'],
      ]) {
        const refused = await run(words, { folders });
        expect(refused).toMatchObject({ code: 6, stdout: '' });
        expect(refused.stderr).toContain('SSL_CERT_FILE');
      }
      expect(await count()).toBe(before);
    } finally {
      await sandbox.stop();
    }
  });

  test('shows commands that trust a certificate with its root, and warns of one for another name', async () => {
    const { ca, cert, elsewhere, key } = makeCertificates();
    const host = testHost();
    mkdirSync(host.folders.state, { recursive: true });
    const write = (name: string, text: string): string => {
      writeFileSync(join(host.folders.state, name), text);
      return join(host.folders.state, name);
    };
    const [keyFile, caFile] = [write('key.pem', key), write('ca.pem', ca)];
    for (const [pem, isNamed, hasRoot] of [
      [cert, true, false],
      [cert + ca, true, true],
      [elsewhere, false, false],
    ] as const) {
      const certFile = write('cert.pem', pem);
      const running = startCloudctl(host, ['sandbox', 'start', '--tls-cert', certFile, '--tls-key', keyFile]);
      await running.waitForOutput(/until Ctrl-C/);
      expect(running.host.out().includes(`  SSL_CERT_FILE=${certFile} cloudctl `)).toBe(hasRoot);
      expect(running.host.err().includes('warning: ')).toBe(!isNamed);
      const trusting = testHost({ beside: host, env: { SSL_CERT_FILE: hasRoot ? certFile : caFile } });
      const ran = await runCloudctl(trusting, ['sandbox', 'clock', '-o', 'json']);
      expect(ran.code).toBe(isNamed ? 0 : 6);
      if (!isNamed) expect(ran.error().hint).toContain('--host');
      running.host.signal('SIGINT');
      await running.ended;
    }
  });
});
