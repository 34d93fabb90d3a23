// `npm run build:packages` writes dist-packages/: what a release consists of. The npm tarball; the executable as a .tar.xz, and on
// Linux as a .deb and a .rpm, with man pages and completions; a list of what is in the executable (CycloneDX); the sums of all.
// `-- --program FILE` takes an executable that was built before, `--fast` compresses little, for tests, `--out` names another folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { metafilePath } from './build.mjs';
import { npmCommand } from './extra-packages.mjs';
import { bundledPackages } from './notices.mjs';
import { root } from './run-vitest.mjs';
import { buildStandalone, writeChecksums } from './standalone.mjs';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { version } = manifest;
/** A version before a release is lower than it only after a tilde, for dpkg and for rpm. */
const packageVersion = version.replace('-', '~');
const summary = 'command line of a cloud provider';
const text = `Logs in through the browser, creates droplets in batch, and checks and migrates
PostgreSQL and Redis databases online. The whole service is included as a
sandbox. Other projects have programs of the same name; this one is not related
to them.`;
/** What the names of a release call the systems; Debian and RPM have other words for the processors. */
const system = `${{ win32: 'windows', darwin: 'macos' }[process.platform] ?? process.platform}-${process.arch}`;
const debianArchitecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
const rpmArchitecture = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];

/**
 * Writes the files of a release into `out`, from the executable `program` or from a new one; resolves with their names.
 * @param {{ out?: string, fast?: boolean, program?: string }} [options]
 */
export async function buildPackages({ out = join(root, 'dist-packages'), fast = false, program } = {}) {
  const executable = program ?? (await buildStandalone());
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'cloudctl-packages-'));
  try {
    const release = { executable, work, out, fast, ...origin() };
    // It is the same for all systems.
    if (system === 'linux-x64') packNpm(release);
    packArchive(release);
    if (process.platform === 'linux') {
      packDebian(release);
      packRpm(release);
    }
    writeFileSync(join(out, `cloudctl-${version}-${system}.cdx.json`), billOfMaterials(executable));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  writeChecksums(out);
  return readdirSync(out);
}

/** Who makes the release, of which commit: of the repository of the workflow, else of the last commit. */
function origin() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_REPOSITORY_OWNER: owner } = process.env;
  const [seconds, mail] = run('git', ['-C', root, 'log', '-1', '--format=%ct %ae']).trim().split(' ');
  return {
    page: repository === undefined ? undefined : `${server ?? 'https://github.com'}/${repository}`,
    packager: `${manifest.author} <${owner === undefined ? mail : `${owner}@users.noreply.github.com`}>`,
    // Dates of files in the packages are this one, so that two builds do not differ in them.
    seconds,
  };
}

/** The package of npm names its repository only here, because each fork has its own. */
function packNpm({ out, work, page }) {
  const words = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination'];
  const [name] = npm([...words, out], { cwd: root })
    .trim()
    .split('\n')
    .slice(-1);
  if (page === undefined) return;
  const folder = join(work, 'npm');
  mkdirSync(folder);
  run('tar', ['-xzf', join(out, name), '-C', folder]);
  const links = {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: `${page}/issues`,
  };
  writeFileSync(join(folder, 'package/package.json'), `${JSON.stringify({ ...manifest, ...links }, null, 2)}\n`);
  npm([...words, out], { cwd: join(folder, 'package') });
}

/** One folder with the program, its pages and its completions, to be unpacked anywhere. */
function packArchive({ executable, work, out, fast, seconds }) {
  const name = `cloudctl-${version}-${system}`;
  const folder = join(work, name);
  put(executable, join(folder, basename(executable)), 0o755);
  for (const file of ['LICENSE', 'THIRD-PARTY-NOTICES.txt']) put(join(dirname(executable), file), join(folder, file));
  putAll('man', join(folder, 'man/man1'));
  for (const kind of ['completions', 'schemas']) putAll(kind, join(folder, kind));
  const same =
    process.platform === 'linux'
      ? ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner']
      : [];
  const env = { ...process.env, XZ_OPT: fast ? '-0 -T0' : '-6 -T0' };
  run('tar', [...same, '-C', work, '-cJf', join(out, `${name}.tar.xz`), name], { env });
}

/** The tree of an installed package below `folder`; the folders of zsh and of the documents differ. Scripts read the schemas. */
function putTree({ executable, seconds, packager }, folder, family) {
  const share = join(folder, 'usr/share');
  put(executable, join(folder, 'usr/bin/cloudctl'), 0o755);
  // src/standalone.ts loads them from here, if they have the bytes of the executable and only root can have written them.
  for (const name of ['keyring.node', 'fs-native-extensions.node'])
    put(join(dirname(executable), name), join(folder, 'usr/lib/cloudctl', name));
  for (const page of readdirSync(join(root, 'man')))
    putText(gzip(readFileSync(join(root, 'man', page))), join(share, 'man/man1', `${page}.gz`));
  const completions = {
    'cloudctl.bash': 'bash-completion/completions/cloudctl',
    _cloudctl: family === 'debian' ? 'zsh/vendor-completions/_cloudctl' : 'zsh/site-functions/_cloudctl',
    'cloudctl.fish': 'fish/vendor_completions.d/cloudctl.fish',
  };
  for (const [file, place] of Object.entries(completions)) put(join(root, 'completions', file), join(share, place));
  putAll('schemas', join(share, 'cloudctl/schemas'));
  const notices = join(dirname(executable), 'THIRD-PARTY-NOTICES.txt');
  if (family === 'rpm') {
    put(join(root, 'LICENSE'), join(share, 'licenses/cloudctl/LICENSE'));
    put(notices, join(share, 'licenses/cloudctl/THIRD-PARTY-NOTICES.txt'));
    return;
  }
  const doc = join(share, 'doc/cloudctl');
  const contained =
    'THIRD-PARTY-NOTICES.txt.gz has the licences of the packages, and of Node, that the program contains.';
  putText(`cloudctl\n\n${readFileSync(join(root, 'LICENSE'), 'utf8')}\n${contained}\n`, join(doc, 'copyright'));
  putText(gzip(readFileSync(notices)), join(doc, 'THIRD-PARTY-NOTICES.txt.gz'));
  const date = new Date(seconds * 1000).toUTCString().replace('GMT', '+0000');
  const entry = `cloudctl (${packageVersion}) unstable; urgency=medium\n\n  * Release ${version}.\n\n -- ${packager}  ${date}\n`;
  putText(gzip(Buffer.from(entry)), join(doc, 'changelog.gz'));
  const overrides = `# Node has its own copies of libraries, and is updated as a whole.
cloudctl: embedded-library *
# One of several programs that open a browser; without them the address is printed.
cloudctl: missing-depends-on-sensible-utils sensible-browser *
`;
  putText(overrides, join(share, 'lintian/overrides/cloudctl'));
}

function packDebian(release) {
  const { work, out, fast, page, packager, seconds } = release;
  // dpkg-shlibdeps expects the tree and the control file of the source at these places.
  const folder = join(work, 'debian/cloudctl');
  putTree(release, folder, 'debian');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const bytes = files.map((one) => statSync(join(one.parentPath, one.name)).size).reduce((sum, size) => sum + size, 0);
  const sums = files.map((one) => {
    const path = join(one.parentPath, one.name);
    return `${createHash('md5').update(readFileSync(path)).digest('hex')}  ${path.slice(folder.length + 1)}\n`;
  });
  const control = [
    'Package: cloudctl',
    `Version: ${packageVersion}`,
    `Architecture: ${debianArchitecture}`,
    `Maintainer: ${packager}`,
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    `Depends: ${sharedLibraries(work, folder)}`,
    'Suggests: xdg-utils, gnome-keyring',
    'Section: admin',
    'Priority: optional',
    ...(page === undefined ? [] : [`Homepage: ${page}`]),
    `Description: ${summary}`,
    ...text.split('\n').map((line) => ` ${line}`),
  ];
  putText(`${control.join('\n')}\n`, join(folder, 'DEBIAN/control'));
  putText(sums.sort().join(''), join(folder, 'DEBIAN/md5sums'));
  const name = `cloudctl_${packageVersion}_${debianArchitecture}.deb`;
  const options = ['--root-owner-group', ...(fast ? ['-Zgzip', '-z1'] : ['-Zxz'])];
  const env = { ...process.env, SOURCE_DATE_EPOCH: seconds };
  run('dpkg-deb', [...options, '--build', folder, join(out, name)], { env });
}

/** The packages with the libraries that the program is linked to, and their lowest versions. */
function sharedLibraries(work, folder) {
  mkdirSync(join(folder, 'DEBIAN'));
  putText('Source: cloudctl\n\nPackage: cloudctl\nArchitecture: any\n', join(work, 'debian/control'));
  const modules = ['keyring.node', 'fs-native-extensions.node'].map((name) => join(folder, 'usr/lib/cloudctl', name));
  const words = ['-O', '--warnings=0', ...[join(folder, 'usr/bin/cloudctl'), ...modules].map((path) => `-e${path}`)];
  const found = /^shlibs:Depends=(.+)$/m.exec(run('dpkg-shlibdeps', words, { cwd: work }));
  if (found === null) throw new Error('dpkg-shlibdeps found no library');
  return found[1];
}

function packRpm(release) {
  const { work, out, fast, page, packager, seconds } = release;
  const tree = join(work, 'rpm-tree');
  putTree(release, tree, 'rpm');
  const spec = `Name: cloudctl
Version: ${packageVersion}
Release: 1
Summary: ${summary}
License: MIT
Packager: ${packager}
${page === undefined ? '' : `URL: ${page}\n`}%description
${text}
%install
cp -al ${tree}/. %{buildroot}
%files
%attr(0755, root, root) /usr/bin/cloudctl
%dir %attr(0755, root, root) /usr/lib/cloudctl
%attr(0644, root, root) /usr/lib/cloudctl/*.node
%dir %attr(0755, root, root) /usr/share/cloudctl
%dir %attr(0755, root, root) /usr/share/cloudctl/schemas
%attr(0644, root, root) /usr/share/cloudctl/schemas/*
%attr(0644, root, root) /usr/share/man/man1/cloudctl*.1.gz
%attr(0644, root, root) /usr/share/bash-completion/completions/cloudctl
%attr(0644, root, root) /usr/share/zsh/site-functions/_cloudctl
%attr(0644, root, root) /usr/share/fish/vendor_completions.d/cloudctl.fish
%dir %attr(0755, root, root) /usr/share/licenses/cloudctl
%license %attr(0644, root, root) /usr/share/licenses/cloudctl/*
`;
  const file = join(work, 'cloudctl.spec');
  writeFileSync(file, spec);
  const settings = {
    _topdir: join(work, 'rpm'),
    // Without it, the home folder gets an empty database of packages.
    _dbpath: join(work, 'rpmdb'),
    _rpmdir: out,
    _rpmfilename: '%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm',
    _binary_payload: fast ? 'w1.gzdio' : 'w6T0.xzdio',
    _buildhost: 'localhost',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
    // Another strip would take the program out of the executable.
    __os_install_post: '%{nil}',
    debug_package: '%{nil}',
    _build_id_links: 'none',
  };
  const defines = Object.entries(settings).flatMap(([name, value]) => ['--define', `${name} ${value}`]);
  const env = { ...process.env, SOURCE_DATE_EPOCH: seconds };
  run('rpmbuild', ['-bb', '--quiet', '--target', rpmArchitecture, ...defines, file], { env });
}

/** What `npm sbom` lists, without the packages of which nothing is in the executable, and with Node. */
function billOfMaterials(executable) {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--loglevel=error'];
  const bill = JSON.parse(npm(words, { cwd: root, maxBuffer: 64 * 1024 * 1024 }));
  const bundled = bundledPackages(JSON.parse(readFileSync(metafilePath, 'utf8')));
  const inside = new Set([...bundled, ...nativePackages()].map(reference));
  const components = bill.components
    .filter((component) => inside.has(component['bom-ref']))
    .map((component) => ({ ...component, scope: 'required' }));
  if (components.length !== inside.size) throw new Error('npm sbom does not list every package of the executable');
  const node = /Node (\S+),/.exec(run(executable, ['--version']))?.[1];
  const purl = `pkg:generic/node@${node}`;
  const runtime = {
    type: 'platform',
    name: 'node',
    version: node,
    purl,
    'bom-ref': purl,
    scope: 'required',
  };
  const known = new Set([...components.map((one) => one['bom-ref']), bill.metadata.component['bom-ref']]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => known.has(one)) }));
  const own = { name: basename(executable), hashes: [{ alg: 'SHA-256', content: sha256(executable) }] };
  const { component } = bill.metadata;
  const metadata = { ...bill.metadata, component: { ...component, ...own } };
  return `${JSON.stringify({ ...bill, metadata, components: [...components, runtime], dependencies }, null, 2)}\n`;
}

/** The packages whose binaries are unpacked from the executable; npm has installed that of this system only. */
function nativePackages() {
  const scope = 'node_modules/@napi-rs';
  return [
    'node_modules/fs-native-extensions',
    ...readdirSync(join(root, scope)).map((name) => `${scope}/${name}`),
  ].filter((folder) => !folder.endsWith('/keyring'));
}

/** The name of a package in the list of npm. */
function reference(folder) {
  const { name, version: installed } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return `${name}@${installed}`;
}

function npm(words, options) {
  const [program, ...first] = npmCommand;
  return run(program, [...first, ...words], options);
}

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function gzip(bytes) {
  return gzipSync(bytes, { level: 9 });
}

function put(from, to, mode = 0o644) {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  // No link: tar refuses a file whose inode somebody links while it reads.
  copyFileSync(from, to);
  chmodSync(to, mode);
}

/** The files of a folder of the project. */
function putAll(folder, to) {
  for (const name of readdirSync(join(root, folder))) put(join(root, folder, name), join(to, name));
}

function putText(content, to) {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  writeFileSync(to, content, { mode: 0o644 });
}

function run(program, words, options = {}) {
  return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: { fast: { type: 'boolean' }, out: { type: 'string' }, program: { type: 'string' } },
  });
  const { out = join(root, 'dist-packages') } = values;
  for (const name of await buildPackages({ ...values, out }))
    console.log(`${(statSync(join(out, name)).size / 1e6).toFixed(1).padStart(6)} MB  ${name}`);
}
