import { expect, test } from 'vitest';
import * as citations from './citations.ts';
import * as graph from './graph.ts';
import * as layers from './layers.ts';
import { makeProject, type Rule } from './project.ts';
import * as tests from './tests.ts';
import * as text from './text.ts';
import { goldenSectionsHaveTests, wordingIsInGoldenFiles } from './wording.ts';

type Files = Readonly<Record<string, string>>;

interface Sample {
  readonly name: string;
  readonly rule: Rule;
  readonly good: Files;
  readonly bad: Files;
  /** What the rule must say of the bad tree; more than one when it has more than one breach. */
  readonly says: readonly string[];
}

const page = (rows: string): string => `# Plan\n\n| folder | layer | for |\n|---|---|---|\n${rows}\n`;

const samples: readonly Sample[] = [
  {
    name: 'a conformance run with the client of the program',
    rule: layers.conformanceHasItsOwnClient,
    good: {
      'test/conformance/send.ts': "import { Secret } from '../../src/base/secret.ts';",
      'test/conformance/send.test.ts': "import { a } from '../../src/api/a.ts';",
    },
    bad: { 'test/conformance/send.ts': "import { pkce } from '../../src/auth/oauth/authorize.ts';" },
    says: ['test/conformance/send.ts imports src/auth/oauth/authorize.ts'],
  },
  {
    name: 'a comment that cites what is not there',
    rule: citations.citationsResolve,
    good: {
      'docs/service.md': '## S4. Tokens\n\n- **S4.3** A token.\n',
      'docs/decisions/012-batches.md': '',
      'SECURITY.md': '6. A rule.\n',
      'src/api/client.ts':
        '// See docs/service.md S4 and S4.3, client.ts, decision 012,\n// SECURITY.md rule 6, RFC\n// 6749 §4.1.2 and §4.2.',
      'test/a.ts': "const text = 'spec.md §3';",
      'src/cli/run.ts': '',
      'src/db/run.ts': '// client.ts, run.ts and index.ts',
      'src/db/index.ts': '',
      'src/db/cutover/index.ts': '',
      'src/db/cutover/view.ts': '// run.ts',
      'test/db/view.test.ts': '// run.ts',
      'docs/a.md': 'See `src/db/run.ts:3`, `db/*.ts` and `test/db`.\n```sh\nnode src/gone.ts\n```\n',
      'CHANGELOG.md': '- `src/gone.ts` went',
    },
    bad: {
      'src/a.ts': '/** docs/gone.md, gone.ts,\n * docs/service.md S4.9 */',
      'src/cli/run.ts': '',
      'src/db/run.ts': '',
      'src/api/list.ts': '// as run.ts does',
      'test/auth/login.test.ts': '// as run.ts does',
      'docs/a.md': 'See `src/gone.ts` and\n`test/gone`, `gone.mjs`.',
      'scripts/b.mjs': '// decision 099 and SECURITY.md rule 50\n\n// spec §3',
    },
    says: [
      'src/a.ts:1: a comment cites docs/gone.md, which is not in the project',
      'src/a.ts:1: a comment cites gone.ts, which is not in the project',
      'src/a.ts:1: a comment cites docs/service.md, which is not in the project',
      'src/a.ts:1: a comment cites S4.9, which is not in the project',
      'src/api/list.ts:1: a comment cites run.ts, which is not in the project',
      'test/auth/login.test.ts:1: a comment cites run.ts, which is not in the project',
      'docs/a.md:1: a page cites src/gone.ts, which is not in the project',
      'docs/a.md:2: a page cites test/gone, which is not in the project',
      'docs/a.md:2: a page cites gone.mjs, which is not in the project',
      'scripts/b.mjs:1: a comment cites SECURITY.md, which is not in the project',
      'scripts/b.mjs:1: a comment cites SECURITY.md rule 50, which is not in the project',
      'scripts/b.mjs:1: a comment cites decision 099, which is not in the project',
      'scripts/b.mjs:3: a comment cites §3, which is not in the project',
    ],
  },
  {
    name: 'a rule of the service that is not there',
    rule: citations.rulesOfTheServiceExist,
    good: { 'docs/service.md': '- **S4.3** A token.', 'test/a.ts': "const one = { rule: 'S4.3' };", 'docs/a.md': '' },
    bad: { 'src/a.ts': "const one = { spec: 'S4.3' };", 'docs/a.md': 'docs/service.md S4' },
    says: ['src/a.ts: there is no rule S4.3 in docs/service.md', 'docs/a.md: there is no rule S4 in docs/service.md'],
  },
  {
    name: 'a rule of the login helper without a test',
    rule: citations.rulesOfTheHelperAreTested,
    good: { 'SECURITY.md': '1. One.\n2. Two.\n', 'test/attack/a.test.ts': "test('rules 1 and 2: hold')" },
    bad: { 'SECURITY.md': '1. One.\n', 'test/auth/loopback/a.test.ts': "test('rule 3: holds')" },
    says: ['test/auth/loopback/a.test.ts: there is no rule 3 in SECURITY.md', 'rule 1 of SECURITY.md has no test'],
  },
  {
    name: 'a room without a layer',
    rule: layers.everyRoomHasALayer,
    good: { 'src/auth/oauth/a.ts': '', 'src/main.ts': '', 'src/sandbox/a.ts': '', 'test/strange/a.ts': '' },
    bad: { 'src/helpers/a.ts': '', 'src/helpers/b.ts': '' },
    says: ['src/helpers has no layer'],
  },
  {
    name: 'an import that goes up',
    rule: layers.importsLeadDown,
    good: { 'src/auth/session/a.ts': "import { b } from '../oauth/b.ts';", 'src/auth/oauth/b.ts': "import './c.ts';" },
    bad: { 'src/auth/oauth/b.ts': "import { a } from '../session/a.ts';" },
    says: ['src/auth/oauth/b.ts imports src/auth/session/a.ts (auth/oauth is not above auth/session)'],
  },
  {
    name: 'an import that goes sideways, for a type',
    rule: layers.importsLeadDown,
    good: { 'src/api/a.ts': "import type { Host } from '../platform/host.ts';" },
    bad: { 'src/api/a.ts': "import type { Grant } from '../auth/oauth/grant.ts';" },
    says: ['src/api/a.ts imports src/auth/oauth/grant.ts (api is not above auth/oauth)'],
  },
  {
    name: 'an import that goes up, when it runs',
    rule: layers.importsLeadDown,
    good: { 'src/main.ts': "export const load = () => import('./commands/index.ts');" },
    bad: { 'src/cli/a.ts': "export const load = () => import('../commands/index.ts');" },
    says: ['src/cli/a.ts imports src/commands/index.ts (cli is not above commands)'],
  },
  {
    name: 'an export that goes up',
    rule: layers.importsLeadDown,
    good: { 'src/main.ts': "export { a } from './context.ts';" },
    bad: { 'src/base/secret.ts': "export * from '../platform/files.ts';" },
    says: ['src/base/secret.ts imports src/platform/files.ts (base is not above platform)'],
  },
  {
    name: 'a room that is entered beside its door',
    rule: layers.roomsAreEnteredByTheirDoors,
    good: {
      'src/commands/a.ts':
        "import { b } from '../droplets/index.ts'; const load = () => import('../droplets/index.ts');",
      'src/droplets/run.ts': "import { c } from './send.ts';",
      'test/droplets/send.test.ts': "import '../../src/droplets/send.ts';",
    },
    bad: {
      'src/commands/a.ts':
        "import type { Row } from '../droplets/send.ts'; const load = () => import('../droplets/run.ts');",
    },
    says: ['src/commands/a.ts imports src/droplets/send.ts', 'src/commands/a.ts imports src/droplets/run.ts'],
  },
  {
    name: 'a door that does more than pass names on',
    rule: layers.doorsOnlyPassOn,
    good: { 'src/droplets/index.ts': "// The door.\nexport {\n  a,\n  type B,\n} from './a.ts';" },
    bad: { 'src/droplets/index.ts': "import { a } from './a.ts';\nexport const b = a;\nexport { c } from './c.ts';" },
    says: ["src/droplets/index.ts: import { a } from './a.ts';", 'src/droplets/index.ts: export const b = a;'],
  },
  {
    name: 'a child that inherits every secret',
    rule: text.childrenAreStartedInOnePlace,
    good: {
      'src/platform/external-program.ts': "import { spawn } from 'node:child_process';",
      'src/platform/pager.ts': "import type { ChildProcess } from 'node:child_process';",
      'src/sandbox/state/state-folder.ts':
        "import { spawnSync } from 'node:child_process';\nspawnSync('flock', { env: { PATH: path } });",
    },
    bad: {
      'src/platform/pager.ts': "import { type ChildProcess, spawn } from 'child_process';",
      'src/sandbox/state/state-folder.ts': "spawnSync('flock', { stdio });",
    },
    says: [
      "src/platform/pager.ts:1: import { type ChildProcess, spawn } from 'child_process';",
      'src/sandbox/state/state-folder.ts starts a child without an environment of its own',
    ],
  },
  {
    name: 'a message of the API that names an option',
    rule: text.apiMessagesNameNoOption,
    good: {
      'src/db/engine/a.ts': "run(path, ['--version']); throw new Error(name + ' needs a superuser');",
      'src/sandbox/start.ts': "const hint = 'name another folder with `--state`';",
    },
    bad: {
      'src/db/engine/a.ts': 'throw new Error(`it needs a superuser, see --allow`);',
      'src/sandbox/v2/a.ts': "reply('give `--size`');",
    },
    says: ['src/db/engine/a.ts: it needs a superuser, see --allow', 'src/sandbox/v2/a.ts: give `--size`'],
  },
  {
    name: 'a sandbox that uses the client',
    rule: layers.sandboxImportsOnlyTheEngine,
    good: { 'src/sandbox/a.ts': "import '../db/engine/move.ts'; import { Hono } from 'hono'; import './b.ts';" },
    bad: { 'src/sandbox/a.ts': "import type { Secret } from '../base/secret.ts';" },
    says: ['src/sandbox/a.ts imports src/base/secret.ts'],
  },
  {
    name: 'a client that uses the sandbox',
    rule: layers.sandboxIsImportedByItsCommands,
    good: {
      'src/commands/sandbox/start.ts': "import { startSandbox } from '../../sandbox/sandbox.ts';",
      'test/e2e/a.test.ts': "import { startSandbox } from '../../src/sandbox/sandbox.ts';",
    },
    bad: { 'src/commands/doctor.ts': "const load = () => import('../sandbox/sandbox.ts');" },
    says: ['src/commands/doctor.ts imports src/sandbox/sandbox.ts'],
  },
  {
    name: 'an entry that loads the program at once, or more than its answers need',
    rule: layers.entryImportsLittle,
    good: {
      'src/entry.ts':
        "import { readFileSync } from 'node:fs'; import { v } from './base/version.ts'; import './auth/session/token.ts'; const load = () => import('./main.ts');",
    },
    bad: {
      'src/entry.ts': "import { run } from './main.ts'; import './auth/session/refresh.ts'; import 'commander';",
    },
    says: [
      'src/entry.ts imports src/main.ts',
      'src/entry.ts imports src/auth/session/refresh.ts',
      'src/entry.ts imports commander',
    ],
  },
  {
    name: 'a program that imports its tests',
    rule: layers.sourcesImportNoTests,
    good: { 'test/a.test.ts': "import '../src/base/errors.ts';" },
    bad: { 'src/main.ts': "import '../test/fixtures/cli.ts';" },
    says: ['src/main.ts imports test/fixtures/cli.ts'],
  },
  {
    name: 'a circle of imports',
    rule: graph.noCycles,
    good: { 'src/cli/a.ts': "import './b.ts';", 'src/cli/b.ts': "const load = () => import('./c.ts');" },
    bad: {
      'src/cli/a.ts': "import './b.ts';",
      'src/cli/b.ts': "import type { C } from './c.ts';",
      'src/cli/c.ts': "export { a } from './a.ts';",
      'src/cli/d.ts': "import './e.ts';",
      'src/cli/e.ts': "const load = () => import('./d.ts');",
    },
    says: [
      'src/cli/a.ts -> src/cli/b.ts -> src/cli/c.ts -> src/cli/a.ts',
      'src/cli/d.ts -> src/cli/e.ts -> src/cli/d.ts',
    ],
  },
  {
    name: 'a file that nothing loads',
    rule: graph.everyFileIsReachable,
    good: { 'src/entry.ts': "const load = () => import('./main.ts');", 'src/main.ts': '' },
    bad: { 'src/main.ts': '', 'src/db/preflight/checks/forgotten.ts': '' },
    says: ['src/db/preflight/checks/forgotten.ts'],
  },
  {
    name: 'a tree that reads every command',
    rule: graph.commandsAreLoadedLazily,
    good: {
      'src/commands/index.ts': "import type { Spec } from '../cli/command.ts'; const l = () => import('./api.ts');",
    },
    bad: { 'src/commands/index.ts': "import { api } from './api.ts';" },
    says: ['src/commands/index.ts imports src/commands/api.ts statically'],
  },
  {
    name: 'a start that reads a package',
    rule: graph.startLoadsFewPackages,
    good: {
      'src/main.ts': "import { Command } from 'commander'; import './cli/a.ts'; import type { X } from 'hono';",
      'src/cli/a.ts': "import 'node:fs'; const load = () => import('./b.ts');",
      'src/cli/b.ts': "import 'inquirer';",
    },
    bad: { 'src/main.ts': "import './cli/a.ts';", 'src/cli/a.ts': "import chalk from 'chalk';" },
    says: ['src/cli/a.ts imports chalk at every start'],
  },
  {
    name: 'an import of a file that is not there',
    rule: text.pathsAreWhole,
    good: { 'src/a.ts': "import './b.ts';", 'src/b.ts': '' },
    bad: { 'src/a.ts': "import './b.js';", 'src/b.ts': '' },
    says: ['src/a.ts imports src/b.js, which is no file'],
  },
  {
    name: 'a secret revealed elsewhere, and a list that is stale',
    rule: text.secretsStayInside(['src/auth/session/store.ts']),
    good: {
      'src/auth/session/store.ts': 'save(token.reveal());',
      'src/base/secret.ts': 'reveal(): string {}',
    },
    bad: { 'src/auth/session/store.ts': '', 'src/cli/print.ts': 'print(token.reveal());' },
    says: [
      'src/cli/print.ts reveals a secret and is not in the list',
      'src/auth/session/store.ts is in the list and reveals nothing',
    ],
  },
  {
    name: 'a process that is ended',
    rule: text.processExitIsNotCalled,
    good: { 'src/entry.ts': 'process.exitCode = 1;', 'scripts/a.mjs': 'process.exit(1)' },
    bad: { 'src/entry.ts': 'process.exit(1);' },
    says: ['src/entry.ts:1: process.exit(1);'],
  },
  {
    name: 'a time limit that a garbage collection removes',
    rule: text.timeLimitsOutliveGarbageCollection,
    good: { 'src/api/a.ts': 'timeoutSignal(5, until)', 'test/api/a.test.ts': 'AbortSignal.timeout(5)' },
    bad: { 'src/api/a.ts': 'AbortSignal.any([until, AbortSignal.timeout(5)])' },
    says: ['src/api/a.ts:1: AbortSignal.any([until, AbortSignal.timeout(5)])'],
  },
  {
    name: 'a statement that is sent to PostgreSQL beside the one function',
    rule: text.postgresqlStatementsHaveOnePlace,
    good: {
      'src/postgresql/statement.ts': 'await client.query(text);',
      'src/db/engine/a.ts': 'await session.query(text);',
      'src/postgresql/pg.ts': "export { default as Client } from 'pg/lib/client.js';",
    },
    bad: { 'src/postgresql/b.ts': 'await client.query(text);', 'src/db/watch/c.ts': "import pg from 'pg';" },
    says: ['src/postgresql/b.ts:1: await client.query(text);', "src/db/watch/c.ts:1: import pg from 'pg';"],
  },
  {
    name: 'a machine or a registry named',
    rule: text.noMachineIsNamed,
    good: { 'README.md': 'the npm registry, network/postgresql, a framework/tool' },
    bad: { 'README.md': `see /${'work'}/main`, '.npmrc': `https://registry.${'npmjs'}.org` },
    says: [`.npmrc:1: https://registry.${'npmjs'}.org`, `README.md:1: see /${'work'}/main`],
  },
  {
    name: 'a name that two files of a room export',
    rule: layers.namesAreUniqueInTheirRoom,
    good: {
      'src/cli/a.ts': 'export interface Row {}\nexport const a = 1;',
      'src/cli/b.ts': "export { a } from './a.ts';\nconst b = 1;",
      'src/auth/oauth/c.ts': 'export type Row = 1;',
    },
    bad: { 'src/cli/a.ts': 'export interface Row {}', 'src/cli/b.ts': 'export function Row() {}' },
    says: ['Row of cli is exported by src/cli/a.ts, src/cli/b.ts'],
  },
  {
    name: 'a command without its test',
    rule: tests.everyCommandHasItsTest,
    good: {
      'src/commands/index.ts': "const load = () => import('./auth/login.ts');",
      'src/commands/auth/login.ts': "import './shared.ts';",
      'src/commands/auth/shared.ts': '',
      'test/commands/auth/login.test.ts': '',
    },
    bad: {
      'src/commands/index.ts': "const load = () => import('./auth/login.ts');",
      'src/commands/auth/login.ts': 'export const login = 1;',
      'test/commands/index.test.ts': "import '../../src/commands/index.ts';",
    },
    says: ['src/commands/auth/login.ts is a command without its test: test/commands/auth/login.test.ts is missing'],
  },
  {
    name: 'a check without its file or its test',
    rule: tests.everyCheckHasItsTest({ redis: ['a', 'b'] }),
    good: {
      'src/db/preflight/redis/checks/a.ts': '',
      'src/db/preflight/redis/checks/b.ts': '',
      'test/db/preflight/redis/checks/a.test.ts': '',
      'test/db/preflight/redis/checks/b.test.ts': '',
    },
    bad: { 'src/db/preflight/redis/checks/a.ts': '', 'test/db/preflight/redis/checks/b.test.ts': '' },
    says: [
      'the redis check a has no test: test/db/preflight/redis/checks/a.test.ts',
      'the redis check b is not in src/db/preflight/redis/checks/b.ts',
    ],
  },
  {
    name: 'an endpoint that no test requests',
    rule: tests.everyEndpointHasItsTest([
      { method: 'GET', path: '/v2/things/{id}' },
      { method: 'PUT', path: '/v2/things/{id}' },
    ]),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a test.
    good: { 'test/sandbox/a.test.ts': "get('/v2/things/7?x=1'); put(`/v2/things/${id}`, {});" },
    bad: { 'test/sandbox/a.test.ts': "get('/v2/things'); get('/v2/things/7/parts'); put('/v2/things', {});" },
    says: [
      'no test of the sandbox names GET /v2/things/{id} in one literal',
      'no test of the sandbox names PUT /v2/things/{id} in one literal',
    ],
  },
  {
    name: 'a test that repeats wording of the program',
    rule: wordingIsInGoldenFiles,
    good: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a file.
      'src/a.ts': "throw usage(`could not read ${path}: it is gone`, 'run `cloudctl auth login` again');",
      'test/a.test.ts':
        "expect(error).toMatchObject({ code: 'usage' }); expect(hint).toContain('cloudctl auth login');",
      'test/b.test.ts': "const text = 'could not read it'; expect(text).toMatch(/the server ended the session/);",
    },
    bad: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source of a file.
      'src/a.ts': 'throw usage(`could not read ${path}`);',
      'test/a.test.ts': '\nexpect(error).toMatchObject({ message: expect.stringMatching(/^could not read .*/) });',
    },
    says: ['test/a.test.ts:2: asserts the wording "could not read"'],
  },
  {
    name: 'a golden section whose test file is gone',
    rule: goldenSectionsHaveTests,
    good: {
      'test/golden/a.txt': '# test/a.test.ts > a test\nwords\n\n# a heading\n',
      'test/a.test.ts': '',
    },
    bad: {
      'test/golden/a.txt': '# test/b.test.ts > a test > text\nwords\n\n# test/b.test.ts > another\nwords\n',
      'test/golden/e2e/b.txt': '# a test\nwords\n',
    },
    says: [
      'test/golden/a.txt has sections of test/b.test.ts, which does not exist',
      'test/golden/e2e/b.txt does not begin with a section',
    ],
  },
  {
    name: 'an architecture page that is out of date',
    rule: tests.architecturePageIsCurrent(layers.layerNumber),
    good: {
      'src/auth/oauth/a.ts': '',
      'src/sandbox/a.ts': '',
      'docs/architecture.md': page('| `auth/oauth` | 7 | protocol |\n| `sandbox` | - | apart |'),
    },
    bad: {
      'src/auth/oauth/a.ts': '',
      'src/cli/a.ts': '',
      'docs/architecture.md': page('| `auth/oauth` | 5 | protocol |\n| `gone` | 2 | nothing |'),
    },
    says: [
      'the page lacks cli in layer 7',
      'the page lacks auth/oauth in layer 7',
      'the page has gone in layer 2, which is not so',
      'the page has auth/oauth in layer 5, which is not so',
    ],
  },
];

test.each(samples)('$name is noticed, and its right form is not', ({ rule, good, bad, says }) => {
  expect(rule(makeProject(good))).toEqual([]);
  expect([...rule(makeProject(bad))].sort()).toEqual([...says].sort());
});
