import { type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

/** The files in which a secret's value leaves the process: requests, stores, child processes. */
const revealing: readonly string[] = [
  'src/api/client.ts',
  'src/api/start-online-migration.ts',
  'src/auth/oauth/token.ts',
  'src/auth/session/command.ts',
  'src/auth/session/journal.ts',
  'src/auth/session/record.ts',
  'src/auth/session/run.ts',
  'src/auth/session/store.ts',
  'src/base/redact.ts',
  'src/base/secret.ts',
  'src/commands/auth/token.ts',
  'src/db/engine/journal.ts',
  'src/db/engine/postgresql/objects.ts',
  'src/db/engine/redis/replica.ts',
  'src/db/engine/schema/pg-dump.ts',
  'src/droplets/request.ts',
  'src/entry.ts',
  'src/library/session.ts',
  'src/postgresql/connection.ts',
  'src/redis/resp.ts',
];

/** Hosts of registries and paths of one machine. Joined from parts, so that this file does not contain them. */
const machineWords = [
  ['registry', 'npmjs'].join('.'),
  ['registry', 'yarnpkg'].join('.'),
  ['deb', 'debian', 'org'].join('.'),
  ['', 'work', ''].join('/'),
  ['', 'farm', ''].join('/'),
];

export const secretsStayInside =
  (allowed: readonly string[] = revealing): Rule =>
  (project) => {
    const users = sources(project).filter((path) => /\.reveal\(/.test(project.files[path]!));
    const unlisted = users.filter((path) => !allowed.includes(path));
    const stale = allowed.filter((path) => !users.includes(path));
    return [
      ...unlisted.map((path) => `${path} reveals a secret and is not in the list`),
      ...stale.map((path) => `${path} is in the list and reveals nothing`),
    ];
  };

/** The one exception ends the process without a message when the reader of its output is gone (`… | head`). */
export const processExitIsNotCalled: Rule = (project) =>
  lines(project.files, /^src\/(?!platform\/system-host\.ts$)/, /\bprocess\.exit\s*\(/);

/**
 * `AbortSignal.any` refers to its signals weakly: in Node 20 a garbage collection removes an `AbortSignal.timeout` from such a
 * combination, which then never aborts. `timeoutSignal` has a timer that keeps its signal.
 */
export const timeLimitsOutliveGarbageCollection: Rule = (project) =>
  lines(project.files, /^src\//, /\bAbortSignal\.timeout\s*\(/);

/** A later rule about statements, such as a fixed search_path, has one place then. */
export const postgresqlStatementsHaveOnePlace: Rule = (project) => [
  ...lines(project.files, /^src\/(?!postgresql\/statement\.ts$)/, /\b(?:client|connection)\.query\s*\(/),
  ...lines(
    project.files,
    /^src\/(?!postgresql\/)/,
    /from 'pg(?:\/[^']*)?'|import\('pg(?:\/[^']*)?'\)|postgresql\/pg\.ts'/,
  ),
];

/**
 * What starts a child decides what it inherits: external-program.ts leaves the secrets out. The sandbox, which imports nothing of the
 * program, has one child of its own, with a fixed environment.
 */
export const childrenAreStartedInOnePlace: Rule = (project) => [
  ...lines(
    project.files,
    /^src\/(?!platform\/external-program\.ts$|sandbox\/state\/state-folder\.ts$)/,
    /^(?!import type ).*['"](?:(?:node:)?child_process|node:cluster)['"]/,
  ),
  ...Object.entries(project.files)
    .filter(([path, text]) => path === 'src/sandbox/state/state-folder.ts' && !/\benv: \{ PATH: /.test(text))
    .map(([path]) => `${path} starts a child without an environment of its own`),
];

/** Who reads a message of the API has sent a request, and has not typed an option. Arguments of programs begin with the option. */
export const apiMessagesNameNoOption: Rule = (project) =>
  sources(project)
    .filter((path) => /^src\/(db\/engine|sandbox\/(v2|oauth|http))\//.test(path))
    .flatMap((path) =>
      syntaxOf(path, project.files[path]!)
        .literals.filter((literal) => /[\s(`'"]--[a-z]/.test(literal))
        .map((literal) => `${path}: ${literal}`),
    );

export const noMachineIsNamed: Rule = (project) =>
  machineWords.flatMap((word) => lines(project.files, /./, new RegExp(word.replaceAll('.', '\\.'))));

/** The compiler takes the extension `.js` for `.ts`, and the rules about layers and cycles would not see that import. */
export const pathsAreWhole: Rule = (project) =>
  project.imports
    .filter(({ from, to }) => from.startsWith('src/') && to.startsWith('src/') && !(to in project.files))
    .map(({ from, to }) => `${from} imports ${to}, which is no file`);

/** Lines of the files under `where` that match, each with its place. */
function lines(files: Readonly<Record<string, string>>, where: RegExp, pattern: RegExp): readonly string[] {
  return Object.entries(files)
    .filter(([path]) => where.test(path))
    .flatMap(([path, text]) =>
      text.split('\n').flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
    );
}
