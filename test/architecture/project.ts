import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type Import as Found, parse } from 'es-module-lexer';

/** The text of every file that rules read, with the imports of the TypeScript files. */
export interface Project {
  /** By path from the project's folder, with forward slashes. */
  readonly files: Readonly<Record<string, string>>;
  readonly imports: readonly Import[];
}

export interface Import {
  readonly from: string;
  /** A path of the project, or the name of a package (`hono`, `node:fs`). */
  readonly to: string;
  readonly kind: 'value' | 'type' | 'dynamic';
}

/** Returns the violations, one line each. */
export type Rule = (project: Project) => readonly string[];

export function makeProject(files: Readonly<Record<string, string>>): Project {
  const imports = Object.entries(files)
    .filter(([path]) => path.endsWith('.ts'))
    .flatMap(([path, source]) => lex(path, source).flatMap((found) => toImport(path, found)));
  return { files, imports };
}

/** Reads the checkout. The folders are listed here, because git may not be installed. */
export function readProject(root: string): Project {
  const folders = ['src', 'test', 'scripts', 'bench', 'bin', 'docs', 'completions', 'docker', '.ci', '.github'];
  // In a linked work tree .git is a file.
  const alone = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== '.git');
  const paths = [...alone.map((entry) => entry.name), ...folders.flatMap((folder) => below(root, folder))];
  return makeProject(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
}

/** The TypeScript sources of the program, in order. */
export function sources(project: Project): readonly string[] {
  return Object.keys(project.files)
    .filter((path) => path.startsWith('src/') && path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .sort();
}

function lex(path: string, source: string): readonly Found[] {
  try {
    return parse(source, path)[0];
  } catch (cause) {
    throw new Error(`the imports of ${path} cannot be read`, { cause });
  }
}

function toImport(from: string, found: Found): readonly Import[] {
  if (found.type === 'import-meta' || found.specifier === undefined) return [];
  const to = found.specifier.startsWith('.') ? posix.join(posix.dirname(from), found.specifier) : found.specifier;
  if (found.type === 'dynamic') return [{ from, to, kind: 'dynamic' }];
  return [{ from, to, kind: found.typeOnly ? 'type' : 'value' }];
}

function below(root: string, folder: string): readonly string[] {
  const entries = list(join(root, folder));
  return entries.flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? below(root, path) : [path];
  });
}

function list(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
