import type { LoginReport, StatusReport } from '../../auth/session/index.ts';
import { personalTeamValue } from '../../base/identity.ts';
import type { ListView } from '../../cli/columns.ts';

const columns: ListView<LoginReport>['columns'] = [
  { name: 'Profile', value: (row) => row.profile },
  { name: 'Name', value: (row) => row.name },
  { name: 'Email', value: (row) => row.email },
  { name: 'UUID', value: (row) => row.uuid },
  {
    name: 'Team',
    value: (row) => row.team_name ?? row.team_uuid ?? (row.uuid === undefined ? undefined : personalTeamValue),
  },
  { name: 'TeamUUID', value: (row) => row.team_uuid, extra: true },
  { name: 'Scope', value: (row) => row.scope },
  { name: 'ScopeVerified', value: (row) => row.scope_verified, extra: true },
  { name: 'ExpiresAt', value: (row) => row.expires_at, kind: 'time' },
  { name: 'Flow', value: (row) => row.flow },
  { name: 'Store', value: (row) => row.store },
];

export const loginSessionFields = [
  'profile',
  'name',
  'email',
  'uuid',
  'team_name',
  'team_uuid',
  'scope',
  'scope_verified',
  'expires_at',
  'flow',
  'store',
];

/** Also the members of the report about an access token from the environment or from `token_command`. */
export const loginStatusFields = [
  ...loginSessionFields,
  'state',
  'expires_in',
  'pending_write',
  'store_place',
  'sandbox',
  'source',
  'base_url',
  'program',
  'renewable',
];

export const loginSessionListView: ListView<LoginReport> = { columns };

export const loginStatusListView: ListView<StatusReport> = {
  columns: [
    ...columns,
    { name: 'State', value: (row) => row.state, kind: 'state' },
    { name: 'ExpiresIn', value: (row) => row.expires_in, extra: true },
    { name: 'PendingWrite', value: (row) => row.pending_write, extra: true },
    { name: 'StorePlace', value: (row) => row.store_place },
    { name: 'Sandbox', value: (row) => row.sandbox },
  ],
};
