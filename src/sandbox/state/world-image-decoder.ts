import type {
  Authorization,
  AuthorizationCode,
  BrowserSession,
  ConsentScript,
  CsrfToken,
  SandboxAction,
  SandboxDroplet,
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
  asString,
  type Decoder,
  nullable,
  objectOf,
  oneOfValues,
  optionalMember,
} from './decoder.ts';
import type { StatePatch } from './state-patch.ts';
import type { TableName, TableRows, WorldImage } from './world-image.ts';

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

const consent: Decoder<ConsentScript> = (value, place) => {
  const given = typeof value === 'object' && value !== null && 'mode' in value ? value.mode : undefined;
  return consentModes[oneOfValues('ask', 'deny', 'approve')(given, `${place}.mode`)](value, place);
};

const grantFields = {
  authorization: asString,
  person: asString,
  clientId: asString,
  scope,
  team: optionalMember(asString),
} satisfies { readonly [K in keyof SandboxGrant]: unknown };

const rows: { readonly [N in TableName]: Decoder<TableRows[N]> } = {
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
  actions: objectOf<SandboxAction>({
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

export const decodeWorldImage = objectOf<WorldImage>({
  clock,
  consent,
  nextId: asInteger,
  sessions: arrayOf(rows.sessions),
  authorizations: arrayOf(rows.authorizations),
  codes: arrayOf(rows.codes),
  pairs: arrayOf(rows.pairs),
  droplets: arrayOf(rows.droplets),
  actions: arrayOf(rows.actions),
  migrations: arrayOf(rows.migrations),
});

const names = arrayOf(asString);
const numbers = arrayOf(asInteger);

export const decodeStatePatch = objectOf<StatePatch>({
  put: objectOf<StatePatch['put']>({
    clock: optionalMember(clock),
    consent: optionalMember(consent),
    nextId: optionalMember(asInteger),
    sessions: optionalMember(arrayOf(rows.sessions)),
    authorizations: optionalMember(arrayOf(rows.authorizations)),
    codes: optionalMember(arrayOf(rows.codes)),
    pairs: optionalMember(arrayOf(rows.pairs)),
    droplets: optionalMember(arrayOf(rows.droplets)),
    actions: optionalMember(arrayOf(rows.actions)),
    migrations: optionalMember(arrayOf(rows.migrations)),
  }),
  drop: objectOf<StatePatch['drop']>({
    sessions: optionalMember(names),
    authorizations: optionalMember(names),
    codes: optionalMember(names),
    pairs: optionalMember(names),
    droplets: optionalMember(numbers),
    actions: optionalMember(numbers),
    migrations: optionalMember(names),
  }),
});
