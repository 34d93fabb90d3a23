import { isJsonRecord, type JsonRecord, readStringField } from '../../src/base/json.ts';
import { Secret } from '../../src/base/secret.ts';
import { type Cookies, sendWithCookies } from './authorize.ts';
import { NotTestableError } from './response.ts';
import { type Client, type People, type Person, registerSecret, type Server } from './server.ts';

/** The admin API of a running sandbox (`/_sandbox/*`). */
export interface AdminApi {
  /** The decoded response body; undefined for a response without a body. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown>;
}

export function connectAdmin(adminUrl: string, adminToken: Secret): AdminApi {
  return {
    call: async (method, path, body) => {
      const response = await fetch(`${adminUrl}/_sandbox${path}`, {
        method,
        headers: { 'x-admin-token': adminToken.reveal(), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`the sandbox responded with ${response.status} to ${method} /_sandbox${path}`);
      return text === '' ? undefined : JSON.parse(text);
    },
  };
}

export async function readPeople(admin: AdminApi): Promise<People> {
  const world = await admin.call('GET', '/world');
  const [first] = records(world, 'users');
  return {
    users: records(world, 'users').map((user) => ({
      email: readStringField(user, 'email') ?? '',
      password: new Secret(readStringField(user, 'password') ?? '', '[password]'),
      uuid: readStringField(user, 'uuid') ?? '',
      teams: records(user, 'teams').map((team) => ({
        uuid: readStringField(team, 'uuid') ?? '',
        name: readStringField(team, 'name') ?? '',
      })),
    })),
    applications: records(world, 'applications').map((application) => ({
      id: readStringField(application, 'client_id') ?? '',
      secret: new Secret(readStringField(application, 'client_secret') ?? '', '[client secret]'),
      callbackUrl: firstText(application.callback_urls),
    })),
    // Who is tested does not see the clusters of others.
    clusters: records(world, 'clusters')
      .filter(({ owner }) => owner === first?.uuid)
      .map((cluster) => ({
        uuid: readStringField(cluster, 'uuid') ?? '',
        name: readStringField(cluster, 'name') ?? '',
        engine: readStringField(cluster, 'engine') ?? '',
        hasServer: readStringField(cluster, 'data_plane') !== 'none',
      })),
  };
}

/** The first user of the sandbox, to whom its clusters belong. */
export function firstUser(server: Server): Person {
  return requireFound(server.people?.users[0], 'the sandbox has no user');
}

/** A user with another account than the first one. */
export function otherUser(server: Server): Person {
  return requireFound(server.people?.users[1], 'the sandbox has only one user');
}

/** A user with a team. */
export function teamUser(server: Server): Person {
  const member = server.people?.users.find(({ teams }) => teams.length > 0);
  return requireFound(member, 'the sandbox has no user with a team');
}

/** A registered application of the sandbox that is not the tested application. */
export function otherClient(server: Server): Client {
  const other = server.people?.applications.find(({ id }) => id !== server.client?.id);
  return requireFound(other, 'the sandbox has only one application');
}

export async function advanceClock(server: Server, step: string): Promise<void> {
  await requireAdmin(server).call('POST', '/clock', { advance: step });
}

/** Freezes the virtual clock of the sandbox while `play` runs, so that `play` can set the clock to an exact time. */
export async function withFrozenClock<T>(server: Server, play: () => Promise<T>): Promise<T> {
  const admin = requireAdmin(server);
  await admin.call('POST', '/clock', { freeze: true });
  try {
    return await play();
  } finally {
    await admin.call('POST', '/clock', { resume: true });
  }
}

export async function setConsent(
  server: Server,
  script: { readonly mode: 'approve' | 'deny' | 'ask'; readonly user?: string; readonly team?: string },
): Promise<void> {
  await requireAdmin(server).call('POST', '/consent', script);
}

/** Signs in on the sign-in page and returns the cookies. */
export async function signIn(server: Server, person: Person): Promise<Cookies> {
  const cookies: Cookies = new Map();
  const form = { email: person.email, password: person.password, next: '/panel' };
  const response = await sendWithCookies(server, cookies, { method: 'POST', path: '/panel/sign-in', form });
  if (response.status !== 303 || cookies.size === 0)
    throw new NotTestableError(`could not sign in: ${response.received}`);
  return cookies;
}

/** Revokes the access of every application of a user, on the applications page of the control panel. */
export async function revokeInPanel(server: Server, person: Person): Promise<void> {
  const cookies = await signIn(server, person);
  await submitPanelForms(server, cookies, '/panel/applications', '/panel/applications/revoke');
}

/** Stops every running migration of a user, on the migrations page of the control panel. */
export async function stopInPanel(server: Server, person: Person): Promise<void> {
  const cookies = await signIn(server, person);
  await submitPanelForms(server, cookies, '/panel/migrations', '/panel/migrations/stop');
}

async function submitPanelForms(server: Server, cookies: Cookies, path: string, action: string): Promise<void> {
  const page = await sendWithCookies(server, cookies, { method: 'GET', path });
  for (const [, target = '', content = ''] of page.body.matchAll(
    /<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
  )) {
    if (target !== action) continue;
    const fields = [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, registerSecret(server, value, '[form field]')] as const,
    );
    const headers = { origin: server.authUrl };
    await sendWithCookies(server, cookies, {
      method: 'POST',
      path: target,
      form: Object.fromEntries(fields),
      headers,
    });
  }
}

export function requireAdmin({ admin }: Server): AdminApi {
  return requireFound(admin, 'there is no admin API');
}

function requireFound<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new NotTestableError(reason);
  return value;
}

function records(value: unknown, key: string): readonly JsonRecord[] {
  const list = isJsonRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter(isJsonRecord) : [];
}

function firstText(value: unknown): string {
  const [first] = Array.isArray(value) ? value : [];
  return typeof first === 'string' ? first : '';
}
