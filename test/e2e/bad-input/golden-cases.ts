import { describe, test } from 'vitest';
import { type Ran, type Running, start } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden, plainError } from '../../fixtures/golden.ts';

/** One way to go wrong, typed twice: plainly, and with `-o json`. */
export interface GoldenCase {
  readonly name: string;
  /** By the table of exit codes and the list of error codes; the golden file alone would take any. */
  readonly exit: number;
  readonly code: string;
  /** Of the response that the error is about. */
  readonly status?: number;
  readonly requestId?: string;
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
 * Runs every case and compares what it prints as text with its section of test/golden/e2e/<name>.txt, where ports, folders
 * and ids have placeholders. With `-o json` it must print the same, with the values of the case.
 */
export function goldenCases(name: string, cases: readonly GoldenCase[]): void {
  describe.concurrent(name, () => {
    test.for(cases.map((one) => [one.name, one] as const))('%s', async ([, one], { expect: local, task }) => {
      const ways = one.plainOnly === true ? [one.args] : [one.args, jsonArgsOf(one)];
      const [plain, json] = await Promise.all(ways.map((words) => runCase(one, words)));
      for (const { code, stdout, stderr } of [plain, json].filter((ran) => ran !== undefined)) {
        local({ code, stdout }).toEqual({ code: one.exit, stdout: '' });
        local(stderr).not.toContain(canary);
      }
      expectGolden(
        `e2e/${name}`,
        `$ ${['cloudctl', ...one.args].map(shellQuoted).join(' ')}\n${plain?.stderr}`,
        undefined,
        task,
      );
      if (plain === undefined || json === undefined) return;
      const lines = json.stderr.trimEnd().split('\n');
      const { error } = JSON.parse(lines.pop() ?? '');
      const { message, detail, hint, ...values } = error;
      const { code, exit: exit_code, status, requestId: request_id } = one;
      local(values).toEqual({ code, exit_code, status, request_id });
      local(hint === undefined).toBe(one.noHint ?? false);
      local(plain.stderr).toBe([...lines, plainError({ message, detail, hint }), ''].join('\n'));
    });
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
