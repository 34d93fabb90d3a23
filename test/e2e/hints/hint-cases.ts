import { fileURLToPath } from 'node:url';
import { describe, type RunnerTestCase, test } from 'vitest';
import { readProject } from '../../architecture/project.ts';
import type { Ran } from '../../fixtures/cli.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { executedTexts, hintTexts } from '../../fixtures/hint-texts.ts';
import { makeWorld, type World, type WorldOptions } from './world.ts';

/** A state in which the program prints a hint, and what a person does who follows it. */
export interface HintCase {
  readonly name: string;
  /** The line that prints the hint, and that must succeed afterwards. */
  readonly line: string;
  readonly stdin?: string;
  /** What the world is made with; the default is a session in a file. */
  readonly world?: WorldOptions;
  /** Brings the world into the state. */
  readonly given?: (world: World) => unknown;
  /** The hint is of this finding of `doctor`, or stands in this warning. */
  readonly finding?: string;
  readonly warning?: RegExp;
  /** The files of the hint, if its words stand in several. */
  readonly from?: readonly string[];
  /** Which of the parts in backquotes are followed, if the hint offers several ways. */
  readonly pick?: readonly number[];
  /** What stands for the placeholders of the hint. */
  readonly fill?: (world: World) => Readonly<Record<string, string>>;
  /** What a person adds to `auth setup` and `auth login --with-token`, which would ask for it at a terminal. */
  readonly answers?: (world: World) => Answers | Promise<Answers>;
  /** The command of the hint replaces the line. */
  readonly isInstead?: true;
  /** What a person does who reads the hint, where it is no command; a returned text is the line to type then. */
  readonly person?: (world: World, hint: string) => unknown;
  /** What happens before the hint is followed: a server comes back. */
  readonly beforehand?: (world: World) => unknown;
  /** What a person does after the command of the hint has shown something. */
  readonly afterwards?: (world: World) => unknown;
  /** How many hints are followed, one after the other, until the line succeeds. */
  readonly steps?: number;
  /** The status that the finding keeps. */
  readonly stays?: string;
  /** How the line ends at last; by default it succeeds. */
  readonly ends?: number;
  /** How the commands of the hint end; by default they succeed. */
  readonly commandEnds?: number;
}

interface Answers {
  readonly words?: string;
  readonly stdin?: string;
}

const texts = hintTexts(readProject(fileURLToPath(new URL('../../..', import.meta.url))));

/**
 * For each case: the program prints a hint in that state, the hint is followed, and the line that printed it succeeds. The golden
 * file has the hint, what was done and from which file the words are; test/hints.test.ts finds texts of hints that are in none.
 */
export function hintCases(name: string, cases: readonly HintCase[]): void {
  describe.concurrent(name, () => {
    test.for(cases.map((one) => [one.name, one] as const))('%s', async ([, one], { task }) => {
      const world = await makeWorld({ seed: 40, ...one.world });
      try {
        await one.given?.(world);
        const told = await follow(world, one);
        expectGolden(`hints-${name}`, masked(told.join('\n'), world), undefined, task satisfies RunnerTestCase);
      } finally {
        await world.close();
      }
    });
  });
}

async function follow(world: World, one: HintCase): Promise<readonly string[]> {
  const told: string[] = [];
  let line = one.line;
  for (let step = 1; ; step++) {
    const before = await world.shell(line, one.stdin);
    const { hint, words } = hintOf(before, one, step);
    const files = new Set(
      executedTexts(texts, masked(hint, world), step === 1 ? one.from : undefined).map(({ file }) => file),
    );
    told.push(`from: ${[...files].join(', ')}`, `$ ${line}`, ...words, `hint: ${hint}`);
    await one.beforehand?.(world);
    const next = await act(world, one, line, hint, told, step);
    if (next.isDone) return told;
    line = next.line;
    const after = await world.shell(line, one.stdin);
    told.push(`$ ${line}`);
    const isFixed = one.finding === undefined ? after.code === (one.ends ?? 0) : isClear(after, one.finding, one.stays);
    if (isFixed && (one.warning === undefined || !one.warning.test(after.stderr))) return told;
    if (step >= (one.steps ?? 1)) throw new Error(`${told.join('\n')}\nended with ${after.code}:\n${shown(after)}`);
  }
}

interface Step {
  readonly line: string;
  readonly isDone: boolean;
}

async function act(
  world: World,
  one: HintCase,
  line: string,
  hint: string,
  told: string[],
  step: number,
): Promise<Step> {
  if (one.person !== undefined && step === 1) {
    const typed = await one.person(world, hint);
    told.push('(a person does so)');
    return { line: typeof typed === 'string' ? typed : line, isDone: false };
  }
  const quoted = [...hint.matchAll(/`([^`]+)`/g)].map(([, part = '']) => part);
  const parts = step > 1 || one.pick === undefined ? quoted : one.pick.map((at) => quoted[at] ?? '');
  if (parts.length === 0) throw new Error(`nothing of this hint can be run: ${hint}`);
  if (parts.length > 1 && one.pick === undefined) throw new Error(`say which part is followed: ${hint}`);
  const options = parts.filter((part) => part.startsWith('-'));
  if (options.length > 0)
    return { line: options.reduce((typed, part) => retyped(typed, part, hint), line), isDone: false };
  for (const part of parts) {
    const { words = '', stdin = '' } = (/ (setup|--with-token)\b/.test(part) && (await one.answers?.(world))) || {};
    const command = [filled(part, one.fill?.(world) ?? {}), words].filter((text) => text !== '').join(' ');
    told.push(`$ ${command}`);
    const ran = await world.shell(command, stdin === '' ? one.stdin : stdin);
    if (ran.code !== (one.commandEnds ?? 0))
      throw new Error(`${told.join('\n')}\nended with ${ran.code}:\n${shown(ran)}`);
    if (command === line) return { line, isDone: true };
  }
  if (one.isInstead === true) return { line, isDone: true };
  await one.afterwards?.(world);
  return { line, isDone: false };
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((all, [name, value]) => all.replaceAll(name, value), text);
}

/** The line with this option: taken away, in the place of the option of that name, or at the end. */
function retyped(line: string, option: string, hint: string): string {
  const [name = ''] = option.split(/[ =]/, 1);
  const given = new RegExp(` ${name}(?:[ =](?!-)(?:"[^"]*"|'[^']*'|[^ ]+))?(?= |$)`);
  const isRemoved = new RegExp(`\\b(?:remove|leave out|omit)\\b[^;]*\`${name}`).test(hint);
  if (isRemoved) return line.replace(given, '');
  return given.test(line) ? line.replace(given, () => ` ${option}`) : `${line} ${option}`;
}

interface Finding {
  readonly id: string;
  readonly status: string;
  readonly observed: string;
  readonly hint?: string;
}

function findingsOf(ran: Ran): readonly Finding[] {
  const report: { readonly findings: readonly Finding[] } = JSON.parse(ran.stdout);
  return report.findings;
}

function isClear(ran: Ran, id: string, status = 'ok'): boolean {
  const found = findingsOf(ran).filter((one) => one.id.startsWith(id));
  return found.every((one) => one.status === 'ok' || one.status === status);
}

function hintOf(ran: Ran, { finding, warning }: HintCase, step: number): { hint: string; words: readonly string[] } {
  if (finding !== undefined) {
    const { hint, status, observed } =
      findingsOf(ran).find((one) => one.id.startsWith(finding) && one.hint !== undefined) ?? {};
    if (hint === undefined) throw new Error(`the finding ${finding} has no hint:\n${shown(ran)}`);
    return { hint, words: [`${status}: ${observed}`] };
  }
  if (warning !== undefined && step === 1) {
    const text = ran.stderr.split('\n').find((one) => one.startsWith('warning: ') && warning.test(one));
    if (text === undefined) throw new Error(`there is no such warning:\n${shown(ran)}`);
    return { hint: text.replace(/^warning: /, ''), words: [] };
  }
  const json = ran.stderr.split('\n').find((text) => text.startsWith('{"error":'));
  if (json !== undefined) {
    const { error }: { readonly error: { readonly message: string; readonly hint: string } } = JSON.parse(json);
    return { hint: error.hint, words: [`error: ${error.message}`] };
  }
  const [, hint] = /^hint: (.*(?:\n {2}.*)*)/m.exec(ran.stderr) ?? [];
  const error = ran.stderr.split('\n').filter((text) => text.startsWith('error: '));
  if (hint === undefined) throw new Error(`there is no hint:\n${shown(ran)}`);
  return { hint: hint.replaceAll('\n  ', '\n'), words: error };
}

function shown({ code, stdout, stderr }: Ran): string {
  return `exit ${code}\n${stdout.slice(0, 2000)}\n${stderr.slice(-3000)}`;
}

/** What differs from run to run or from machine to machine. */
function masked(text: string, { folders }: World): string {
  return text
    .replaceAll(folders.work, '/WORK')
    .replaceAll(folders.home, '/HOME')
    .replaceAll(/\b(127\.0\.0\.1|localhost|elsewhere\.example):\d+/g, '$1:PORT')
    .replaceAll(/(?<!-)\bport \d{4,5}\b/g, 'port PORT')
    .replaceAll(/sport = :\d+/g, 'sport = :PORT')
    .replaceAll(/\.doctor\.[\d.]+tmp/g, '.doctor.N.tmp')
    .replaceAll(/\b\d+\.\d s\b/g, 'N s')
    .replaceAll(/\.\d+\.\d+\.tmp\b/g, '.N.tmp')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d{8}T\d{6}[\w-]*/g, 'STAMP');
}
