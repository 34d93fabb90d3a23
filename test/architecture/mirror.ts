import { transformSync } from 'esbuild';
import { floorNumber } from './floors.ts';
import { type Project, type Rule, room, sources } from './project.ts';

/** Files of code without a test of their own, each with the reason. */
const untested: Readonly<Record<string, string>> = {};

/** `src/a/b.ts` is tested by `test/a/b.test.ts`; a file of types alone has nothing to test. */
export const everyFileHasItsTest =
  (excused: Readonly<Record<string, string>> = untested): Rule =>
  (project) => {
    const bare = sources(project).filter((path) => !(mirror(path) in project.files) && !isTypesOnly(project, path));
    const stale = Object.keys(excused).filter((path) => !bare.includes(path));
    return [
      ...bare.filter((path) => !(path in excused)).map((path) => `${path} has no ${mirror(path)}`),
      ...stale.map((path) => `${path} is excused and needs it no more`),
    ];
  };

/** docs/architecture.md has one row for each room, with its floor: `| \`oauth\` | 6 | what it is for |`. */
export const thePlanIsTrue: Rule = (project) => {
  const page = project.files['docs/architecture.md'];
  if (page === undefined) return ['docs/architecture.md is missing'];
  const rows = [...page.matchAll(/^\|\s*`([\w-]+)\/?`\s*\|\s*(\d+|-)\s*\|/gm)].map((match) => [match[1]!, match[2]!]);
  const rooms = [...new Set(sources(project).flatMap((path) => room(path) ?? []))];
  const wanted = rooms.map((name) => [name, String(floorNumber(name) ?? '-')]);
  const said = (row: readonly string[]): string => `${row[0]} on floor ${row[1]}`;
  const known = new Set(rows.map(said));
  const real = new Set(wanted.map(said));
  const twice = rows.map(said).filter((row, at, all) => all.indexOf(row) !== at);
  return [
    ...wanted
      .map(said)
      .filter((row) => !known.has(row))
      .map((row) => `the plan lacks ${row}`),
    ...rows
      .map(said)
      .filter((row) => !real.has(row))
      .map((row) => `the plan says ${row}`),
    ...twice.map((row) => `the plan says twice: ${row}`),
  ];
};

function mirror(path: string): string {
  return path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
}

function isTypesOnly(project: Project, path: string): boolean {
  return transformSync(project.files[path]!, { loader: 'ts', format: 'esm' }).code.trim() === '';
}
