import type {
  ApplicationAuthorization,
  AuthorizationCode,
  AuthorizationConsentMode,
  CsrfToken,
  SandboxBrowserSession,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxGrant,
  SandboxMigration,
  SandboxMigrationEnd,
  SandboxMigrationSource,
  TokenIssuance,
  TokenPair,
} from '../records.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import {
  anyObjectDecoder,
  booleanDecoder,
  createArrayDecoder,
  createEnumDecoder,
  createNullableDecoder,
  createObjectDecoder,
  createOptionalMemberDecoder,
  integerDecoder,
  type JsonDecoder,
  stringDecoder,
} from './decoder.ts';
import {
  EMPTY_SANDBOX_STATE_ROWS,
  mapSandboxStateTablesToObject,
  SANDBOX_STATE_TABLE_NAMES,
  type SandboxState,
  type SandboxStateRecordTypes,
  type SandboxStateRowLists,
  type SandboxStateTableName,
} from './sandbox-state.ts';
import type { SandboxJournalPatch } from './state-patch.ts';
import type { SandboxStateRowKey } from './state-table.ts';

const scope = createEnumDecoder('read', 'read write');
const clock = createObjectDecoder<VirtualClock>({
  offset: integerDecoder,
  frozenAt: createNullableDecoder(integerDecoder),
});

const consentModes = {
  ask: createObjectDecoder<AuthorizationConsentMode & { mode: 'ask' }>({ mode: createEnumDecoder('ask') }),
  deny: createObjectDecoder<AuthorizationConsentMode & { mode: 'deny' }>({ mode: createEnumDecoder('deny') }),
  approve: createObjectDecoder<AuthorizationConsentMode & { mode: 'approve' }>({
    mode: createEnumDecoder('approve'),
    person: stringDecoder,
    team: createOptionalMemberDecoder(stringDecoder),
  }),
};

const consent: JsonDecoder<AuthorizationConsentMode> = (value, path) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[createEnumDecoder('ask', 'deny', 'approve')(given, `${path}.mode`)](value, path);
};

const grantFields = {
  authorization: stringDecoder,
  person: stringDecoder,
  clientId: stringDecoder,
  scope,
  team: createOptionalMemberDecoder(stringDecoder),
} satisfies { readonly [K in keyof SandboxGrant]: unknown };

const rows: { readonly [N in SandboxStateTableName]: JsonDecoder<SandboxStateRecordTypes[N]> } = {
  sessions: createObjectDecoder<SandboxBrowserSession>({
    id: stringDecoder,
    person: stringDecoder,
    forms: createArrayDecoder(createObjectDecoder<CsrfToken>({ token: stringDecoder, form: stringDecoder })),
  }),
  authorizations: createObjectDecoder<ApplicationAuthorization>({
    id: stringDecoder,
    person: stringDecoder,
    clientId: stringDecoder,
    scope,
    team: createOptionalMemberDecoder(stringDecoder),
    since: integerDecoder,
  }),
  codes: createObjectDecoder<AuthorizationCode>({
    ...grantFields,
    code: stringDecoder,
    redirectUri: stringDecoder,
    challenge: createOptionalMemberDecoder(stringDecoder),
    expiresAt: integerDecoder,
    usedFor: createOptionalMemberDecoder(stringDecoder),
  }),
  pairs: createObjectDecoder<TokenPair>({
    ...grantFields,
    accessToken: stringDecoder,
    refreshToken: createOptionalMemberDecoder(stringDecoder),
    issuedAt: integerDecoder,
    expiresAt: integerDecoder,
    end: createOptionalMemberDecoder(createEnumDecoder('revoked', 'refreshed')),
    successor: createOptionalMemberDecoder(stringDecoder),
    issue: createOptionalMemberDecoder(
      createObjectDecoder<TokenIssuance>({
        by: createEnumDecoder('code', 'implicit', 'refresh', 'admin_issue', 'admin_refresh'),
        client: createOptionalMemberDecoder(stringDecoder),
        chain: stringDecoder,
      }),
    ),
  }),
  droplets: createObjectDecoder<SandboxDroplet>({
    id: integerDecoder,
    account: stringDecoder,
    name: stringDecoder,
    region: stringDecoder,
    size: stringDecoder,
    image: integerDecoder,
    tags: createArrayDecoder(stringDecoder),
    features: createArrayDecoder(stringDecoder),
    vpc: createOptionalMemberDecoder(stringDecoder),
    createdAt: integerDecoder,
    activeAt: integerDecoder,
  }),
  actions: createObjectDecoder<SandboxDropletAction>({
    id: integerDecoder,
    account: stringDecoder,
    type: createEnumDecoder('create', 'destroy'),
    droplet: integerDecoder,
    region: stringDecoder,
    startedAt: integerDecoder,
    completedAt: integerDecoder,
  }),
  migrations: createObjectDecoder<SandboxMigration>({
    id: stringDecoder,
    cluster: stringDecoder,
    source: createObjectDecoder<SandboxMigrationSource>({
      host: stringDecoder,
      port: createOptionalMemberDecoder(integerDecoder),
      dbname: createOptionalMemberDecoder(stringDecoder),
      username: createOptionalMemberDecoder(stringDecoder),
      disableSsl: booleanDecoder,
      ignoreDbs: createArrayDecoder(stringDecoder),
    }),
    startedAt: integerDecoder,
    stoppedAt: createOptionalMemberDecoder(integerDecoder),
    isReal: createOptionalMemberDecoder(booleanDecoder),
    ended: createOptionalMemberDecoder(
      createObjectDecoder<SandboxMigrationEnd>({
        status: createEnumDecoder('done', 'error'),
        at: integerDecoder,
        reason: createOptionalMemberDecoder(stringDecoder),
      }),
    ),
  }),
};

const rowLists = mapSandboxStateTablesToObject<{
  readonly [N in SandboxStateTableName]: JsonDecoder<SandboxStateRowLists[N]>;
}>((name) => createArrayDecoder(rows[name]));

export const decodeSandboxState = createObjectDecoder<SandboxState>({
  clock,
  consent,
  nextId: integerDecoder,
  ...rowLists,
});

const decodePut = createObjectDecoder<SandboxJournalPatch['put']>({
  clock: createOptionalMemberDecoder(clock),
  consent: createOptionalMemberDecoder(consent),
  nextId: createOptionalMemberDecoder(integerDecoder),
  ...rowLists,
});

const decodeTableName = createEnumDecoder(...SANDBOX_STATE_TABLE_NAMES);
const decodeKeys = createArrayDecoder<SandboxStateRowKey>((value, path) =>
  typeof value === 'number' ? integerDecoder(value, path) : stringDecoder(value, path),
);

/** A journal record contains only the tables that have changed. */
export const decodeSandboxJournalPatch = createObjectDecoder<SandboxJournalPatch>({
  put: (value, path) => decodePut({ ...EMPTY_SANDBOX_STATE_ROWS, ...anyObjectDecoder(value, path) }, path),
  drop: (value, path) => {
    const entries = Object.entries(anyObjectDecoder(value, path));
    return new Map(
      entries.map(([name, keys]) => [
        decodeTableName(name, `a member name of ${path}`),
        decodeKeys(keys, `${path}.${name}`),
      ]),
    );
  },
});
