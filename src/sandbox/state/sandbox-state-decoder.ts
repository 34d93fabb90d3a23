import type {
  ApplicationAuthorization,
  AuthorizationCode,
  AuthorizationConsentMode,
  CsrfTokenRecord,
  IssuedTokenPair,
  SandboxBrowserSession,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxGrant,
  SandboxMigration,
  SandboxMigrationEnd,
  SandboxMigrationSource,
  TokenIssuance,
} from '../records.ts';
import type { VirtualClockState } from '../virtual-clock.ts';
import {
  createArrayDecoder,
  createEnumDecoder,
  createNullableDecoder,
  createObjectDecoder,
  createOptionalMemberDecoder,
  decodeAnyObject,
  decodeBoolean,
  decodeInteger,
  decodeString,
  type JsonDecoder,
} from './decoder.ts';
import {
  EMPTY_SANDBOX_STATE_ROWS,
  mapSandboxStateTablesToObject,
  SANDBOX_STATE_TABLE_NAMES,
  type SandboxState,
  type SandboxStateRecordTypes,
  type SandboxStateRowKey,
  type SandboxStateRowLists,
  type SandboxStateTableName,
  type StateChange,
} from './tables.ts';

const scope = createEnumDecoder('read', 'read write');
const clock = createObjectDecoder<VirtualClockState>({
  offset: decodeInteger,
  frozenAt: createNullableDecoder(decodeInteger),
});

const consentModes = {
  ask: createObjectDecoder<AuthorizationConsentMode & { mode: 'ask' }>({ mode: createEnumDecoder('ask') }),
  deny: createObjectDecoder<AuthorizationConsentMode & { mode: 'deny' }>({ mode: createEnumDecoder('deny') }),
  approve: createObjectDecoder<AuthorizationConsentMode & { mode: 'approve' }>({
    mode: createEnumDecoder('approve'),
    person: decodeString,
    team: createOptionalMemberDecoder(decodeString),
  }),
};

const consent: JsonDecoder<AuthorizationConsentMode> = (value, path) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[createEnumDecoder('ask', 'deny', 'approve')(given, `${path}.mode`)](value, path);
};

const grantFields = {
  authorization: decodeString,
  person: decodeString,
  clientId: decodeString,
  scope,
  team: createOptionalMemberDecoder(decodeString),
} satisfies { readonly [K in keyof SandboxGrant]: unknown };

const rows: { readonly [N in SandboxStateTableName]: JsonDecoder<SandboxStateRecordTypes[N]> } = {
  sessions: createObjectDecoder<SandboxBrowserSession>({
    id: decodeString,
    person: decodeString,
    forms: createArrayDecoder(createObjectDecoder<CsrfTokenRecord>({ token: decodeString, form: decodeString })),
  }),
  authorizations: createObjectDecoder<ApplicationAuthorization>({
    id: decodeString,
    person: decodeString,
    clientId: decodeString,
    scope,
    team: createOptionalMemberDecoder(decodeString),
    since: decodeInteger,
  }),
  codes: createObjectDecoder<AuthorizationCode>({
    ...grantFields,
    code: decodeString,
    redirectUri: decodeString,
    challenge: createOptionalMemberDecoder(decodeString),
    expiresAt: decodeInteger,
    usedFor: createOptionalMemberDecoder(decodeString),
  }),
  pairs: createObjectDecoder<IssuedTokenPair>({
    ...grantFields,
    accessToken: decodeString,
    refreshToken: createOptionalMemberDecoder(decodeString),
    issuedAt: decodeInteger,
    expiresAt: decodeInteger,
    end: createOptionalMemberDecoder(createEnumDecoder('revoked', 'refreshed')),
    successor: createOptionalMemberDecoder(decodeString),
    issue: createObjectDecoder<TokenIssuance>({
      by: createEnumDecoder('code', 'implicit', 'refresh', 'admin_issue', 'admin_refresh'),
      client: createOptionalMemberDecoder(decodeString),
      chain: decodeString,
    }),
  }),
  droplets: createObjectDecoder<SandboxDroplet>({
    id: decodeInteger,
    account: decodeString,
    name: decodeString,
    region: decodeString,
    size: decodeString,
    image: decodeInteger,
    tags: createArrayDecoder(decodeString),
    features: createArrayDecoder(decodeString),
    vpc: createOptionalMemberDecoder(decodeString),
    createdAt: decodeInteger,
    activeAt: decodeInteger,
  }),
  actions: createObjectDecoder<SandboxDropletAction>({
    id: decodeInteger,
    account: decodeString,
    type: createEnumDecoder('create', 'destroy'),
    droplet: decodeInteger,
    region: decodeString,
    startedAt: decodeInteger,
    completedAt: decodeInteger,
  }),
  migrations: createObjectDecoder<SandboxMigration>({
    id: decodeString,
    cluster: decodeString,
    source: createObjectDecoder<SandboxMigrationSource>({
      host: decodeString,
      port: createOptionalMemberDecoder(decodeInteger),
      dbname: createOptionalMemberDecoder(decodeString),
      username: createOptionalMemberDecoder(decodeString),
      disableSsl: decodeBoolean,
      ignoreDbs: createArrayDecoder(decodeString),
    }),
    startedAt: decodeInteger,
    stoppedAt: createOptionalMemberDecoder(decodeInteger),
    isReal: createOptionalMemberDecoder(decodeBoolean),
    ended: createOptionalMemberDecoder(
      createObjectDecoder<SandboxMigrationEnd>({
        status: createEnumDecoder('done', 'error'),
        at: decodeInteger,
        reason: createOptionalMemberDecoder(decodeString),
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
  nextId: decodeInteger,
  ...rowLists,
});

const decodePut = createObjectDecoder<StateChange['put']>({
  clock: createOptionalMemberDecoder(clock),
  consent: createOptionalMemberDecoder(consent),
  nextId: createOptionalMemberDecoder(decodeInteger),
  ...rowLists,
});

const decodeTableName = createEnumDecoder(...SANDBOX_STATE_TABLE_NAMES);
const decodeKeys = createArrayDecoder<SandboxStateRowKey>((value, path) =>
  typeof value === 'number' ? decodeInteger(value, path) : decodeString(value, path),
);

/** A change contains only the tables that have changed. */
export const decodeStateChange = createObjectDecoder<StateChange>({
  put: (value, path) => decodePut({ ...EMPTY_SANDBOX_STATE_ROWS, ...decodeAnyObject(value, path) }, path),
  drop: (value = {}, path) => {
    const entries = Object.entries(decodeAnyObject(value, path));
    return new Map(
      entries.map(([name, keys]) => [
        decodeTableName(name, `a member name of ${path}`),
        decodeKeys(keys, `${path}.${name}`),
      ]),
    );
  },
});
