import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type Ran, type Running, start } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';

/** One way to go wrong, typed twice: plainly, and with `-o json`. */
export interface GoldenCase {
  readonly name: string;
  /** By the table of exit codes and the list of error codes; the golden file alone would take any. */
  readonly exit: number;
  readonly code: string;
  readonly args: readonly string[];
  readonly env?: Environment;
  readonly stdin?: string;
  /** Made in the folders of each run before it; gives more variables. */
  readonly prepare?: (folders: Folders) => Promise<Environment | undefined> | Environment | undefined;
  /** What a person does meanwhile. */
  readonly duringRun?: (running: Running) => Promise<unknown>;
  /** Where `-o json` cannot stand at the end. */
  readonly jsonArgs?: readonly string[];
  /** The output itself is what is wrong, so that it cannot be JSON. */
  readonly plainOnly?: boolean;
  /** Nothing can be advised. */
  readonly noHint?: boolean;
}

/** What no run may print. Every secret of these suites begins with this word. */
export const canary = 'canary';

/**
 * Runs every case and compares what it prints with its section of test/golden/e2e/<name>.txt, where ports, folders and ids
 * have placeholders. UPDATE_GOLDEN=1 writes the file anew.
 */
export function goldenCases(name: string, cases: readonly GoldenCase[]): void {
  const path = fileURLToPath(new URL(`../../golden/e2e/${name}.txt`, import.meta.url));
  const update = (process.env.UPDATE_GOLDEN ?? '') !== '';
  const known = parseSections(existsSync(path) ? readFileSync(path, 'utf8') : '');
  const seen = new Map<string, string>();

  describe.concurrent(name, () => {
    test.for(cases)('$name', async (one, { expect: local }) => {
      const ways = one.plainOnly === true ? [one.args] : [one.args, jsonArgsOf(one)];
      const ran = await Promise.all(ways.map((words) => runCase(one, words)));
      const text = ran.map((end, at) => transcriptOf(ways[at] ?? [], end)).join('');
      seen.set(one.name, text);
      for (const { code, stdout, stderr } of ran) {
        local({ code, stdout }).toEqual({ code: one.exit, stdout: '' });
        local(stderr).not.toContain(canary);
      }
      if (!update) local(text).toBe(known.get(one.name));
      const [plain, json] = ran;
      if (plain === undefined || json === undefined) return;
      const { error } = JSON.parse(json.stderr.trimEnd().split('\n').at(-1) ?? '');
      local(error).toMatchObject({ code: one.code, exit_code: one.exit });
      local(error.hint === undefined).toBe(one.noHint ?? false);
      local(plain.stderr.endsWith(plainTextOf(error))).toBe(true);
    });
  });

  test(`${name}: the golden file has these cases and no others`, () => {
    if (!update) expect([...known.keys()]).toEqual(cases.map((one) => one.name));
  });

  afterAll(() => {
    if (!update) return;
    const all = cases.map((one) => `# ${one.name}\n${seen.get(one.name) ?? known.get(one.name) ?? ''}`);
    writeFileSync(path, all.join('\n'));
  });
}

/** Every run has folders of its own, so that what it does to them is nobody else's matter. */
async function runCase(one: GoldenCase, words: readonly string[]): Promise<Ran> {
  const folders = makeFolders();
  try {
    const env = { ...one.env, ...(await one.prepare?.(folders)) };
    const running = start(words, { folders, env, limit: 60_000 });
    await one.duringRun?.(running);
    running.child.stdin?.end(one.stdin ?? '');
    const ran = await running.ended;
    return {
      ...ran,
      stdout: withoutVaryingParts(ran.stdout, folders),
      stderr: withoutVaryingParts(ran.stderr, folders),
    };
  } finally {
    folders.remove();
  }
}

function jsonArgsOf({ args: words, jsonArgs: jsonWords }: GoldenCase): readonly string[] {
  return jsonWords ?? [...words, '-o', 'json'];
}

function transcriptOf(words: readonly string[], { stderr, code }: Ran): string {
  return `$ ${['cloudctl', ...words].map(shellQuoted).join(' ')}\n${stderr}exit ${code}\n`;
}

function shellQuoted(word: string): string {
  return /^[\w./:=@,+-]+$/.test(word) ? withoutVaryingParts(word) : `'${withoutVaryingParts(word)}'`;
}

/** What differs from run to run or from machine to machine. */
function withoutVaryingParts(text: string, folders?: Folders): string {
  return (
    (folders === undefined ? text : text.replaceAll(folders.home, '/HOME'))
      .replace(/^https?:\S+\/v1\/oauth\/authorize\?\S+$/gm, 'AUTHORIZATION_URL')
      .replace(/^This is a (container|codespace|SSH session)\b.*\n/gm, '')
      .replace(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
      .replace(/\bport \d{4,5}\b/g, 'port PORT')
      // Newer versions of Node add their own advice.
      .replaceAll('; if the root CA is installed locally, try running Node.js with --use-system-ca', '')
      .replace(/ \d+ ms$/gm, ' N ms')
  );
}

function parseSections(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .split(/^# /m)
      .slice(1)
      .map((section) => {
        const end = section.indexOf('\n');
        return [section.slice(0, end), section.slice(end + 1).replace(/\n\n$/, '\n')];
      }),
  );
}

interface ErrorObject {
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
}

/** Both forms say the same. */
function plainTextOf({ message, detail, hint }: ErrorObject): string {
  const part = (label: string, text: string | undefined): string =>
    text === undefined ? '' : `${label}: ${text.replaceAll('\n', '\n  ')}\n`;
  return part('error', message) + part('detail', detail) + part('hint', hint);
}
