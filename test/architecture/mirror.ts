import { transformSync } from 'esbuild';
import { floorNumber } from './floors.ts';
import { type Project, type Rule, room, sources } from './project.ts';

/** Files without a test of their own, each with what tests them instead. A folder ends with a slash. */
const elsewhere: Readonly<Record<string, string>> = {
  'src/entry.ts': 'the end-to-end tests run the whole program',
};

/**
 * `src/a/b.ts` is tested by `test/a/b.test.ts`, or by a test of the same room that imports it. A file that no other room
 * uses is tested with those of its room that use it, a command by an end-to-end test that types its words, and a file of
 * types alone has nothing to test.
 */
export const everyFileHasItsTest =
  (excused: Readonly<Record<string, string>> = elsewhere): Rule =>
  (project) => {
    const bare = sources(project).filter((path) => !isTested(project, path) && !isTypesOnly(project, path));
    const covers = (entry: string, path: string): boolean =>
      path === entry || (entry.endsWith('/') && path.startsWith(entry));
    const entries = Object.keys(excused);
    return [
      ...bare
        .filter((path) => !entries.some((entry) => covers(entry, path)))
        .map((path) => `${path} has no test: ${mirror(path)} is missing, and no test of its room imports it`),
      ...entries
        .filter((entry) => !bare.some((path) => covers(entry, path)))
        .map((entry) => `${entry} is excused and needs it no more`),
    ];
  };

/** docs/architecture.md has one row for each room, with its floor: `| \`oauth\` | 6 | what it is for |`. */
export const thePlanIsTrue: Rule = (project) => {
  const page = project.files['docs/architecture.md'];
  if (page === undefined) return ['docs/architecture.md is missing'];
  const said = [...page.matchAll(/^\|\s*`([\w-]+)\/?`\s*\|\s*(\d+|-)\s*\|/gm)].map(([, name, floor]) =>
    row(name!, floor!),
  );
  const rooms = new Set(sources(project).flatMap((path) => room(path) ?? []));
  const real = [...rooms].map((name) => row(name, String(floorNumber(name) ?? '-')));
  return [
    ...real.filter((line) => !said.includes(line)).map((line) => `the plan lacks ${line}`),
    ...said.filter((line) => !real.includes(line)).map((line) => `the plan says ${line}`),
    ...said.filter((line, at) => said.indexOf(line) !== at).map((line) => `the plan says twice ${line}`),
  ];
};

function row(name: string, floor: string): string {
  return `${name} on floor ${floor}`;
}

function isTested(project: Project, path: string, seen: readonly string[] = []): boolean {
  if (mirror(path) in project.files) return true;
  if (path.startsWith('src/commands/') && isTyped(project, path)) return true;
  const users = project.imports.filter(({ to, kind }) => to === path && kind !== 'type').map(({ from }) => from);
  if (users.some((user) => user.startsWith(`test/${room(path)}/`))) return true;
  const own = [...new Set(users)].filter((user) => user.startsWith('src/') && !seen.includes(user));
  return own.every((user) => room(user) === room(path)) && own.some((user) => isTested(project, user, [...seen, path]));
}

/** The words of a command are the path of its file: `src/commands/auth/login.ts` is `auth login`. */
function isTyped(project: Project, path: string): boolean {
  const words = path.slice('src/commands/'.length, -'.ts'.length).split('/');
  const typed = new RegExp(`\\b${words.join(`['", ]+`)}\\b`);
  return Object.keys(project.files).some((test) => test.startsWith('test/e2e/') && typed.test(project.files[test]!));
}

function mirror(path: string): string {
  return path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
}

function isTypesOnly(project: Project, path: string): boolean {
  return transformSync(project.files[path]!, { loader: 'ts', format: 'esm' }).code.trim() === '';
}
