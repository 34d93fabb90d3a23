import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { lacks } from '../fixtures/needs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = process.env.CLOUDCTL_TEST_STANDALONE ?? join(root, 'dist-standalone/cloudctl');
const { version } = manifest;
const name = `cloudctl-${version}-linux-x64`;
const natives = ['fs-native-extensions.node', 'keyring.node'];
const pages = readdirSync(join(root, 'man'));
const schemas = readdirSync(join(root, 'schemas'));

const isUsable =
  process.platform === 'linux' && process.arch === 'x64' && !lacks('dpkg-shlibdeps', 'rpmbuild', 'xz', 'git');

describe.skipIf(!isUsable)('the files of a release', () => {
  const out = mkdtempSync(join(tmpdir(), 'cloudctl-release-'));
  const file = (found: RegExp): string => join(out, readdirSync(out).find((one) => found.test(one)) ?? 'no such file');

  beforeAll(() => {
    const script = join(root, 'scripts/release-files.mjs');
    const env = {
      GITHUB_SERVER_URL: 'https://code.example',
      GITHUB_REPOSITORY: 'we/cloudctl',
      GITHUB_REPOSITORY_OWNER: 'we',
    };
    sh('"$1" "$2" --fast --program "$3" --out "$4"', [process.execPath, script, program, out], env);
  }, 300_000);
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  test('are six, with the sums of all', () => {
    expect(readdirSync(out).sort()).toEqual(
      [
        'SHA256SUMS',
        `cloudctl-${version}-1.x86_64.rpm`,
        `${name}.cdx.json`,
        `${name}.tar.xz`,
        `cloudctl-${version}.tgz`,
        `cloudctl_${version}_amd64.deb`,
      ].sort(),
    );
    expect(sh('cd "$1" && sha256sum --check --strict SHA256SUMS', [out]).match(/: OK$/gm)).toHaveLength(5);
  });

  test('the archive runs where it is unpacked', () => {
    const folder = temporary();
    sh('tar -xJf "$1" -C "$2" --strip-components 1', [file(/\.tar\.xz$/), folder]);
    expect(readdirSync(folder).sort()).toEqual([
      'LICENSE',
      'THIRD-PARTY-NOTICES.txt',
      'cloudctl',
      'completions',
      'man',
      'schemas',
    ]);
    expect(readdirSync(join(folder, 'schemas'))).toEqual(schemas);
    expect(sh('"$1/cloudctl" --version', [folder])).toContain(`${version} (standalone,`);
    expect(readdirSync(join(folder, 'man/man1'))).toEqual(pages);
  });

  test('the package of npm names the repository of the workflow', () => {
    const own: unknown = JSON.parse(sh('tar -xzOf "$1" package/package.json', [file(/\.tgz$/)]));
    expect(own).toEqual({
      ...manifest,
      repository: { type: 'git', url: 'git+https://code.example/we/cloudctl.git' },
      homepage: 'https://code.example/we/cloudctl#readme',
      bugs: 'https://code.example/we/cloudctl/issues',
    });
  });

  test('the list of the contents has what has a licence notice, the native modules, and Node 24', () => {
    const bill: { readonly components: readonly { readonly name: string; readonly version: string }[] } = JSON.parse(
      readFileSync(file(/\.cdx\.json$/), 'utf8'),
    );
    const notices = readFileSync(join(root, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
    const bundled = [...notices.matchAll(/^-{80}\n\n(\S+) (\S+) \(/gm)].map(([, one, number]) => `${one} ${number}`);
    const listed = bill.components.map((one) => `${one.name} ${one.version}`);
    expect(bundled.length).toBeGreaterThan(20);
    expect(listed).toEqual(expect.arrayContaining(bundled));
    const others = listed.filter((one) => !bundled.includes(one)).map((one) => one.split('.')[0]);
    expect(others.sort()).toEqual(['@napi-rs/keyring-linux-x64-gnu 2', 'fs-native-extensions 1', 'node 24']);
  });

  test.each([
    [
      'Debian',
      'dpkg-deb -c "$1" | awk \'{ print $1, $2, $6 }\'',
      /\.deb$/,
      'zsh/vendor-completions',
      'doc/cloudctl/copyright',
    ],
    [
      'RPM',
      'rpm -qlvp "$1" | awk \'{ print $1, $3 "/" $4, "." $NF }\'',
      /\.rpm$/,
      'zsh/site-functions',
      'licenses/cloudctl/LICENSE',
    ],
  ])(
    'the %s package has everything in its place, of root, and nothing that others can write',
    (_, list, kind, zsh, licence) => {
      const lines = sh(list, [file(kind)])
        .trimEnd()
        .split('\n');
      const places = lines.map((line) => line.split(' ')[2] ?? '');
      for (const line of lines) expect(line).toMatch(/^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root\/root \.\//);
      expect(lines.filter((line) => line.startsWith('-rwx'))).toEqual([expect.stringContaining('./usr/bin/cloudctl')]);
      for (const one of natives) expect(places).toContain(`./usr/lib/cloudctl/${one}`);
      for (const one of schemas) expect(places).toContain(`./usr/share/cloudctl/schemas/${one}`);
      for (const page of pages) expect(places).toContain(`./usr/share/man/man1/${page}.gz`);
      const completions = [
        'bash-completion/completions/cloudctl',
        `${zsh}/_cloudctl`,
        'fish/vendor_completions.d/cloudctl.fish',
      ];
      for (const one of [...completions, licence]) expect(places).toContain(`./usr/share/${one}`);
    },
  );

  test('the packages depend on the libraries of the executable', () => {
    const [field, mail, page] = ['Depends', 'Maintainer', 'Homepage'].map((one) =>
      sh('dpkg-deb -f "$1" "$2"', [file(/\.deb$/), one]),
    );
    expect(field).toMatch(/^libc6 \(>= 2\.\d+\), libgcc-s1 .*libstdc\+\+6/);
    expect([mail, page]).toEqual([
      'the cloudctl authors <we@users.noreply.github.com>\n',
      'https://code.example/we/cloudctl\n',
    ]);
    expect(sh('rpm -qp --requires "$1"', [file(/\.rpm$/)])).toMatch(/^libstdc\+\+\.so\.6\(\)\(64bit\)$/m);
  });

  describe.skipIf(process.getuid?.() !== 0)('in an empty root', () => {
    const tools = {
      Debian: {
        install: 'dpkg --root="$1" --force-depends --force-unsafe-io -i "$2"',
        remove: 'dpkg --root="$1" --purge cloudctl',
        kind: /\.deb$/,
      },
      RPM: {
        install: 'rpm --root "$1" --dbpath /var/lib/rpm --nodeps --upgrade --replacepkgs "$2"',
        remove: 'rpm --root "$1" --dbpath /var/lib/rpm --nodeps --erase cloudctl',
        kind: /\.rpm$/,
      },
    };

    test.each(Object.entries(tools))(
      'the %s package is installed, upgraded and removed, and leaves nothing',
      (_, tool) => {
        const empty = emptyRoot();
        const before = filesOf(empty);
        sh(tool.install, [empty, file(tool.kind)]);
        const state = join(empty, 'state');
        const start = (words: string) =>
          sh(`chroot "$1" /usr/bin/env -i HOME=/state PATH=/usr/bin CLOUDCTL_STATE_DIR=/state ${words}`, [empty]);
        expect(start('cloudctl --version')).toContain(`${version} (standalone,`);
        mkdirSync(state);
        // The lock is taken by the module of the package, so none is unpacked. A login would fail in the empty root.
        start('cloudctl doctor -o json || test $? = 1');
        expect(readdirSync(state)).toEqual(['sessions']);
        expect(readFileSync(join(state, 'sessions/default.lock'), 'utf8')).toBe('fcntl\n');
        rmSync(join(empty, 'usr/lib/cloudctl/fs-native-extensions.node'));
        start('cloudctl doctor -o json || test $? = 1');
        expect(readdirSync(state)).toContainEqual(expect.stringMatching(/^native-[0-9a-f]{16}$/));
        rmSync(state, { recursive: true });
        sh(tool.install, [empty, file(tool.kind)]);
        for (const one of natives)
          expect(
            readFileSync(join(empty, 'usr/lib/cloudctl', one)).equals(readFileSync(join(dirname(program), one))),
          ).toBe(true);
        sh(tool.remove, [empty]);
        expect(filesOf(empty)).toEqual(before);
      },
    );
  });
});

/** A root folder that has only the libraries of the executable, `env` and `sh`. */
function emptyRoot(): string {
  const folder = temporary();
  for (const one of [program, '/usr/bin/env', '/bin/sh']) {
    const libraries = sh('ldd "$1"', [one]).matchAll(/(\/\S+) \(0x/g);
    for (const [, from = ''] of libraries) copyInto(folder, from);
  }
  for (const one of ['/usr/bin/env', '/bin/sh']) copyInto(folder, one);
  // dpkg and rpm keep what is installed below these.
  for (const one of ['var/lib/dpkg/info', 'var/lib/dpkg/updates', 'dev', 'tmp'])
    mkdirSync(join(folder, one), { recursive: true });
  for (const one of ['status', 'available']) sh('touch "$1"', [join(folder, 'var/lib/dpkg', one)]);
  sh('mknod -m 666 "$1" c 1 3', [join(folder, 'dev/null')]);
  return folder;
}

function copyInto(folder: string, from: string): void {
  const to = join(folder, from);
  mkdirSync(dirname(to), { recursive: true });
  if (!existsSync(to)) copyFileSync(from, to);
}

/** Every file but the records of dpkg and rpm, with its size. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !/^(var\/(lib|log|cache)|usr\/lib\/sysimage)\b/.test(path) && path !== 'dev/null')
    .filter((path) => statSync(join(folder, path)).isFile() || /cloudctl/.test(path))
    .sort();
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-root-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function sh(script: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const options = {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin`, ...env },
  } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', script, 'sh', ...words], options);
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}
