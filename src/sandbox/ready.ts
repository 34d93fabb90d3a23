import type { Seed } from './seed.ts';

/** What a newcomer needs to know about a sandbox that has started. */
export interface ReadyLine {
  readonly auth_url: string;
  readonly base_url: string;
  readonly panel_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly callback_url: string;
  readonly users: readonly ReadyUser[];
  readonly clusters: readonly ReadyCluster[];
}

export interface ReadyUser {
  readonly email: string;
  readonly password: string;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

export interface ReadyCluster {
  readonly uuid: string;
  readonly name: string;
  readonly engine: 'postgresql' | 'redis';
  readonly version: string;
  readonly data_plane: 'none';
}

export function readyLine(seed: Seed, authUrl: string, baseUrl: string, adminToken: string): ReadyLine {
  const [first] = seed.applications;
  return {
    auth_url: authUrl,
    base_url: baseUrl,
    panel_url: `${authUrl}/panel`,
    admin_url: authUrl,
    admin_token: adminToken,
    client_id: first?.clientId ?? '',
    client_secret: first?.clientSecret ?? '',
    callback_url: first?.callbackUrls[0] ?? '',
    users: seed.people.map(({ email, password, uuid, teams }) => ({
      email,
      password,
      uuid,
      teams: seed.teams.filter((team) => teams.includes(team.uuid)),
    })),
    clusters: seed.clusters.map(({ dataPlane, ...cluster }) => ({ ...cluster, data_plane: dataPlane })),
  };
}
