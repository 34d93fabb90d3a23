import { type Import, type Project, type Rule, room } from './project.ts';

/** Top to bottom. A room imports from the floors below it: never up, never from a neighbour. */
export const floors: readonly (readonly string[])[] = [
  ['entry'],
  ['main'],
  ['commands'],
  ['context', 'rehearsal'],
  ['session', 'batch', 'preflight', 'watch', 'engine', 'doctor'],
  ['db-source'],
  ['oauth', 'loopback', 'api', 'postgresql', 'redis', 'cli', 'config'],
  ['platform'],
  ['errors', 'secret', 'json', 'version'],
  ['exact'],
];

/** The sandbox is the specification read a second time, so it stands beside the house. */
const closed = 'sandbox';

/** What the two fast answers are made of; everything else is loaded when it is wanted. */
const entryMayImport =
  /^src\/(version\.ts|config\/.+|session\/(credential-record|profile-paths|fast-path-token)\.ts|platform\/.+)$/;

export const everyRoomHasAFloor: Rule = (project) => {
  const known = new Set([...floors.flat(), closed]);
  const rooms = Object.keys(project.files).flatMap((path) => room(path) ?? []);
  return [...new Set(rooms)].filter((name) => !known.has(name)).map((name) => `src/${name} is on no floor`);
};

export const importsGoDown: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper !== closed && lower !== closed && floorOf(upper) >= floorOf(lower))
    .map(({ edge, upper, lower }) => `${told(edge)} (${upper} is not above ${lower})`);

export const sandboxIsClosed: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper === closed && lower !== 'engine')
    .map(({ edge }) => told(edge));

export const sandboxHasOneDoor: Rule = (project) =>
  project.imports
    .filter(({ from, to }) => room(to) === closed && room(from) !== closed)
    .filter(({ from }) => !/^(test\/|src\/commands\/sandbox[./])/.test(from))
    .map(told);

export const entryIsSmall: Rule = (project) =>
  project.imports
    .filter(({ from }) => from === 'src/entry.ts')
    .filter(({ to, kind }) => {
      if (to === 'src/main.ts') return kind === 'value';
      return !to.startsWith('node:') && !entryMayImport.test(to);
    })
    .map(told);

export const sourcesImportNoTests: Rule = (project) =>
  project.imports.filter(({ from, to }) => from.startsWith('src/') && /^(test|scripts|bench)\//.test(to)).map(told);

/** The floor counted from the top, which is 1; undefined for a room that has none. */
export function floorNumber(name: string): number | undefined {
  const at = floors.findIndex((floor) => floor.includes(name));
  return at < 0 ? undefined : at + 1;
}

interface Crossing {
  readonly edge: Import;
  readonly upper: string;
  readonly lower: string;
}

/** The imports that lead from one room of src into another. */
function between(project: Project): readonly Crossing[] {
  return project.imports.flatMap((edge) => {
    const upper = room(edge.from);
    const lower = room(edge.to);
    return upper === undefined || lower === undefined || upper === lower ? [] : [{ edge, upper, lower }];
  });
}

/** A room that is on no floor is reported by a rule of its own and passes here. */
function floorOf(name: string): number {
  return floorNumber(name) ?? Number.NaN;
}

function told({ from, to }: Import): string {
  return `${from} imports ${to}`;
}
