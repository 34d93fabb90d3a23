import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from '../../fixtures/cli.ts';
import type { Environment, Folders } from '../../fixtures/folders.ts';
import { authorizationUrl, visit } from '../../fixtures/login.ts';
import { canary } from './golden-cases.ts';

export interface ServerOrigins {
  readonly auth?: string;
  readonly base?: string;
}

/** A person whose application is registered with these servers; every secret is a canary. */
export function applicationEnvironment({ auth, base }: ServerOrigins): Environment {
  return {
    CLOUDCTL_AUTH_URL: auth ?? 'https://cloud.example.com',
    CLOUDCTL_BASE_URL: base ?? 'https://api.example.com',
    CLOUDCTL_CLIENT_ID: 'my-application',
    CLOUDCTL_CLIENT_SECRET: `${canary}-client-secret`,
    CLOUDCTL_CALLBACK_URL: 'http://127.0.0.1:0/callback',
    CLOUDCTL_CREDENTIAL_STORE: 'file',
  };
}

/** The same person, logged in. */
export function loggedInEnvironment(servings: ServerOrigins, more: object = {}) {
  return (folders: Folders): Environment => {
    const env = applicationEnvironment(servings);
    const now = Math.floor(Date.now() / 1000);
    const record = {
      v: 1,
      sid: '0123456789abcdef',
      gen: 1,
      seal: `${canary}-seal`,
      access_token: `${canary}-access-token`,
      refresh_token: `${canary}-refresh-token`,
      expires_at: now + 86_400,
      obtained_at: now,
      scope: 'read',
      auth_origin: env.CLOUDCTL_AUTH_URL,
      base_origin: env.CLOUDCTL_BASE_URL,
      client_id: env.CLOUDCTL_CLIENT_ID,
      ...more,
    };
    mkdirSync(join(folders.state, 'sessions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folders.state, 'sessions', 'default.credential.json'), JSON.stringify(record), { mode: 0o600 });
    return env;
  };
}

/** Comes back from the browser with these parameters; `STATE` stands for the state of the login. */
export function redirectWith(parameters: Readonly<Record<string, string>>) {
  return async (running: Running): Promise<void> => {
    const [url] = await running.waitFor('stderr', authorizationUrl);
    const asked = new URL(url).searchParams;
    const address = new URL(asked.get('redirect_uri') ?? '');
    for (const [name, value] of Object.entries(parameters))
      address.searchParams.set(name, value === 'STATE' ? (asked.get('state') ?? '') : value);
    await visit(address.href);
  };
}
