import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { run } from '../../fixtures/cli.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { findingOf, localSourceOptions, reportOf } from './preflight-run.ts';

/** By role: what trips shells, URLs, password files, SQL, JSON, HTML and terminals. */
const passwords: Readonly<Record<string, string>> = {
  all: `a:b\\c d'e"f@g/h?i#j%40k&l=m+n$o\`p!q;r<s>t|u*v~w{x}y[z]`,
  spaces: '  before and after  ',
  percent: '%%%zz%00%2',
  backslashes: '\\\\:\\:\\',
  dollar: '$PGPASSWORD $(id) $HOME `id` $$',
  markup: '<script>alert(1)</script>&amp;]]>',
  unicode: 'Grüße-日本語-😀',
  long: `x${'0123456789'.repeat(90)}`,
  // A user whose name is no easier.
  'o\'b "x"@y:z/é': 'simple but:secret',
};

let folders: Folders;
let server: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({ version: 18, tls: true, settings: ready });
  for (const [role, password] of Object.entries(passwords)) {
    const name = `"${role.replaceAll('"', '""')}"`;
    await server.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password.replaceAll("'", "''")}'`);
  }
});

afterAll(async () => {
  await server?.stop();
  folders.remove();
});

interface Way {
  readonly words: readonly string[];
  readonly env?: Environment;
  readonly stdin?: string;
}

/** How a person hands a password over. */
const ways: Readonly<Record<string, (role: string, password: string) => Way>> = {
  PGPASSWORD: (role, password) => ({
    words: ['--source', server.url('postgres', role)],
    env: { PGPASSWORD: password },
  }),
  '.pgpass': (role, password) => ({
    words: ['--source', server.url('postgres', role)],
    env: { PGPASSFILE: passwordFile(role, password) },
  }),
  'the URL in --source': (role, password) => ({ words: ['--source', urlWith(role, password)] }),
  'the URL in CLOUDCTL_SOURCE': (role, password) => ({ words: [], env: { CLOUDCTL_SOURCE: urlWith(role, password) } }),
  '--password-stdin': (role, password) => ({
    words: [
      '--host',
      '127.0.0.1',
      '--port',
      String(server.port),
      '--dbname',
      'postgres',
      '--username',
      role,
      '--password-stdin',
      '--engine',
      'postgresql',
    ],
    stdin: `${password}\n`,
  }),
};

function urlWith(role: string, password: string): string {
  const userinfo = `${encodeURIComponent(role)}:${encodeURIComponent(password)}`;
  return `postgresql://${userinfo}@127.0.0.1:${server.port}/postgres`;
}

function passwordFile(role: string, password: string): string {
  const escaped = (text: string): string => text.replace(/[\\:]/g, '\\$&');
  const path = join(folders.work, `pgpass-${Buffer.from(role).toString('hex')}`);
  writeFileSync(
    path,
    `# a comment\n*:*:*:somebody else:no\n127.0.0.1:*:postgres:${escaped(role)}:${escaped(password)}\n`,
  );
  chmodSync(path, 0o600);
  return path;
}

/** The second reading of the WAL position is not waited for. */
const quick = ['--deadline', '3s', '-o', 'json'];

function ask({ words, env, stdin }: Way, more: readonly string[] = []): Promise<Ran> {
  const all = ['db', 'preflight', ...words, ...localSourceOptions(server), ...quick, ...more];
  return run(all, { folders, env: { ...env }, ...(stdin === undefined ? {} : { stdin }) });
}

/** The longest fits no password file of PostgreSQL's own, and every way takes all the others. */
const cases = Object.entries(passwords).flatMap(([role, password], at) => {
  const names = Object.keys(ways);
  const some = role === 'all' ? names : [names[at % names.length]!, names[(at + 2) % names.length]!];
  return some.map((name) => ({ name, role, password }));
});

describe.concurrent('a password is understood', () => {
  test.each(cases)('$name, of $role', async ({ name, role, password }) => {
    const ran = await ask(ways[name]!(role, password));
    expect(findingOf(reportOf(ran), 'auth-password')).toMatchObject({ status: 'pass' });
    expectNoTrace(ran.stdout + ran.stderr, password);
  });
});

describe.concurrent('no password is ever printed', () => {
  const outputs = [
    'report.json',
    'report.md',
    'report.html',
    'report.xml',
    'report.sarif',
    'fix.sql',
    'undo.sql',
    'baseline.json',
  ];

  test.each([
    ['the right one', ''],
    ['a wrong one', 'no'],
  ])('%s, with everything written that can be written', async (_what, suffix) => {
    const password = `${passwords.all}${suffix}`;
    const file = (name: string): string => join(folders.work, `${suffix}${name}`);
    const words = [
      ...outputs.slice(0, 5).flatMap((name) => ['--report', file(name)]),
      ...['--fix-sql', file('fix.sql'), '--undo-sql', file('undo.sql'), '--baseline', file('baseline.json')],
      ...['--trace', '--show-queries', '--strict', '--target-version', '18'],
    ];
    const ran = await ask(ways['the URL in --source']!('all', password), words);
    expect(findingOf(reportOf(ran), 'auth-password').status).toBe(suffix === '' ? 'pass' : 'fail');
    expect(ran.stderr).toMatch(/^warning: .*--source/m);
    expectNoTrace(ran.stdout + ran.stderr, password);
    const written = outputs.filter((name) => existsSync(file(name)));
    expect(written).toEqual(expect.arrayContaining(outputs.filter((name) => !name.endsWith('.sql'))));
    for (const name of written) expectNoTrace(readFileSync(file(name), 'utf8'), password);
  });
});

test.each([
  ['the value of an option', ['--source', 'postgres://u:s3cr3t%zz@h/d']],
  [
    'a host that is an address',
    ['--engine', 'postgresql', '--host', 'postgres://u:s3cr3t@/d?hosts=x', '--username', 'v'],
  ],
  ['an unknown option', ['--source', 'postgres://u@h/d', '--password', 's3cr3t']],
  ['a socket', ['--source', 'postgres://u:s3cr3t@%2Ftmp/d']],
  ['a bad port', ['--source', 'postgres://u:s3cr3t@h:99999/d']],
])('a mistake in %s is told without the password', async (_what, words) => {
  for (const format of [[], ['-o', 'json']]) {
    const ran = await run(['db', 'preflight', ...words, ...format], { folders });
    expect(ran.code).toBe(2);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).not.toContain('s3cr3t');
  }
});

/** Nor as JSON, as part of a URL, as HTML or XML, as SQL, or in base64. */
function expectNoTrace(text: string, password: string): void {
  const html = password
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  const forms = [
    // Texts are trimmed, and cut when they are long.
    password.trim().slice(0, 60),
    JSON.stringify(password).slice(1, -1),
    encodeURIComponent(password),
    html,
    html.replaceAll("'", '&#39;'),
    password.replaceAll("'", "''"),
    Buffer.from(password).toString('base64').replace(/=+$/, ''),
  ];
  for (const form of forms) expect(text.includes(form)).toBe(false);
}
