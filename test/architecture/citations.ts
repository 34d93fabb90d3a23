import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import type { Project, Rule } from './project.ts';

/**
 * What a comment cites exists: files, rules of docs/service.md and of SECURITY.md, decisions; and what a page names in
 * backquotes as a path of the sources and tests. The changelog tells of files that are gone.
 */
export const citationsResolve: Rule = (project) => {
  const known = collect(project);
  return Object.entries(project.files).flatMap(([path, text]) => {
    if (path.endsWith('.md')) return path === 'CHANGELOG.md' ? [] : unresolvedInPage(path, text, known.paths);
    if (!/^(src|test|scripts|bench)\/.*\.(ts|mts|mjs|cjs)$/.test(path)) return [];
    return commentsOf(path, text).flatMap((comment) => unresolved(path, comment, known));
  });
};

/** A statement, a choice or a check names its rule of docs/service.md in a literal, a page after the name of the page. */
export const rulesOfTheServiceExist: Rule = (project) => {
  const { rules } = collect(project);
  return Object.entries(project.files)
    .filter(([path]) => /^(src|test|docs)\//.test(path) || path === 'SECURITY.md')
    .flatMap(([path, text]) => {
      const pattern = path.endsWith('.md') ? /docs\/service\.md (S\d+(?:\.\d+)?)/g : /(?:rule|spec): '(S\d+\.\d+)'/g;
      return [...text.matchAll(pattern)]
        .filter(([, rule = '']) => !rules.has(rule))
        .map(([, rule]) => `${path}: there is no rule ${rule} in docs/service.md`);
    });
};

/** The tests of the login helper are named by its rules in SECURITY.md, and each rule has its test. */
export const rulesOfTheHelperAreTested: Rule = (project) => {
  const { helperRules } = collect(project);
  const tested = Object.keys(project.files)
    .filter((path) => /^test\/(attack|auth\/loopback)\/.*\.test\.ts$/.test(path))
    .flatMap((path) => helperRulesIn(project.files[path]!).map((rule) => ({ path, rule })));
  const untested = [...helperRules].filter((rule) => !tested.some((test) => test.rule === rule));
  return [
    ...tested
      .filter(({ rule }) => !helperRules.has(rule))
      .map(({ path, rule }) => `${path}: there is no rule ${rule} in SECURITY.md`),
    ...untested.map((rule) => `rule ${rule} of SECURITY.md has no test`),
  ];
};

interface Known {
  readonly paths: readonly string[];
  /** `S4` and `S4.3`. */
  readonly rules: ReadonlySet<string>;
  readonly helperRules: ReadonlySet<string>;
  /** `012`. */
  readonly decisions: ReadonlySet<string>;
}

interface Comment {
  readonly line: number;
  readonly text: string;
}

function collect({ files }: Project): Known {
  const service = files['docs/service.md'] ?? '';
  const paths = Object.keys(files);
  return {
    paths,
    rules: new Set([...service.matchAll(/^(?:## |- \*\*)(S\d+(?:\.\d+)?)\b/gm)].map(([, rule = '']) => rule)),
    helperRules: new Set([...(files['SECURITY.md'] ?? '').matchAll(/^(\d+)\. /gm)].map(([, rule = '']) => rule)),
    decisions: new Set(paths.flatMap((path) => /^docs\/decisions\/(\d{3})-/.exec(path)?.[1] ?? [])),
  };
}

/** Comments without their addresses; lines of `//` that follow one another are one comment. */
function commentsOf(path: string, source: string): readonly Comment[] {
  const found: { line: number; text: string; end: number }[] = [];
  for (const { type, value, start, end } of parseSync(path, source).comments) {
    const text = value.replaceAll(/\n\s*\*? ?/g, ' ').replaceAll(/https?:\/\/\S+/g, '');
    const last = found.at(-1);
    if (last !== undefined && type === 'Line' && /^\n[ \t]*$/.test(source.slice(last.end, start)))
      Object.assign(last, { text: last.text + text, end });
    else found.push({ line: source.slice(0, start).split('\n').length, text, end });
  }
  return found;
}

function unresolved(path: string, { line, text }: Comment, known: Known): readonly string[] {
  const missing = [
    ...[...text.matchAll(/(?:[\w@*.-]+\/)*[\w*-]+(?:\.[\w*-]+)*\.(?:d\.)?(?:ts|mts|md|mjs)\b/g)]
      .map(([name]) => name)
      .filter((name) => !isFile(name, path, known.paths)),
    ...[...text.matchAll(/\bS\d+\.\d+\b|(?<=service\.md )S\d+\b/g)]
      .map(([rule]) => rule)
      .filter((rule) => !known.rules.has(rule)),
    ...[...text.matchAll(/SECURITY\.md rule (\d+)/g)]
      .filter(([, rule = '']) => !known.helperRules.has(rule))
      .map(([name]) => name),
    ...[...text.matchAll(/\bdecisions?[ /](\d{3})\b/g)]
      .filter(([, number = '']) => !known.decisions.has(number))
      .map(([name]) => name),
    ...[...text.matchAll(/§[\d.]*/g)]
      .filter(({ index }) => !hasDocument.test(text.slice(0, index)))
      .map(([name]) => name),
    ...[...text.matchAll(/\bspecification, section|\b(?:the|our) contract\b/gi)].map(([name]) => name),
  ];
  return missing.map((name) => `${path}:${line}: a comment cites ${name}, which is not in the project`);
}

function unresolvedInPage(path: string, text: string, paths: readonly string[]): readonly string[] {
  // A block is code, which its own test runs; the lines keep their numbers.
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/.+/g, ''));
  return prose.split('\n').flatMap((line, at) =>
    [...line.matchAll(/`((?:src|test|scripts|bench)\/[^\s`]+|[^\s`]+\.(?:ts|mts|mjs))`/g)]
      .map(([, name = '']) => name.replace(/(?::\d+|\/)$/, ''))
      .filter(
        (name) => !name.includes('<') && !isFile(name, '', paths) && !paths.some((one) => one.startsWith(`${name}/`)),
      )
      .map((name) => `${path}:${at + 1}: a page cites ${name}, which is not in the project`),
  );
}

/** A section is cited together with the name of its document, as in `RFC 6749 §4.1.2 and §4.2.2`. */
const hasDocument = /(?:RFC \d+|OpenID Connect Core|MPL-2\.0|CommonMark|SARIF 2\.1\.0)(?: §[\d.]+(?:,| and))* $/;

/**
 * A path, or the end of one; `*` stands for any text. A name that many rooms have is meant as the file nearby.
 * @param from the file that cites it; empty for a page, which names the room in its text
 */
function isFile(name: string, from: string, paths: readonly string[]): boolean {
  const clean = name.replace(/^(?:\.\.?\/)+/, '');
  const found = clean.includes('*')
    ? paths.filter((path) => new RegExp(`(?:^|/)${clean.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*')}$`).test(path))
    : paths.filter((path) => path === clean || path.endsWith(`/${clean}`));
  if (found.length < 2 || found.includes(clean) || /[*/]|^index\.ts$/.test(clean)) return found.length > 0;
  return from === '' || found.some((path) => isNearby(posix.dirname(path), posix.dirname(from)));
}

/** A folder above or below, also that of the sources for a test. */
function isNearby(folder: string, from: string): boolean {
  return [from, from.replace(/^test\b/, 'src')].some(
    (one) => `${one}/`.startsWith(`${folder}/`) || folder.startsWith(`${one}/`),
  );
}

/** `rule 8: …`, `rules 35 and 36: …`, `rules 11, 17, 18: …`. */
function helperRulesIn(source: string): readonly string[] {
  return [...source.matchAll(/\brules? ([\d, and]+):/g)].flatMap(([, numbers = '']) => numbers.match(/\d+/g) ?? []);
}
