import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bin, node, type Ran, type Running, run, start, startProgram } from '../../fixtures/cli.ts';
import { type Environment, type Folders, makeFolders } from '../../fixtures/folders.ts';
import type { Ready } from '../../fixtures/sandbox.ts';

/** Folders and commands of one user who starts, kills and restarts a sandbox. */
export interface SandboxMachine {
  readonly folders: Folders;
  /** The state folder. */
  readonly state: string;
  /** Starts the sandbox with the arguments and waits for its ready line. */
  readonly startSandbox: (words?: readonly string[], around?: Around) => Promise<StartedSandbox>;
  readonly run: (...words: readonly string[]) => Promise<Ran>;
}

/** What a sandbox is started with besides its arguments. */
export interface Around {
  /** The command that runs the program. */
  readonly under?: readonly string[];
  readonly env?: Environment;
}

export interface StartedSandbox {
  readonly ready: Ready;
  readonly running: Running;
  /** Sends SIGKILL and resolves when the process has ended. */
  readonly kill: () => Promise<void>;
}

export function createSandboxMachine(): SandboxMachine {
  const folders = makeFolders();
  const started: Running[] = [];
  onTestFinished(async () => {
    for (const running of started) running.kill('SIGKILL');
    await Promise.allSettled(started.map(({ ended }) => ended));
    folders.remove();
  });
  const state = join(folders.work, 'sandbox state');
  const begin = (words: readonly string[], { under = [], env = {} }: Around): Running => {
    const options = { folders, env, limit: 110_000 };
    const [file] = under;
    const running =
      file === undefined
        ? start(words, options)
        : startProgram(file, [...under.slice(1), node, bin, ...words], options);
    started.push(running);
    return running;
  };
  return {
    folders,
    state,
    run: (...words) => run(words, { folders }),
    startSandbox: async (words = [], around = {}) => {
      const running = begin(['sandbox', 'start', '--state', state, '-o', 'json', ...words], around);
      const [line] = await running.waitFor('stdout', /^\{.*\}$/m, 20_000);
      return {
        ready: JSON.parse(line),
        running,
        kill: async () => {
          running.kill('SIGKILL');
          await running.ended;
        },
      };
    },
  };
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Tokens of the authorization code flow, which the consent script approves. */
export async function logIn(ready: Ready, scope = 'read'): Promise<Tokens> {
  const application = { client_id: ready.client_id, redirect_uri: ready.callback_url };
  const options = new URLSearchParams({
    ...application,
    response_type: 'code',
    scope,
    state: randomBytes(8).toString('hex'),
  });
  const answer = await fetch(`${ready.auth_url}/v1/oauth/authorize?${options}`, { redirect: 'manual' });
  const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
  const body = { ...application, grant_type: 'authorization_code', code, client_secret: ready.client_secret };
  return (await post(ready, body)).body;
}

export function refresh(ready: Ready, tokens: Tokens): Promise<Answered> {
  return post(ready, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
}

export interface Answered {
  readonly status: number;
  readonly body: Tokens & { readonly error?: string };
}

async function post(ready: Ready, parameters: Readonly<Record<string, string>>): Promise<Answered> {
  const answer = await fetch(`${ready.auth_url}/v1/oauth/token?${new URLSearchParams(parameters)}`, { method: 'POST' });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

/** The status of a resource API request with the tokens. */
export async function callWith(ready: Ready, { access_token: token }: Tokens): Promise<number> {
  const answer = await fetch(`${ready.base_url}/v2/droplets`, { headers: { authorization: `Bearer ${token}` } });
  await answer.text();
  return answer.status;
}

/** The status of the response to the creation of a droplet with this name. */
export async function createDroplet(ready: Ready, tokens: Tokens, name: string): Promise<number> {
  const body = JSON.stringify({ name, region: 'fra1', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' });
  const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${ready.base_url}/v2/droplets`, { method: 'POST', headers, body });
  await answer.text();
  return answer.status;
}

/** The names of all droplets of the account. */
export async function dropletNames(ready: Ready, tokens: Tokens): Promise<readonly string[]> {
  const names: string[] = [];
  for (let page = 1; ; page += 1) {
    const url = `${ready.base_url}/v2/droplets?per_page=200&page=${page}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    const { droplets } = JSON.parse(await answer.text());
    names.push(...droplets.map(({ name }: { name: string }) => name));
    if (droplets.length < 200) return names;
  }
}

/** The number of token pairs that were neither refreshed nor revoked. */
export async function openPairs({ admin_url: url, admin_token: token }: Ready): Promise<number> {
  const answer = await fetch(`${url}/_sandbox/snapshot`, { headers: { 'x-admin-token': token } });
  const { world } = JSON.parse(await answer.text());
  return world.pairs.filter((pair: { end?: string }) => pair.end === undefined).length;
}
