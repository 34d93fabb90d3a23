import type { SandboxAdminApi } from '../api/sandbox-admin.ts';
import { isJsonRecord, type JsonRecord, readStringField } from '../base/json.ts';
import { Secret } from '../base/secret.ts';
import { type CookieJar, sendWithCookies } from './browse.ts';
import { ConformanceNotTestableError } from './conformance-difference-error.ts';
import {
  registerRedactedSecret,
  type SandboxTestResources,
  type ServerUnderTest,
  type TestedClient,
  type TestedPerson,
} from './server-under-test.ts';

export async function readSandboxTestResources(admin: SandboxAdminApi): Promise<SandboxTestResources> {
  const world = await admin.call('GET', '/world');
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
    clusters: records(world, 'clusters').map((cluster) => ({
      uuid: readStringField(cluster, 'uuid') ?? '',
      engine: readStringField(cluster, 'engine') ?? '',
      hasServer: readStringField(cluster, 'data_plane') !== 'none',
    })),
  };
}

/** The first user of the sandbox, to whom its clusters belong. */
export function requireFirstSandboxUser(server: ServerUnderTest): TestedPerson {
  return requireFound(server.people?.users[0], 'the sandbox has no user');
}

/** A user with a team. */
export function requireSandboxUserInAnyTeam(server: ServerUnderTest): TestedPerson {
  const member = server.people?.users.find(({ teams }) => teams.length > 0);
  return requireFound(member, 'the sandbox has no user with a team');
}

/** A registered application of the sandbox that is not the tested application. */
export function requireSandboxApplicationNotUnderTest(server: ServerUnderTest): TestedClient {
  const other = server.people?.applications.find(({ id }) => id !== server.client?.id);
  return requireFound(other, 'the sandbox has only one application');
}

export async function advanceSandboxClock(server: ServerUnderTest, step: string): Promise<void> {
  await requireSandboxAdminApi(server).call('POST', '/clock', { advance: step });
}

/** Freezes the virtual clock of the sandbox while `play` runs, so that `play` can set the clock to an exact time. */
export async function withFrozenClock<T>(server: ServerUnderTest, play: () => Promise<T>): Promise<T> {
  const admin = requireSandboxAdminApi(server);
  await admin.call('POST', '/clock', { freeze: true });
  try {
    return await play();
  } finally {
    await admin.call('POST', '/clock', { resume: true });
  }
}

export async function setSandboxConsent(
  server: ServerUnderTest,
  script: { readonly mode: 'approve' | 'deny' | 'ask'; readonly user?: string; readonly team?: string },
): Promise<void> {
  await requireSandboxAdminApi(server).call('POST', '/consent', script);
}

/** Signs in on the sign-in page and returns the cookies. */
export async function signInAtSandboxPanel(server: ServerUnderTest, person: TestedPerson): Promise<CookieJar> {
  const cookies: CookieJar = new Map();
  const form = { email: person.email, password: person.password, next: '/panel' };
  const response = await sendWithCookies(server, cookies, { method: 'POST', path: '/panel/sign-in', form });
  if (response.status !== 303 || cookies.size === 0)
    throw new ConformanceNotTestableError(`could not sign in: ${response.received}`);
  return cookies;
}

/** Revokes the access of every application of a user, on the applications page of the control panel. */
export async function revokeAllApplicationsThroughPanel(server: ServerUnderTest, person: TestedPerson): Promise<void> {
  const cookies = await signInAtSandboxPanel(server, person);
  await submitPanelForms(server, cookies, '/panel/applications', '/panel/applications/revoke');
}

/** Stops every running migration of a user, on the migrations page of the control panel. */
export async function stopAllMigrationsThroughPanel(server: ServerUnderTest, person: TestedPerson): Promise<void> {
  const cookies = await signInAtSandboxPanel(server, person);
  await submitPanelForms(server, cookies, '/panel/migrations', '/panel/migrations/stop');
}

async function submitPanelForms(
  server: ServerUnderTest,
  cookies: CookieJar,
  path: string,
  action: string,
): Promise<void> {
  const page = await sendWithCookies(server, cookies, { method: 'GET', path });
  for (const [, target = '', content = ''] of page.body.matchAll(
    /<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
  )) {
    if (target !== action) continue;
    const fields = [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, registerRedactedSecret(server, value, '[form field]')] as const,
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

export function requireSandboxAdminApi({ admin }: ServerUnderTest): SandboxAdminApi {
  return requireFound(admin, 'there is no admin API');
}

function requireFound<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new ConformanceNotTestableError(reason);
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
