import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentScript,
  CsrfToken,
  SandboxDroplet,
  SandboxDropletAction,
  SandboxGrant,
  SandboxMigration,
  SandboxMigrationEnd,
  SandboxMigrationSource,
  TokenIssue,
  TokenPair,
} from '../records.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import {
  arrayDecoder,
  asBoolean,
  asInteger,
  asObject,
  asString,
  type Decoder,
  nullable,
  objectOf,
  oneOfValues,
  optionalMemberDecoder,
} from './decoder.ts';
import {
  createPerTable,
  EMPTY_STATE_ROWS,
  type RowLists,
  type SandboxState,
  type StateRecordTypes,
  TABLE_NAMES,
  type TableName,
} from './sandbox-state.ts';
import type { StatePatch } from './state-patch.ts';
import type { RowKey } from './state-table.ts';

const scope = oneOfValues('read', 'read write');
const clock = objectOf<VirtualClock>({ offset: asInteger, frozenAt: nullable(asInteger) });

const consentModes = {
  ask: objectOf<ConsentScript & { mode: 'ask' }>({ mode: oneOfValues('ask') }),
  deny: objectOf<ConsentScript & { mode: 'deny' }>({ mode: oneOfValues('deny') }),
  approve: objectOf<ConsentScript & { mode: 'approve' }>({
    mode: oneOfValues('approve'),
    person: asString,
    team: optionalMemberDecoder(asString),
  }),
};

const consent: Decoder<ConsentScript> = (value, path) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[oneOfValues('ask', 'deny', 'approve')(given, `${path}.mode`)](value, path);
};

const grantFields = {
  authorization: asString,
  person: asString,
  clientId: asString,
  scope,
  team: optionalMemberDecoder(asString),
} satisfies { readonly [K in keyof SandboxGrant]: unknown };

const rows: { readonly [N in TableName]: Decoder<StateRecordTypes[N]> } = {
  sessions: objectOf<BrowserSession>({
    id: asString,
    person: asString,
    forms: arrayDecoder(objectOf<CsrfToken>({ token: asString, form: asString })),
  }),
  authorizations: objectOf<Authorization>({
    id: asString,
    person: asString,
    clientId: asString,
    scope,
    team: optionalMemberDecoder(asString),
    since: asInteger,
  }),
  codes: objectOf<AuthorizationCode>({
    ...grantFields,
    code: asString,
    redirectUri: asString,
    challenge: optionalMemberDecoder(asString),
    expiresAt: asInteger,
    usedFor: optionalMemberDecoder(asString),
  }),
  pairs: objectOf<TokenPair>({
    ...grantFields,
    accessToken: asString,
    refreshToken: optionalMemberDecoder(asString),
    issuedAt: asInteger,
    expiresAt: asInteger,
    end: optionalMemberDecoder(oneOfValues('revoked', 'refreshed')),
    successor: optionalMemberDecoder(asString),
    issue: optionalMemberDecoder(
      objectOf<TokenIssue>({
        by: oneOfValues('code', 'implicit', 'refresh', 'admin_issue', 'admin_refresh'),
        client: optionalMemberDecoder(asString),
        chain: asString,
      }),
    ),
  }),
  droplets: objectOf<SandboxDroplet>({
    id: asInteger,
    account: asString,
    name: asString,
    region: asString,
    size: asString,
    image: asInteger,
    tags: arrayDecoder(asString),
    features: arrayDecoder(asString),
    vpc: optionalMemberDecoder(asString),
    createdAt: asInteger,
    activeAt: asInteger,
  }),
  actions: objectOf<SandboxDropletAction>({
    id: asInteger,
    account: asString,
    type: oneOfValues('create', 'destroy'),
    droplet: asInteger,
    region: asString,
    startedAt: asInteger,
    completedAt: asInteger,
  }),
  migrations: objectOf<SandboxMigration>({
    id: asString,
    cluster: asString,
    source: objectOf<SandboxMigrationSource>({
      host: asString,
      port: optionalMemberDecoder(asInteger),
      dbname: optionalMemberDecoder(asString),
      username: optionalMemberDecoder(asString),
      disableSsl: asBoolean,
      ignoreDbs: arrayDecoder(asString),
    }),
    startedAt: asInteger,
    stoppedAt: optionalMemberDecoder(asInteger),
    isReal: optionalMemberDecoder(asBoolean),
    ended: optionalMemberDecoder(
      objectOf<SandboxMigrationEnd>({
        status: oneOfValues('done', 'error'),
        at: asInteger,
        reason: optionalMemberDecoder(asString),
      }),
    ),
  }),
};

const rowLists = createPerTable<{ readonly [N in TableName]: Decoder<RowLists[N]> }>((name) =>
  arrayDecoder(rows[name]),
);

export const decodeSandboxState = objectOf<SandboxState>({ clock, consent, nextId: asInteger, ...rowLists });

const decodePut = objectOf<StatePatch['put']>({
  clock: optionalMemberDecoder(clock),
  consent: optionalMemberDecoder(consent),
  nextId: optionalMemberDecoder(asInteger),
  ...rowLists,
});

const decodeTableName = oneOfValues(...TABLE_NAMES);
const decodeKeys = arrayDecoder<RowKey>((value, path) =>
  typeof value === 'number' ? asInteger(value, path) : asString(value, path),
);

/** A journal record contains only the tables that have changed. */
export const decodeJournalPatch = objectOf<StatePatch>({
  put: (value, path) => decodePut({ ...EMPTY_STATE_ROWS, ...asObject(value, path) }, path),
  drop: (value, path) => {
    const entries = Object.entries(asObject(value, path));
    return new Map(
      entries.map(([name, keys]) => [
        decodeTableName(name, `a member name of ${path}`),
        decodeKeys(keys, `${path}.${name}`),
      ]),
    );
  },
});
