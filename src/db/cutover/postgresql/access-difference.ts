import { quoteIdentifier } from '../../../postgresql/quote.ts';
import type { AccessCatalog, AccessObject, Privilege } from './access-catalog.ts';
import { compareRoles } from './access-roles.ts';
import { compareSettings } from './access-settings.ts';
import {
  type AccessSection,
  type AccessStatement,
  defaultWords,
  entryKey,
  granteeSql,
  grantSql,
  grouped,
  keyOf,
  nameOf,
  ordered,
  revokeSql,
  sameEntry,
  without,
} from './access-statements.ts';
import { createTargetLogin, type TargetLogin } from './target-login.ts';

interface AccessDifference {
  /** In the order in which they must run. */
  readonly statements: readonly AccessStatement[];
  /** Facts that need no statement, such as objects that keep their owner. */
  readonly notes: readonly string[];
}

export interface AccessOptions {
  readonly sections: readonly AccessSection[];
  /** Whether roles, and settings of roles in all databases, are compared too; they need it once for a server. */
  readonly withRoles: boolean;
  /** Whether superusers of the target become owners even of objects whose code runs with the rights of the owner. */
  readonly allowSuperuserOwners: boolean;
}

/** What the target lacks, or has in excess, compared with the source, in one database. */
export function findAccessDifference(
  source: AccessCatalog,
  target: AccessCatalog,
  options: AccessOptions,
): AccessDifference {
  const login = createTargetLogin(target);
  const run = new Comparison(source, target, login, options);
  const wants = (section: AccessSection): boolean => options.sections.includes(section);
  // Roles that the script creates are known in every database.
  const compared = compareRoles(source, target, login, wants('roles'));
  const roles = options.withRoles && wants('roles') ? compared : [];
  if (wants('owners')) run.owners();
  if (wants('grants')) run.privileges();
  if (wants('defaults')) run.defaults();
  if (wants('settings')) run.settings();
  const rest = run.statements;
  if (target.isSubscribed && rest.length > 0)
    run.notes.push(
      `a subscription still writes to ${target.database}: run the script when the migration has ended, because its end needs the present owners and restores former privileges`,
    );
  const isRun = rest.some(({ left }) => left === undefined);
  return {
    statements: [...roles, ...(isRun ? login.begin() : []), ...rest, ...(isRun ? login.end() : [])],
    notes: run.notes,
  };
}

class Comparison {
  readonly statements: AccessStatement[] = [];
  readonly notes: string[] = [];
  private readonly there: ReadonlyMap<string, AccessObject>;
  /** Owner after the script, by the key of the object. */
  private readonly owned = new Map<string, string>();
  /** Owner on the source and on the target of relations that the script hands over. */
  private readonly moved = new Set<string>();
  private readonly wanted: ReadonlyMap<string, AccessObject>;
  private readonly source: AccessCatalog;
  private readonly target: AccessCatalog;
  private readonly login: TargetLogin;
  private readonly options: AccessOptions;

  constructor(source: AccessCatalog, target: AccessCatalog, login: TargetLogin, options: AccessOptions) {
    this.source = source;
    this.target = target;
    this.login = login;
    this.options = options;
    this.there = new Map(target.objects.map((one) => [keyOf(one), one]));
    this.wanted = new Map(source.objects.map((one) => [keyOf(one), one]));
  }

  owners(): void {
    const own = this.source.objects.filter((one) => one.origin === 'user' && hasOwner(one));
    const kept = own.filter((one) => this.isKept(one));
    const isRisky = !this.options.allowSuperuserOwners && kept.some(({ runsAsOwner }) => runsAsOwner);
    const keptNow: string[] = [];
    const temporary = new Set<string>();
    const ends: AccessStatement[] = [];
    // A schema first, because its owner may create objects in it; the database last, because its owner may do the rest.
    for (const one of [...own].sort((a, b) => ownerOrder(a) - ownerOrder(b))) {
      const now = this.there.get(keyOf(one));
      if (now === undefined) {
        if (one.word !== 'TABLESPACE' && one.word !== 'PUBLICATION') this.missing(one);
        continue;
      }
      if (now.owner === one.owner || one.word === 'TABLESPACE') continue;
      // Its owner depends on the release: the first superuser, or the owner of the database.
      if (one.word === 'SCHEMA' && one.name === 'public' && this.source.roles.get(one.owner)?.isBuiltIn === true)
        continue;
      const isOfSuperuser = this.isKept(one);
      // The owner of an empty database stays who made it: nothing of the source runs as it.
      const isOutOfReach = !this.login.isSuperuser || !this.target.roles.has(one.owner);
      if (isOfSuperuser && (isRisky || isOutOfReach || one.word === 'DATABASE')) {
        if (one.word !== 'DATABASE') keptNow.push(`${one.owner} → ${now.owner}`);
        continue;
      }
      const left = this.lacksForOwner(one, now);
      if (
        left === undefined &&
        one.schema !== '' &&
        !this.login.isSuperuser &&
        !this.mayUse('CREATE', one.owner, one.schema)
      ) {
        const key = JSON.stringify([one.schema, one.owner]);
        const what = `CREATE ON SCHEMA ${quoteIdentifier(one.schema)}`;
        if (!temporary.has(key)) {
          this.add('owners', `GRANT ${what} TO ${quoteIdentifier(one.owner)}`, undefined);
          ends.push({ section: 'owners', sql: `REVOKE ${what} FROM ${quoteIdentifier(one.owner)}` });
        }
        temporary.add(key);
      }
      this.add('owners', `ALTER ${one.word} ${nameOf(one)} OWNER TO ${quoteIdentifier(one.owner)}`, left);
      if (left !== undefined) continue;
      this.owned.set(keyOf(one), one.owner);
      if (one.aclKind === 'r') this.moved.add(JSON.stringify([one.owner, now.owner]));
    }
    this.statements.push(...ends);
    if (keptNow.length > 0)
      this.notes.push(
        `${keptNow.length} ${keptNow.length === 1 ? 'object' : 'objects'} of superusers in ${this.source.database} keep their owner (${[...new Set(keptNow)].join(', ')})${isRisky ? ', because views and functions run with the rights of their owner; `cloudctl db grants --allow-superuser-owners` changes it' : ''}`,
      );
  }

  /** Whether the owner on the source is a superuser who must not become the owner on the target without a decision. */
  private isKept({ owner }: AccessObject): boolean {
    const there = this.target.roles.get(owner);
    if (there === undefined) return this.source.roles.get(owner)?.isBuiltIn === true;
    return there.isPowerful;
  }

  private missing(one: AccessObject): void {
    // Large objects are copied at the end of the migration, and compared with the contents.
    const what = `${one.word.toLowerCase()} ${nameOf(one)}`;
    this.add(
      'owners',
      `ALTER ${one.word} ${nameOf(one)} OWNER TO ${quoteIdentifier(one.owner)}`,
      `the target has no ${what}`,
      {
        isMinor: one.word === 'LARGE OBJECT',
      },
    );
  }

  private lacksForOwner(one: AccessObject, now: AccessObject): string | undefined {
    if (!this.target.roles.has(one.owner) && !this.login.created.has(one.owner))
      return `the target has no role ${one.owner}`;
    if (this.login.isSuperuser) return undefined;
    if (one.word === 'FOREIGN DATA WRAPPER') return 'only a superuser may own it';
    if (one.word === 'DATABASE' && !this.login.role.attributes.CREATEDB)
      return `the login ${this.login.role.name} lacks CREATEDB`;
    return this.login.lacks(now.owner) ?? this.login.lacks(one.owner);
  }

  private schemaOf(schema: string): string {
    return keyOf({ word: 'SCHEMA', aclKind: 'n', schema: '', name: schema, part: '' });
  }

  /** Whether the role has the privilege on the schema, in the access control list of one of the servers. */
  private mayUse(privilege: 'CREATE' | 'USAGE', role: string, schema: string): boolean {
    const now = this.there.get(this.schemaOf(schema));
    if (now === undefined || this.ownerAfter(now) === role) return true;
    // Owners change before privileges, and schemas get theirs before what they contain.
    const { acl = [] } = (privilege === 'CREATE' ? now : this.wanted.get(this.schemaOf(schema))) ?? now;
    return acl.some(({ name, grantee }) => name === privilege && (grantee === role || grantee === ''));
  }

  /** A sequence of a column follows its table, which has the same owner. */
  private ownerAfter(now: AccessObject): string {
    const wanted = now.origin === 'dependent' ? this.wanted.get(keyOf(now))?.owner : undefined;
    if (wanted !== undefined && this.moved.has(JSON.stringify([wanted, now.owner]))) return wanted;
    return this.owned.get(keyOf(now)) ?? now.owner;
  }

  privileges(): void {
    const revoked = new Map<string, readonly Privilege[]>();
    const isSchema = ({ word }: AccessObject) => word === 'SCHEMA';
    for (const now of [
      ...this.target.objects.filter(isSchema),
      ...this.target.objects.filter((one) => !isSchema(one)),
    ]) {
      const one = this.wanted.get(keyOf(now));
      if (one?.aclKind === undefined || now.aclKind === 'c') continue;
      revoked.set(keyOf(now), this.compareAcl(one, now, this.ownerAfter(now)));
    }
    const columns = new Map(
      [...this.target.objects, ...this.source.objects]
        .filter(({ aclKind }) => aclKind === 'c')
        .map((one) => [keyOf(one), one]),
    );
    for (const [key, any] of columns) {
      const whole = keyOf({ ...any, part: '' });
      const table = this.there.get(whole);
      if (table === undefined || !this.wanted.has(whole)) continue;
      const empty = { ...any, acl: [], initial: undefined };
      const now = this.there.get(key) ?? empty;
      // REVOKE of a privilege on a table takes it from the columns too.
      const gone = new Set((revoked.get(whole) ?? []).map(entryKey));
      const acl = (now.acl ?? []).filter((entry) => !gone.has(entryKey(entry)));
      this.compareAcl(this.wanted.get(key) ?? empty, { ...now, acl, owner: table.owner }, this.ownerAfter(table));
    }
    const first = [...this.target.roles.values()].find((one) => one.isBuiltIn && one.attributes.SUPERUSER)?.name ?? '';
    for (const one of this.source.objects)
      if (one.aclKind === 'p' && !this.there.has(keyOf(one)) && this.target.parameters.has(one.name))
        this.compareAcl(one, { ...one, acl: undefined, owner: first }, first);
  }

  /** @returns the entries that the script revokes */
  private compareAcl(one: AccessObject, now: AccessObject, ownerThen: string): readonly Privilege[] {
    // Nothing was granted on either server, as on most objects.
    if (one.acl === undefined && now.acl === undefined) return [];
    const kind = one.aclKind ?? 'r';
    const rename = (entries: readonly Privilege[], from: string): readonly Privilege[] =>
      entries.map((entry) => ({
        ...entry,
        grantor: entry.grantor === from ? ownerThen : entry.grantor,
        grantee: entry.grantee === from ? ownerThen : entry.grantee,
      }));
    const base = (catalog: AccessCatalog, { initial, owner }: AccessObject) =>
      rename(initial ?? (kind === 'c' ? [] : catalog.defaultAcl(kind, owner)), owner);
    const [baseHere, baseThere] = [base(this.source, one), base(this.target, now)];
    const here = one.acl === undefined ? baseHere : rename(one.acl, one.owner);
    const current = now.acl === undefined ? baseThere : rename(now.acl, now.owner);
    // The target may be of another release, in which initdb and the extension grant something else.
    const isDelta = one.origin === 'system' || one.origin === 'member';
    const wanted = isDelta
      ? [
          ...baseThere.filter((entry) => !without(baseHere, here).some((gone) => sameEntry(gone, entry))),
          ...without(here, baseHere),
        ]
      : [...here, ...this.newRights(kind, current, ownerThen)];
    const usable = this.byGrantors(wanted, ownerThen).filter(
      ({ name, grantee, grantor }) =>
        this.isKnownPrivilege(kind, name) && (grantee === '' || this.has(grantee)) && this.has(grantor),
    );
    const lost = wanted.filter(({ grantee }) => grantee !== '' && !this.has(grantee));
    for (const role of new Set(lost.map(({ grantee }) => grantee)))
      if (this.source.roles.get(role)?.isBuiltIn === false)
        this.add(
          'grants',
          grantSql(
            one,
            lost.filter(({ grantee }) => grantee === role),
          ),
          `the target has no role ${role}`,
        );
    return this.changeAcl(one, ownerThen, usable, current);
  }

  /**
   * A privilege whose grantor could not grant it now is granted by the owner: the grantor has no grant option any more, or
   * became a superuser or a member of the owner, in whose name it would grant.
   */
  private byGrantors(entries: readonly Privilege[], owner: string): readonly Privilege[] {
    const reached = new Set(ordered(entries, owner, 'reachable').map(entryKey));
    const result = new Map<string, Privilege>();
    for (const entry of entries) {
      const { grantor } = entry;
      const acts = reached.has(entryKey(entry)) && (grantor === owner || !this.actsAs(grantor, owner));
      const one = acts ? entry : { ...entry, grantor: owner };
      const known = result.get(entryKey(one));
      result.set(entryKey(one), { ...one, isGrantable: one.isGrantable || known?.isGrantable === true });
    }
    return [...result.values()];
  }

  private actsAs(role: string, owner: string): boolean {
    if (this.target.roles.get(role)?.attributes.SUPERUSER === true) return true;
    const groups = [role];
    for (const group of groups)
      for (const one of [...this.source.memberships, ...this.target.memberships])
        if (one.member === group && !groups.includes(one.role)) groups.push(one.role);
    return groups.includes(owner);
  }

  private has(role: string): boolean {
    return this.target.roles.has(role) || this.login.created.has(role);
  }

  /** MAINTAIN exists since PostgreSQL 17: before, only the owner had these rights. */
  private newRights(kind: string, current: readonly Privilege[], owner: string): readonly Privilege[] {
    if (kind !== 'r' || this.source.version >= 170_000) return [];
    return current.filter(({ name, grantee }) => name === 'MAINTAIN' && grantee === owner);
  }

  private isKnownPrivilege(kind: string, name: string): boolean {
    return name !== 'MAINTAIN' || kind !== 'r' || this.target.version >= 170_000;
  }

  private changeAcl(
    object: AccessObject,
    owner: string,
    wanted: readonly Privilege[],
    current: readonly Privilege[],
  ): readonly Privilege[] {
    const reachable = (grantor: string) => grantor === owner || this.login.lacks(grantor) === undefined;
    const isThere = (entry: Privilege, list: readonly Privilege[]) =>
      list.some(
        (other) =>
          sameEntry(entry, other) &&
          other.isGrantable === entry.isGrantable &&
          (other.grantor === entry.grantor || !reachable(entry.grantor)),
      );
    const granted = wanted.filter((entry) => !isThere(entry, current));
    // Privileges of roles that only the target has, such as those of its provider, are none of the source's.
    const revoked = current.filter(
      (entry) =>
        (entry.grantee === '' || entry.grantee === owner || this.source.roles.has(entry.grantee)) &&
        (this.login.isSuperuser || entry.grantee !== this.target.login) &&
        !wanted.some((one) => sameEntry(one, entry) && (one.grantor === entry.grantor || !reachable(one.grantor))),
    );
    const reduced = current.filter(
      (entry) =>
        entry.isGrantable &&
        wanted.some((one) => sameEntry(one, entry) && one.grantor === entry.grantor && !one.isGrantable),
    );
    const isSystem = object.origin === 'system' && !this.login.isSuperuser;
    const lacksOwner = isSystem
      ? 'only a superuser may change it'
      : object.aclKind === 'p'
        ? this.login.isSuperuser
          ? undefined
          : 'only a superuser may grant it'
        : this.login.lacks(owner);
    const write = (sql: string, grantor: string, more: Partial<AccessStatement> = {}) => {
      const isOther = grantor !== owner && reachable(grantor) && lacksOwner === undefined;
      if (!isOther) return this.add('grants', sql, lacksOwner, more);
      // The grantor of a privilege is the role that runs the statement, which must see the object.
      const usage = `USAGE ON SCHEMA ${quoteIdentifier(object.schema || 'public')}`;
      const isBlind = object.schema !== '' && !this.mayUse('USAGE', grantor, object.schema);
      if (isBlind) this.add('grants', `GRANT ${usage} TO ${quoteIdentifier(grantor)}`, undefined);
      this.add('grants', `SET ROLE ${quoteIdentifier(grantor)}`, undefined);
      this.add('grants', sql, undefined, more);
      this.add('grants', 'SET ROLE NONE', undefined);
      if (isBlind) this.add('grants', `REVOKE ${usage} FROM ${quoteIdentifier(grantor)}`, undefined);
    };
    for (const entries of grouped(ordered(granted, owner)))
      write(grantSql(object, entries), entries[0]?.grantor ?? owner);
    const mine = this.connectOfLogin(object, owner, wanted, current);
    if (mine !== undefined) write(mine, owner);
    for (const entries of grouped(reduced))
      write(revokeSql(object, entries, 'GRANT OPTION FOR '), entries[0]?.grantor ?? owner);
    for (const entries of grouped(revoked))
      write(revokeSql(object, entries), entries[0]?.grantor ?? owner, {
        isPublicExcess: entries.some(({ grantee }) => grantee === ''),
      });
    return revoked;
  }

  /** The login that runs the script must not lock itself out of the database. */
  private connectOfLogin(
    { word: kind }: AccessObject,
    owner: string,
    wanted: readonly Privilege[],
    current: readonly Privilege[],
  ): string | undefined {
    const { login, database } = this.target;
    if (kind !== 'DATABASE' || this.login.isSuperuser || owner === login) return undefined;
    const isConnect = ({ name, grantee }: Privilege) => name === 'CONNECT' && ['', login].includes(grantee);
    const own = current.some((entry) => isConnect(entry) && entry.grantee === login);
    if (wanted.some(isConnect) || own) return undefined;
    return `GRANT CONNECT ON DATABASE ${quoteIdentifier(database)} TO ${quoteIdentifier(login)}`;
  }

  defaults(): void {
    const key = (one: { role: string; schema: string; kind: string }) =>
      JSON.stringify([one.role, one.schema, one.kind]);
    const here = new Map(this.source.defaults.map((one) => [key(one), one]));
    const there = new Map(this.target.defaults.map((one) => [key(one), one]));
    for (const [id, any] of new Map([...there, ...here])) {
      const { role, schema, kind } = any;
      if (!this.source.roles.has(role) || !(kind in defaultWords)) continue;
      if (!this.has(role)) {
        if (this.source.roles.get(role)?.isBuiltIn === false || here.has(id))
          this.notes.push(
            `the default privileges of the role ${role} in ${this.source.database} are left: the target has no role ${role}`,
          );
        continue;
      }
      const aclKind = kind === 'S' ? 's' : kind;
      const base = (catalog: AccessCatalog) => (schema === '' ? catalog.defaultAcl(aclKind, role) : []);
      const current = there.get(id)?.acl ?? base(this.target);
      const wanted = [
        ...(here.get(id)?.acl ?? base(this.source)),
        ...(schema === '' ? this.newRights(aclKind, current, role) : []),
      ].filter(({ name, grantee }) => this.isKnownPrivilege(aclKind, name) && (grantee === '' || this.has(grantee)));
      const head = `ALTER DEFAULT PRIVILEGES FOR ROLE ${quoteIdentifier(role)}${schema === '' ? '' : ` IN SCHEMA ${quoteIdentifier(schema)}`}`;
      const left = this.login.lacks(role);
      const same = (a: Privilege, b: Privilege) => sameEntry(a, b);
      const granted = wanted.filter(
        (one) => !current.some((other) => same(one, other) && one.isGrantable === other.isGrantable),
      );
      const revoked = current.filter(
        (one) =>
          (one.grantee === '' || this.source.roles.has(one.grantee)) && !wanted.some((other) => same(one, other)),
      );
      const reduced = granted.filter((one) => !one.isGrantable && current.some((other) => same(one, other)));
      for (const [verb, list] of [
        ['REVOKE GRANT OPTION FOR', reduced],
        ['GRANT', granted.filter((one) => !reduced.includes(one))],
        ['REVOKE', revoked],
      ] as const)
        for (const entries of grouped(list)) {
          const [first] = entries;
          const to = `${verb === 'GRANT' ? 'TO' : 'FROM'} ${granteeSql(first?.grantee ?? '')}`;
          const option = verb === 'GRANT' && first?.isGrantable === true ? ' WITH GRANT OPTION' : '';
          const names = entries.map(({ name }) => name).join(', ');
          this.add('defaults', `${head} ${verb} ${names} ON ${defaultWords[kind]} ${to}${option}`, left, {
            isPublicExcess: verb === 'REVOKE' && first?.grantee === '',
          });
        }
    }
  }

  settings(): void {
    const own = this.target.objects.find(({ word }) => word === 'DATABASE');
    const ofDatabase = own === undefined ? undefined : this.login.lacks(this.ownerAfter(own));
    const { source, target, login, options } = this;
    this.statements.push(...compareSettings(source, target, login, { withRoles: options.withRoles, ofDatabase }));
  }

  private add(
    section: AccessSection,
    sql: string,
    left: string | undefined,
    more: Partial<AccessStatement> = {},
  ): void {
    this.statements.push({ section, sql, ...(left === undefined ? {} : { left }), ...more });
  }
}

function hasOwner({ word: kind }: AccessObject): boolean {
  return kind !== 'COLUMN' && kind !== 'PARAMETER' && kind !== 'LANGUAGE';
}

function ownerOrder({ word: kind }: AccessObject): number {
  return kind === 'SCHEMA' ? 0 : kind === 'DATABASE' ? 2 : 1;
}
