import { type Import, type Project, type Rule, sources } from './project.ts';

/** The files that the build starts from. */
const entries = [
  'src/entry.ts',
  'src/standalone.ts',
  'src/main.ts',
  'src/platform/keychain-child.ts',
  ...['loopback', 'preflight', 'sandbox', 'session'].map((part) => `src/library/${part}.ts`),
];

/** Packages that are loaded at every start; all others are loaded when they are needed. */
const startPackages = ['commander'];

/** A dynamic import counts: it makes two files depend on each other as much as a static one. */
export const noCycles: Rule = (project) => {
  const edges = edgesOf(project);
  const done = new Set<string>();
  const cycles = sources(project).flatMap((start) => {
    const cycle = findCycle(start, edges, done, []);
    return cycle === undefined ? [] : [cycle];
  });
  // A cycle is found from each of its files; for each set of files the first one found is kept.
  const bySet = cycles.reverse().map((cycle) => [[...new Set(cycle)].sort().join(), cycle.join(' -> ')] as const);
  return [...new Map(bySet).values()];
};

/** A forgotten file is one without its line in a registry: a command, a check, an endpoint. Its own test does not load it. */
export const everyFileIsReachable: Rule = (project) => {
  const seen = reach(entries, project.imports);
  return sources(project).filter((path) => !seen.has(path));
};

export const commandsAreLoadedLazily: Rule = (project) =>
  project.imports
    .filter(
      ({ from, to, kind }) => from === 'src/commands/index.ts' && to.startsWith('src/commands/') && kind === 'value',
    )
    .map(({ to }) => `src/commands/index.ts imports ${to} statically`);

export const startLoadsFewPackages: Rule = (project) => {
  const values = project.imports.filter(({ kind }) => kind === 'value');
  const seen = reach(['src/main.ts', 'src/entry.ts'], values);
  return values
    .filter(({ from, to }) => seen.has(from) && !/^(src\/|node:)/.test(to) && !startPackages.includes(to))
    .map(({ from, to }) => `${from} imports ${to} at every start`);
};

/** All imports by the importing file. */
function edgesOf({ imports }: Project): ReadonlyMap<string, readonly string[]> {
  const edges = new Map<string, string[]>();
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
  return edges;
}

function findCycle(
  at: string,
  edges: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
  path: readonly string[],
): readonly string[] | undefined {
  if (path.includes(at)) return [...path.slice(path.indexOf(at)), at];
  if (done.has(at)) return undefined;
  for (const next of edges.get(at) ?? []) {
    const cycle = findCycle(next, edges, done, [...path, at]);
    if (cycle !== undefined) return cycle;
  }
  done.add(at);
  return undefined;
}

function reach(from: readonly string[], edges: readonly Import[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const waiting = [...from];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    waiting.push(...edges.filter((edge) => edge.from === path).map(({ to }) => to));
  }
  return seen;
}
