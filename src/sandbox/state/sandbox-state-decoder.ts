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
  TokenPair,
} from '../records.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import {
  arrayOf,
  asBoolean,
  asInteger,
  asObject,
  asString,
  type Decoder,
  nullable,
  objectOf,
  oneOfValues,
  optionalMember,
} from './decoder.ts';
import {
  EMPTY_ROWS,
  type RowLists,
  recordByTable,
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
    team: optionalMember(asString),
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
  team: optionalMember(asString),
} satisfies { readonly [K in keyof SandboxGrant]: unknown };

const rows: { readonly [N in TableName]: Decoder<StateRecordTypes[N]> } = {
  sessions: objectOf<BrowserSession>({
    id: asString,
    person: asString,
    forms: arrayOf(objectOf<CsrfToken>({ token: asString, form: asString })),
  }),
  authorizations: objectOf<Authorization>({
    id: asString,
    person: asString,
    clientId: asString,
    scope,
    team: optionalMember(asString),
    since: asInteger,
  }),
  codes: objectOf<AuthorizationCode>({
    ...grantFields,
    code: asString,
    redirectUri: asString,
    challenge: optionalMember(asString),
    expiresAt: asInteger,
    usedFor: optionalMember(asString),
  }),
  pairs: objectOf<TokenPair>({
    ...grantFields,
    accessToken: asString,
    refreshToken: optionalMember(asString),
    issuedAt: asInteger,
    expiresAt: asInteger,
    end: optionalMember(oneOfValues('revoked', 'refreshed')),
    successor: optionalMember(asString),
  }),
  droplets: objectOf<SandboxDroplet>({
    id: asInteger,
    account: asString,
    name: asString,
    region: asString,
    size: asString,
    image: asInteger,
    tags: arrayOf(asString),
    features: arrayOf(asString),
    vpc: optionalMember(asString),
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
      port: optionalMember(asInteger),
      dbname: optionalMember(asString),
      username: optionalMember(asString),
      disableSsl: asBoolean,
      ignoreDbs: arrayOf(asString),
    }),
    startedAt: asInteger,
    stoppedAt: optionalMember(asInteger),
    isReal: optionalMember(asBoolean),
    ended: optionalMember(
      objectOf<SandboxMigrationEnd>({
        status: oneOfValues('done', 'error'),
        at: asInteger,
        reason: optionalMember(asString),
      }),
    ),
  }),
};

const rowLists = recordByTable<{ readonly [N in TableName]: Decoder<RowLists[N]> }>((name) => arrayOf(rows[name]));

export const decodeSandboxState = objectOf<SandboxState>({ clock, consent, nextId: asInteger, ...rowLists });

const decodePut = objectOf<StatePatch['put']>({
  clock: optionalMember(clock),
  consent: optionalMember(consent),
  nextId: optionalMember(asInteger),
  ...rowLists,
});

const decodeTableName = oneOfValues(...TABLE_NAMES);
const decodeKeys = arrayOf<RowKey>((value, path) =>
  typeof value === 'number' ? asInteger(value, path) : asString(value, path),
);

/** Tables that did not change are absent from a journal record. */
export const decodeJournalPatch = objectOf<StatePatch>({
  put: (value, path) => decodePut({ ...EMPTY_ROWS, ...asObject(value, path) }, path),
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
