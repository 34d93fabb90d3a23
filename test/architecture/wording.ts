import { type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

/** So many words of a literal of src in a row are wording that a test must not repeat. */
const wordsInARow = 3;

/**
 * Tests assert the wording that users read in golden files only (`expectGolden`), so that a better sentence is one reviewed
 * diff. Codes, ids, values, commands and what
 * other programs print may be asserted anywhere.
 */
export const wordingIsInGoldenFiles: Rule = (project) => {
  const ours = new Set(
    sources(project).flatMap((path) => syntaxOf(path, project.files[path]!).literals.flatMap(wordSequences)),
  );
  return Object.entries(project.files)
    .filter(([path]) => path.startsWith('test/') && path.endsWith('.test.ts'))
    .flatMap(([path, source]) =>
      syntaxOf(path, source).assertedLiterals.flatMap(({ line, text }) => {
        const sequence = wordSequences(text).find((words) => ours.has(words));
        return sequence === undefined ? [] : [`${path}:${line}: asserts the wording "${sequence}"`];
      }),
    );
};

/** Every section of a golden file begins with the path of its test file. A run of the tests finds sections that no test reads. */
export const goldenSectionsHaveTests: Rule = (project) =>
  Object.entries(project.files)
    .filter(([path]) => path.startsWith('test/golden/'))
    .flatMap(([path, source]) => {
      const files = [...source.matchAll(/^# (test\/\S+) > /gm)].map(([, file = '']) => file);
      const gone = [...new Set(files)].filter((file) => !(file in project.files));
      return [
        ...(source.startsWith('# test/') ? [] : [`${path} does not begin with a section`]),
        ...gone.map((file) => `${path} has sections of ${file}, which does not exist`),
      ];
    });

/** Each run of three words in plain text; SQL and code in capitals, paths and options are no words. */
function wordSequences(text: string): readonly string[] {
  // What stands in backquotes is a command or a value.
  return text
    .replaceAll(/`[^`]*`/g, '|')
    .split(/[^A-Za-z' ]+/)
    .flatMap((part) => {
      const words = part.trim().split(/ +/);
      if (words.length < wordsInARow) return [];
      return words
        .slice(0, words.length - wordsInARow + 1)
        .map((_, at) => words.slice(at, at + wordsInARow))
        .filter((row) => !row.includes('cloudctl') && row.every((word) => /^[A-Z]?[a-z']+$/.test(word)))
        .map((row) => row.join(' ').toLowerCase());
    });
}
