import { type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

/** Names that several files may export, each with the reason. A name of the allow-list that is unique again is reported too. */
export const sharedNames: Readonly<Record<string, string>> = {};

/** One name has one meaning: an exported name is declared in one file of src. */
export const exportedNamesAreUnique =
  (allowed: Readonly<Record<string, string>> = sharedNames): Rule =>
  (project) => {
    const files = new Map<string, string[]>();
    for (const path of sources(project)) {
      for (const name of new Set(syntaxOf(path, project.files[path]!).declaredExports)) {
        files.set(name, [...(files.get(name) ?? []), path]);
      }
    }
    const shared = [...files].filter(([, paths]) => paths.length > 1);
    return [
      ...shared
        .filter(([name]) => !(name in allowed))
        .map(([name, paths]) => `${name} is exported by ${paths.join(', ')}`),
      ...Object.keys(allowed)
        .filter((name) => !shared.some(([known]) => known === name))
        .map((name) => `${name} is allowed to be exported by several files and is not`),
    ];
  };
