import { CliError } from '../errors.ts';
import { isRecord, stringField } from '../json.ts';
import type { Secret } from '../secret.ts';
import type { Api } from './client.ts';

/** An online migration request (spec.md §2). Absent members are not sent. */
export interface MigrationRequest {
  readonly source: {
    readonly host: string;
    readonly port?: number;
    readonly dbname?: string;
    readonly username?: string;
    readonly password?: Secret;
  };
  readonly disableSsl?: boolean;
  readonly ignoreDbs?: readonly string[];
}

export interface StartedMigration {
  readonly id: string;
  readonly status: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Starts an online migration into a cluster (spec.md §4.5). The request is sent once, because a lost response may have started it. */
export async function startOnlineMigration(
  api: Api,
  cluster: string,
  request: MigrationRequest,
): Promise<StartedMigration> {
  const { password, ...source } = request.source;
  const body = JSON.stringify({
    source: { ...source, ...(password === undefined ? {} : { password: password.reveal() }) },
    ...(request.disableSsl === undefined ? {} : { disable_ssl: request.disableSsl }),
    ...(request.ignoreDbs === undefined ? {} : { ignore_dbs: request.ignoreDbs }),
  });
  const json = await api.json({ method: 'PUT', path: `/v2/databases/${cluster}/online-migration`, body });
  const id = isRecord(json) ? stringField(json, 'id') : undefined;
  const status = isRecord(json) ? stringField(json, 'status') : undefined;
  if (!isRecord(json) || id === undefined || status === undefined) {
    throw new CliError('api_error', 'could not parse the response to the accepted migration', {
      detail: 'the migration may be running',
      hint: `check its state with \`cloudctl api GET /v2/databases/${cluster}/online-migration\``,
    });
  }
  return { id, status, createdAt: stringField(json, 'created_at') ?? '' };
}
