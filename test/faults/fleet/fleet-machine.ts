import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ProfilePaths, profilePaths } from '../../../src/session/profile-paths.ts';
import { type Ran, type Running, startProgram } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import { until } from '../session/assertions.ts';
import { program } from '../session/fault-fixture.ts';

/** A process of its own for each command, with its own home, state folder, machine name and clock. */
export interface Machine {
  readonly name: string;
  readonly folders: Folders;
  readonly place: ProfilePaths;
  /** One for each command, oldest first. They outlive the machine. */
  readonly traces: readonly CommandTrace[];
  start(words: readonly string[], env?: Environment): Running;
  run(words: readonly string[], env?: Environment): Promise<Ran>;
  /** The machine never runs again, and nothing of its state folder is left. */
  destroy(): void;
  isDestroyed(): boolean;
}

/** What one command did. */
export interface CommandTrace {
  /** The points of src/session/failpoints.ts that it has reached by now, in their order. */
  points(): readonly string[];
}

export interface MachineOptions {
  readonly name: string;
  readonly profile: object;
  readonly env: Environment;
  /** Put before the program: the words that run it in a network namespace. */
  readonly under?: readonly string[];
}

export function createMachine({ name, profile, env: own, under = [] }: MachineOptions): Machine {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(folders.config, { recursive: true });
  const config = { profile: 'default', profiles: { default: profile } };
  writeFileSync(join(folders.config, 'config.json'), JSON.stringify(config));
  const traces: CommandTrace[] = [];
  let destroyed = false;
  const start: Machine['start'] = (words, env = {}) => {
    const path = join(folders.work, `points-${traces.length}`);
    traces.push({ points: () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []) });
    const [file = '', ...args] = [...under, ...program, ...words];
    const running = startProgram(file, args, {
      folders,
      env: { ...own, CLOUDCTL_MACHINE_NAME: name, CLOUDCTL_TEST_POINTS: path, ...env },
      limit: 200_000,
    });
    running.child.stdin?.end();
    return running;
  };
  return {
    name,
    folders,
    traces,
    place: profilePaths(folders.state, 'default'),
    start,
    run: (words, env) => start(words, env).ended,
    destroy() {
      destroyed = true;
      rmSync(folders.state, { recursive: true, force: true });
    },
    isDestroyed: () => destroyed,
  };
}

/** Whether a process has received SIGSTOP. */
export function isStopped(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

/** Starts a command of a machine and waits until it has stopped itself at a point. */
export async function startStopped(machine: Machine, point: string, words: readonly string[]): Promise<Running> {
  const running = machine.start(words, { CLOUDCTL_TEST_STOP_AT: point });
  await until(() => isStopped(running.pid), `the program to stop at ${point}`, running);
  return running;
}
