import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Running, startProgram } from '../../fixtures/cli.ts';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import type { Environment } from '../../fixtures/folders.ts';
import { lacks, which } from '../../fixtures/needs.ts';
import { processesOf } from '../../fixtures/processes.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type BatchSetup, type Row, setUpBatch } from './batch-setup.ts';
import { examples, programFolder } from './scripts-page.ts';

const title = 'Repeat a batch until it is complete';
const script = examples.find((example) => example.title === title)?.script ?? 'exit 99';
const names = Array.from({ length: 40 }, (_, at) => `node-${String(at + 1).padStart(3, '0')}`);
const post = { method: 'POST', path: '/v2/droplets' };
/** What the document promises that the script needs; jq is none of them. */
const standardPrograms = ['cat', 'cmp', 'cp', 'grep', 'rm'];

interface LoopSetup extends BatchSetup {
  /** Starts the script of the document on a machine with this state folder. */
  startLoop(options?: LoopOptions): Running;
  /** How often the script has run the program. */
  runs(): number;
  rows(): readonly Row[];
}

interface LoopOptions {
  readonly env?: Environment;
  readonly script?: string;
  /** A user without rights, if this one is root. */
  readonly withoutRights?: boolean;
}

async function setUpLoop(shell: string): Promise<LoopSetup> {
  const setup = await setUpBatch();
  const path = programFolder(setup, standardPrograms);
  const file = (name: string): string => join(setup.work, name);
  const session: Environment = {
    CLOUDCTL_ACCESS_TOKEN: (await tokenFor(setup.sandbox)).access_token,
    CLOUDCTL_BASE_URL: setup.sandbox.ready.base_url,
  };
  return {
    ...setup,
    startLoop: ({ env = {}, script: text = script, withoutRights = false } = {}) => {
      const root = withoutRights && process.getuid?.() === 0;
      const user = root ? ['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups'] : [];
      const [program = '', ...args] = [...user, which(shell) ?? shell, '-eu', file('loop.sh')].map((word, at) =>
        at === 0 ? (which(word) ?? word) : word,
      );
      // Bash reads its startup files before a script of `-c`.
      writeFileSync(file('loop.sh'), text);
      const running = startProgram(program, args, {
        folders: setup.folders,
        limit: 110_000,
        env: { ...session, PATH: path, CLOUDCTL_TEST_HASTE: '100', ...env },
      });
      running.child.stdin?.end();
      onTestFinished(() => running.kill('SIGKILL'));
      return running;
    },
    runs: () => (existsSync(file('runs.txt')) ? readFileSync(file('runs.txt'), 'utf8').trim().split('\n').length : 0),
    rows: () => JSON.parse(readFileSync(file('rows.json'), 'utf8')),
  };
}

/** The code of each error object, one a line. */
const errorCodes = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).error.code);

const idsOf = (rows: readonly Row[]) => rows.map(({ name, status, id }) => ({ name, status, id }));

describe.skipIf(lacks('bash', 'dash', 'setpriv', ...standardPrograms)).each(['bash', 'dash'])(
  'the script that repeats a batch, in %s',
  (shell) => {
    it('succeeds, and once more with the same rows', async () => {
      const setup = await setUpLoop(shell);
      expect(await setup.startLoop().ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
      const first = setup.rows();
      expect(first.map(({ name, status }) => [name, status])).toEqual(names.map((name) => [name, 'created']));
      expect(await setup.startLoop().ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(idsOf(setup.rows())).toEqual(idsOf(first));
      expect(setup.counts(names)).toEqual(names.map(() => 1));
      expect(setup.runs()).toBe(2);
    });

    it('stops at the first refusal of a region', async () => {
      const setup = await setUpLoop(shell);
      const ran = await setup.startLoop({ script: script.replace('nyc3', 'atlantis') }).ended;
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'api_error', exit_code: 1 } });
      expect(setup.runs()).toBe(1);
      expect(setup.counts(names)).toEqual(names.map(() => 0));
    });

    it('stops when the state folder cannot be written', async () => {
      const setup = await setUpLoop(shell);
      const state = join(setup.folders.home, 'read-only');
      mkdirSync(state);
      chmodSync(state, 0o555);
      for (const folder of [setup.folders.home, setup.work]) chmodSync(folder, 0o777);
      const env = { CLOUDCTL_STATE_DIR: state, CLOUDCTL_CONFIG_DIR: join(setup.folders.home, 'none') };
      const ran = await setup.startLoop({ env, withoutRights: true }).ended;
      expect(ran.code).toBe(1);
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'internal', exit_code: 1 } });
      expect(setup.runs()).toBe(1);
      expect(setup.counts(names)).toEqual(names.map(() => 0));
    });

    it('continues on another runner when the first one was killed', async () => {
      const setup = await setUpLoop(shell);
      setup.sandbox.faults.add({ match: post, nth: 2, action: 'delay', delay: 60_000 });
      const env = { CLOUDCTL_STATE_DIR: join(setup.work, 'runner-1') };
      const first = setup.startLoop({ env });
      while (setup.counts(names).filter((count) => count === 1).length < 20) await sleep(20);
      first.kill('SIGKILL');
      for (const { pid } of processesOf(setup.folders)) process.kill(pid, 'SIGKILL');
      await first.ended;
      expect(setup.counts(names)).toContain(0);
      const second = await setup.startLoop({ env: { CLOUDCTL_STATE_DIR: join(setup.work, 'runner-2') } }).ended;
      expect(second).toMatchObject({ code: 0, stderr: '' });
      expect(setup.rows().map(({ status }) => status)).toEqual(names.map(() => 'created'));
      expect(setup.counts(names)).toEqual(names.map(() => 1));
    });

    it('goes on when only the program was killed', async () => {
      const setup = await setUpLoop(shell);
      setup.sandbox.faults.add({ match: post, nth: 2, action: 'delay', delay: 60_000 });
      const running = setup.startLoop();
      while (setup.counts(names).filter((count) => count === 1).length < 20) await sleep(20);
      const found = processesOf(setup.folders).filter(({ argv }) => argv.includes('create'));
      expect(found).toHaveLength(1);
      for (const { pid } of found) process.kill(pid, 'SIGKILL');
      expect(await running.ended).toMatchObject({ code: 0 });
      expect(setup.runs()).toBe(2);
      expect(setup.counts(names)).toEqual(names.map(() => 1));
    });

    it('keeps the first error, and stops when the session has ended', async () => {
      const setup = await setUpLoop(shell);
      setup.sandbox.faults.add({ match: post, action: 'drop_before_commit', times: 12 });
      setup.sandbox.faults.add({ match: post, action: 'status', status: 403, nth: 13, times: 1_000 });
      const ran = await setup.startLoop().ended;
      expect(ran.code).toBe(4);
      expect(errorCodes(ran.stderr)).toEqual(['batch_partial', 'scope_too_small']);
      expect(setup.runs()).toBe(2);
    });

    it('stops when the server refuses the rest', async () => {
      const setup = await setUpLoop(shell);
      setup.sandbox.faults.add({ match: post, action: 'status', status: 403, nth: 2, times: 1_000 });
      const ran = await setup.startLoop().ended;
      expect(ran.code).toBe(5);
      expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'batch_partial', status: 403 } });
      expect(setup.runs()).toBe(1);
    });

    it('waits for a server that has errors or accepts no connection, but not without end', async () => {
      const setup = await setUpLoop(shell);
      const closed = { CLOUDCTL_BASE_URL: await closedOrigin() };
      const unreachable = await setup.startLoop({ env: closed, script: script.replace('-eq 20', '-eq 2') }).ended;
      expect(unreachable.code).toBe(6);
      expect(errorCodes(unreachable.stderr)).toEqual(['unreachable']);
      expect(setup.runs()).toBe(2);
      setup.sandbox.faults.add({ match: { method: 'GET', path: '/v2/droplets' }, action: 'status', times: 8 });
      expect(await setup.startLoop().ended).toMatchObject({ code: 0 });
      expect(setup.runs()).toBeGreaterThan(3);
      expect(setup.counts(names)).toEqual(names.map(() => 1));
    });
  },
);
