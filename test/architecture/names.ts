import { roomOf } from './layers.ts';
import { type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

/** One name has one meaning within a room: an exported name is declared in one file of it. */
export const namesAreUniqueInTheirRoom: Rule = (project) => {
  const files = new Map<string, string[]>();
  for (const path of sources(project)) {
    for (const name of new Set(syntaxOf(path, project.files[path]!).declaredExports)) {
      const key = `${name} of ${roomOf(path)}`;
      files.set(key, [...(files.get(key) ?? []), path]);
    }
  }
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([key, paths]) => `${key} is exported by ${paths.join(', ')}`);
};
