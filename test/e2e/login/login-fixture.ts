import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from '../../fixtures/browser.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Person, type Sandbox, startSandbox } from '../../fixtures/sandbox.ts';
import { type Machine, type MachineOptions, makeMachine } from './machine.ts';
import { makeLedger, type SecretLedger } from './secrets.ts';
import { makeVisitor, type Visitor } from './visitor.ts';

/** What the tests of one file share: a sandbox in a process of its own, and a browser. */
export interface LoginFixture {
  readonly sandbox: Sandbox;
  /** Where the sandbox was started: its state and the profile `sandbox` it wrote stand there. */
  readonly folders: Folders;
  readonly secrets: SecretLedger;
  /** The account without a team. */
  readonly maya: Person;
  /** The account with one. */
  readonly tomas: Person;
  readonly team: Person['teams'][number];
  /** A computer nobody has logged in on, which ends with the test. */
  machine(options?: MachineOptions): Machine;
  /** A browser nobody is signed in with, which ends with the test. */
  visitor(): Promise<Visitor>;
  /** Requests the sandbox answered at `METHOD path`. */
  requests(endpoint: string): Promise<readonly LoggedRequest[]>;
  forgetRequests(): Promise<void>;
}

export interface LoggedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly grant_type?: string;
  readonly token_hint?: string;
}

/** Stands from before the first test of the file until after the last. `callbackUrls`: registered instead of one on a free port. */
export function useLoginFixture(callbackUrls: () => Promise<readonly string[]> = async () => []): () => LoginFixture {
  let fixture: LoginFixture | undefined;
  let close: () => Promise<void> = async () => {};
  beforeAll(async () => {
    const folders = makeFolders();
    const words = (await callbackUrls()).flatMap((url) => ['--callback-url', url]);
    const sandbox = await startSandbox(folders, words);
    const browser = await launchBrowser(folders);
    fixture = groundOf(sandbox, folders, browser);
    close = async () => {
      await browser.close();
      await sandbox.stop();
      folders.remove();
    };
  });
  afterAll(() => close());
  return () => {
    if (fixture === undefined) throw new Error('the fixture stands only while tests run');
    return fixture;
  };
}

function groundOf(sandbox: Sandbox, folders: Folders, browser: Browser): LoginFixture {
  const [maya, tomas] = sandbox.users;
  const team = tomas?.teams[0];
  if (maya === undefined || tomas === undefined || team === undefined) throw new Error('the sandbox lacks its people');
  const secrets = makeLedger([sandbox.client_secret, sandbox.admin_token, maya.password, tomas.password]);
  return {
    sandbox,
    folders,
    secrets,
    maya,
    tomas,
    team,
    machine: (options) => makeMachine(sandbox, secrets, options),
    visitor: () => makeVisitor(browser, secrets),
    requests: async (endpoint) => {
      const { body } = await sandbox.admin('GET', `/_sandbox/requests?${new URLSearchParams({ endpoint })}`);
      return (body as { readonly requests: readonly LoggedRequest[] }).requests;
    },
    forgetRequests: async () => {
      await sandbox.admin('DELETE', '/_sandbox/requests');
    },
  };
}
