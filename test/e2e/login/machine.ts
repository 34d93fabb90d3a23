import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Ran, type Running, type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import type { Sandbox } from '../../fixtures/sandbox.ts';
import { type Terminal, type TerminalOptions, terminal } from '../../fixtures/terminal.ts';
import type { SecretLedger } from './secrets.ts';

export interface MachineOptions {
  /** Instead of folders of its own. */
  readonly folders?: Folders;
  /** Instead of the variables that point at the sandbox. */
  readonly env?: Environment;
}

/** A computer with the program on it. Whatever it printed is searched for secrets when the test ends. */
export interface Machine {
  readonly folders: Folders;
  run(args: readonly string[], options?: Partial<RunOptions>): Promise<Ran>;
  start(args: readonly string[], options?: Partial<RunOptions>): Running;
  /** Starts `auth login` with these words and waits for the address it prints. */
  login(words?: readonly string[], options?: Partial<RunOptions>): Promise<PendingLogin>;
  terminal(args: readonly string[], options?: Partial<TerminalOptions>): Promise<Terminal>;
  /** The access token in use, which only `auth token` prints. */
  accessToken(): Promise<string>;
  /** Whether any session is stored. */
  keepsSession(): boolean;
}

export interface PendingLogin extends Running {
  readonly authorizationUrl: string;
}

/** Of `-o json`: the last line of stderr. */
export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly exit_code: number;
}

export const authorizationLine = /^https?:\/\/\S+\/v1\/oauth\/authorize\?\S+$/m;

export function makeMachine(sandbox: Sandbox, secrets: SecretLedger, options: MachineOptions = {}): Machine {
  const folders = options.folders ?? makeFolders();
  const env = options.env ?? sandbox.env;
  const started: Running[] = [];
  onTestFinished(() => {
    for (const running of started) running.kill('SIGKILL');
    secrets.add(...storedTokens(folders));
    if (options.folders === undefined) folders.remove();
    const printed = started.map((running) => running.printed()).map(({ stdout, stderr }) => stdout + stderr);
    expect(secrets.foundIn(printed.join('\n'))).toEqual([]);
  });
  const withEnv = <O extends Partial<RunOptions>>(more: O): O & { folders: Folders; env: Environment } => ({
    ...more,
    folders,
    env: { ...env, ...more.env },
  });
  const begin: Machine['start'] = (args, more = {}) => {
    const running = start(args, withEnv(more));
    started.push(running);
    return running;
  };
  return {
    folders,
    start: begin,
    run: (args, more = {}) => {
      const running = begin(args, more);
      running.child.stdin?.end(more.stdin ?? '');
      return running.ended;
    },
    login: async (words = [], more = {}) => {
      const running = begin(['auth', 'login', ...words], more);
      const [authorizationUrl] = await running.waitFor('stderr', authorizationLine, 10_000);
      return { ...running, authorizationUrl };
    },
    terminal: async (args, more = {}) => {
      const opened = await terminal(args, withEnv(more));
      onTestFinished(() => opened.close());
      return opened;
    },
    accessToken: async () => {
      const { stdout } = await run(['auth', 'token'], withEnv({}));
      secrets.add(stdout.trim());
      return stdout.trim();
    },
    keepsSession: () => storedTokens(folders).length > 0,
  };
}

export function errorOf(ran: Ran): ErrorReport {
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  const report: { readonly error: ErrorReport } = JSON.parse(last);
  return report.error;
}

/** Every token in any file the program keeps, whatever its name. */
function storedTokens(folders: Folders): readonly string[] {
  return [folders.config, folders.state].filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .flatMap((text) => text.match(/\bsandbox_\w{20,}\b/g) ?? []),
  );
}
