import { expect, test } from 'vitest';
import * as floors from './floors.ts';
import * as graph from './graph.ts';
import * as mirror from './mirror.ts';
import { makeProject, type Rule } from './project.ts';
import * as text from './text.ts';

type Files = Readonly<Record<string, string>>;

interface Sample {
  readonly name: string;
  readonly rule: Rule;
  readonly good: Files;
  readonly bad: Files;
  /** What the rule must say of the bad tree; more than one when it has more than one breach. */
  readonly says: readonly string[];
}

const plan = (rows: string): string => `# Plan\n\n| room | floor | for |\n|---|---|---|\n${rows}\n`;
const long = (lines: number): string => 'export const a = 1;\n'.repeat(lines);

const samples: readonly Sample[] = [
  {
    name: 'a room on no floor',
    rule: floors.everyRoomHasAFloor,
    good: { 'src/oauth/a.ts': '', 'src/errors.ts': '', 'src/sandbox/a.ts': '', 'test/strange/a.ts': '' },
    bad: { 'src/helpers/a.ts': '', 'src/helpers/b.ts': '' },
    says: ['src/helpers is on no floor'],
  },
  {
    name: 'an import that goes up',
    rule: floors.importsGoDown,
    good: { 'src/session/a.ts': "import { b } from '../oauth/b.ts';", 'src/oauth/b.ts': "import './c.ts';" },
    bad: { 'src/oauth/b.ts': "import { a } from '../session/a.ts';" },
    says: ['src/oauth/b.ts imports src/session/a.ts (oauth is not above session)'],
  },
  {
    name: 'an import that goes sideways, for a type',
    rule: floors.importsGoDown,
    good: { 'src/api/a.ts': "import type { Host } from '../platform/host.ts';" },
    bad: { 'src/api/a.ts': "import type { Grant } from '../oauth/grant.ts';" },
    says: ['src/api/a.ts imports src/oauth/token-grant.ts (api is not above oauth)'],
  },
  {
    name: 'an import that goes up, when it runs',
    rule: floors.importsGoDown,
    good: { 'src/main.ts': "export const load = () => import('./commands/index.ts');" },
    bad: { 'src/cli/a.ts': "export const load = () => import('../commands/index.ts');" },
    says: ['src/cli/a.ts imports src/commands/index.ts (cli is not above commands)'],
  },
  {
    name: 'an export that goes up',
    rule: floors.importsGoDown,
    good: { 'src/main.ts': "export { a } from './context.ts';" },
    bad: { 'src/secret.ts': "export * from './platform/files.ts';" },
    says: ['src/secret.ts imports src/platform/files.ts (secret is not above platform)'],
  },
  {
    name: 'a sandbox that uses the client',
    rule: floors.sandboxIsClosed,
    good: { 'src/sandbox/a.ts': "import '../engine/move.ts'; import { Hono } from 'hono'; import './b.ts';" },
    bad: { 'src/sandbox/a.ts': "import type { Secret } from '../secret.ts';" },
    says: ['src/sandbox/a.ts imports src/secret.ts'],
  },
  {
    name: 'a client that uses the sandbox',
    rule: floors.sandboxHasOneDoor,
    good: {
      'src/commands/sandbox/start.ts': "import { startSandbox } from '../../sandbox/server.ts';",
      'test/e2e/a.test.ts': "import { startSandbox } from '../../src/sandbox/sandbox.ts';",
    },
    bad: { 'src/commands/doctor.ts': "const load = () => import('../sandbox/server.ts');" },
    says: ['src/commands/doctor.ts imports src/sandbox/sandbox.ts'],
  },
  {
    name: 'an entry that loads the program at once, or more than its answers need',
    rule: floors.entryIsSmall,
    good: {
      'src/entry.ts':
        "import { readFileSync } from 'node:fs'; import { v } from './version.ts'; import './session/place.ts'; const load = () => import('./main.ts');",
    },
    bad: { 'src/entry.ts': "import { run } from './main.ts'; import './session/refresh.ts'; import 'commander';" },
    says: [
      'src/entry.ts imports src/main.ts',
      'src/entry.ts imports src/session/refresh-session.ts',
      'src/entry.ts imports commander',
    ],
  },
  {
    name: 'a program that imports its tests',
    rule: floors.sourcesImportNoTests,
    good: { 'test/a.test.ts': "import '../src/errors.ts';" },
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
    rule: graph.everyFileIsReached,
    good: { 'src/entry.ts': "const load = () => import('./main.ts');", 'src/main.ts': '' },
    bad: { 'src/main.ts': '', 'src/preflight/checks/forgotten.ts': '' },
    says: ['src/preflight/checks/forgotten.ts'],
  },
  {
    name: 'a command without its line',
    rule: graph.everyCommandIsInTheTree,
    good: {
      'src/commands/index.ts': "export const tree = { load: () => import('./auth/login.ts') };",
      'src/commands/auth/login.ts': "import { shown } from './shown.ts';",
      'src/commands/auth/shown.ts': '',
    },
    bad: { 'src/commands/index.ts': '', 'src/commands/auth/login.ts': '' },
    says: ['src/commands/auth/login.ts'],
  },
  {
    name: 'a tree that reads every command',
    rule: graph.theTreeLoadsOnlyWhatIsTyped,
    good: {
      'src/commands/index.ts': "import type { Spec } from '../cli/command.ts'; const l = () => import('./api.ts');",
    },
    bad: { 'src/commands/index.ts': "import { api } from './api.ts';" },
    says: ['src/commands/index.ts imports src/commands/api.ts at once'],
  },
  {
    name: 'a start that reads a package',
    rule: graph.startUpReadsLittle,
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
    name: 'a long file',
    rule: text.filesAreShort,
    good: { 'src/a.ts': long(250), 'test/a.test.ts': long(300) },
    bad: { 'src/a.ts': long(251) },
    says: ['src/a.ts has 251 lines'],
  },
  {
    name: 'a secret revealed elsewhere, and a list that is stale',
    rule: text.secretsStayInside(['src/session/credential-store.ts']),
    good: { 'src/session/credential-store.ts': 'save(token.reveal());', 'src/secret.ts': 'reveal(): string {}' },
    bad: { 'src/session/credential-store.ts': '', 'src/cli/print.ts': 'print(token.reveal());' },
    says: [
      'src/cli/print.ts reveals a secret and is not in the list',
      'src/session/credential-store.ts is in the list and reveals nothing',
    ],
  },
  {
    name: 'a process that is ended',
    rule: text.nobodyEndsTheProcess,
    good: { 'src/entry.ts': 'process.exitCode = 1;', 'scripts/a.mjs': 'process.exit(1)' },
    bad: { 'src/entry.ts': 'process.exit(1);' },
    says: ['src/entry.ts:1: process.exit(1);'],
  },
  {
    name: 'a type cast away',
    rule: text.typesAreTight,
    good: { 'src/a.ts': `// as good as ${'any'}; the same as ${'any'} other`, 'test/a.test.ts': 'const a = b as Any;' },
    bad: { 'src/a.ts': `const a = (b as ${'any'}).c;` },
    says: [`src/a.ts:1: const a = (b as ${'any'}).c;`],
  },
  {
    name: 'a file left unfinished',
    rule: text.nothingIsUnfinished,
    good: { 'src/a.ts': '// the list of what to do', 'docs/a.md': `${'TO'}DO` },
    bad: { 'src/a.ts': `\n// ${'TO'}DO: the rest` },
    says: [`src/a.ts:2: // ${'TO'}DO: the rest`],
  },
  {
    name: 'a machine or a registry named',
    rule: text.noMachineIsNamed,
    good: { 'README.md': 'the npm registry, network/postgresql, a framework/tool' },
    bad: { 'README.md': `see /${'work'}/main`, '.npmrc': `https://registry.${'npmjs'}.org` },
    says: [`.npmrc:1: https://registry.${'npmjs'}.org`, `README.md:1: see /${'work'}/main`],
  },
  {
    name: 'a default export',
    rule: text.exportsAreNamed,
    good: { 'src/a.ts': "export { default as Agent } from 'undici';", 'vitest.config.ts': 'export default {};' },
    bad: { 'src/a.ts': 'export default function a() {}', 'src/b.ts': "export { default } from 'undici';" },
    says: ['src/a.ts has a default export', 'src/b.ts has a default export'],
  },
  {
    name: 'a class that is none of the three',
    rule: text.classesAreFew,
    good: { 'src/a.ts': 'export class CliError extends Error {}\nexport class Secret {}\nclass World {}' },
    bad: { 'src/a.ts': 'export class Manager extends Base {}' },
    says: ['src/a.ts has the class Manager'],
  },
  {
    name: 'a source without its test, and an excuse that is stale',
    rule: mirror.everyFileHasItsTest({ 'src/cli/c.ts': 'prints a constant' }),
    good: {
      'src/cli/a.ts': "import { part } from './part.ts';\nexport const a = part;",
      'src/cli/part.ts': 'export const part = 1;',
      'test/cli/a.test.ts': "import { e } from '../../src/cli/e.ts';",
      'src/cli/b.ts': "import type { X } from './x.ts';\nexport interface B { readonly x: X }",
      'src/cli/c.ts': 'export const c = 1;',
      'src/cli/e.ts': 'export const e = 1;',
      'src/commands/auth/login.ts': 'export const login = 1;',
      'test/e2e/login.test.ts': "run(['auth', 'login']);",
    },
    bad: {
      'src/cli/a.ts': 'export const a = 1;',
      'test/cli/b.test.ts': "import type { A } from '../../src/cli/a.ts';",
      'test/oauth/b.test.ts': "import { a } from '../../src/cli/a.ts';",
      'src/cli/shared.ts': 'export const shared = 1;',
      'src/cli/x.ts': "import './shared.ts'; export const x = 1;",
      'src/context.ts': "import './cli/shared.ts'; export const context = 1;",
      'test/cli/x.test.ts': '',
      'test/context.test.ts': '',
      'src/commands/auth/login.ts': 'export const login = 1;',
      'test/e2e/login.test.ts': "run(['auth', 'logins']);",
    },
    says: [
      ...['cli/a', 'cli/shared', 'commands/auth/login'].map(
        (path) => `src/${path}.ts has no test: test/${path}.test.ts is missing, and no test of its room imports it`,
      ),
      'src/cli/c.ts is excused and needs it no more',
    ],
  },
  {
    name: 'a floor plan that is not true',
    rule: mirror.thePlanIsTrue,
    good: {
      'src/oauth/a.ts': '',
      'src/sandbox/a.ts': '',
      'docs/architecture.md': plan('| `oauth` | 6 | protocol |\n| `sandbox` | - | apart |'),
    },
    bad: {
      'src/oauth/a.ts': '',
      'src/cli/a.ts': '',
      'docs/architecture.md': plan('| `oauth` | 5 | protocol |\n| `gone` | 2 | nothing |'),
    },
    says: [
      'the plan lacks cli on floor 6',
      'the plan lacks oauth on floor 6',
      'the plan says gone on floor 2',
      'the plan says oauth on floor 5',
    ],
  },
];

test.each(samples)('$name is noticed, and its right form is not', ({ rule, good, bad, says }) => {
  expect(rule(makeProject(good))).toEqual([]);
  expect([...rule(makeProject(bad))].sort()).toEqual([...says].sort());
});
