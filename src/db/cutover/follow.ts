import type { ApiClient } from '../../api/client.ts';
import { describeMigration } from '../../api/online-migration.ts';
import { requestStop } from '../../api/stop-online-migration.ts';
import { CliError, withHint } from '../../base/errors.ts';
import { sanitizeLine, sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import { listenForStop } from '../../platform/signals.ts';
import { redactReason } from '../engine/tools.ts';
import { countWrites } from './activity.ts';
import { Attempt, type FollowOptions } from './attempt.ts';
import { type Cutover, isServerError, readUnlogged } from './check.ts';
import { type ChecklistLine, cutoverChecklist } from './checklist.ts';
import { compareDatabases } from './compare.ts';
import { withoutLargeObjects } from './comparison.ts';
import { findCopies } from './left-out.ts';
import { aheadHint } from './next.ts';
import type { Fence, Sighting } from './pair.ts';
import { compareAccess, restoreAccess } from './postgresql/access-script.ts';
import { accessSections } from './postgresql/access-statements.ts';
import { readLock } from './postgresql/fence.ts';
import { type FollowResult, listShort, type Progress } from './progress.ts';
import { findKeptRoles, findSourceRemains, marksOfMigration } from './remains.ts';
import { describeMove, hasMoved, lookPause, waitForRest, writersOf } from './rest.ts';
import { targetInputs, targetLoginHint } from './target.ts';

/** Milliseconds between two questions about what others have to do. */
const waitPause = 1000;
/**
 * Follows a cut-over to its end. Each step is derived from what both servers and the service show, so that a run that was killed
 * is continued by the next one. Never rejects: the failure is part of the result.
 */
export async function followCutover(api: ApiClient, options: FollowOptions): Promise<FollowResult> {
  const stopping = listenForStop(options.signals);
  const attempt = new Attempt(api, options, stopping.signal);
  const { progress } = attempt;
  let failure: CliError | undefined;
  try {
    await new Follow(attempt).run();
    // A signal that arrived during the last request must not hide that everything is done.
  } catch (error) {
    const heard = stopping.heard();
    failure = heard === undefined ? progress.explain(error) : progress.interrupted(heard);
  } finally {
    stopping.stopListening();
    await attempt.close();
  }
  return progress.result(failure, await describeLock(options, progress.fence));
}

/**
 * That the application cannot write to the source, with the command that ends it, as a clause; undefined if nothing locks it. Redis
 * does not show whether it pauses clients.
 */
export async function describeLock(
  { source, ignoreDbs }: Pick<Cutover, 'source' | 'ignoreDbs'>,
  printed?: Fence,
): Promise<string | undefined> {
  if (source.engine === 'redis')
    return printed === undefined
      ? undefined
      : `if the source pauses writes, end that with \`${printed.undo.join('; ')}\``;
  // The signal of the run may be aborted.
  const lock = await readLock(source.source, { ignoreDbs, signal: new AbortController().signal });
  if (lock === undefined) return undefined;
  const names = sanitizeReportLine(lock.databases.join(', '), 300);
  return `the source is read-only (${names}); before its application writes there again, run \`${lock.undo}\``;
}

class Follow {
  readonly #attempt: Attempt;
  readonly #options: FollowOptions;
  readonly #progress: Progress;
  readonly #signal: AbortSignal;
  /** Both servers when the migration had ended and nothing of it was left. */
  #last: Sighting | undefined;
  /** Large objects are copied when the migration is stopped. */
  #isLargeObjectsLeft = false;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
    this.#options = attempt.options;
    this.#progress = attempt.progress;
    this.#signal = attempt.signal;
  }

  async run(): Promise<void> {
    this.#expectKnownChanges();
    await this.#attempt.readMigration();
    await this.#openFirst();
    await this.#requireEarlySteps();
    await this.#options.confirm();
    for (;;) {
      const rest = await waitForRest(this.#attempt);
      if (!(await this.#settleSequences(rest))) continue;
      if (!(await this.#compare(rest))) continue;
      if (!(await this.#stop(rest))) continue;
      await this.#waitForEnd();
      if (await this.#finish(rest)) return this.#settleAccess();
    }
  }

  /** A login that fails at the beginning is an error; later it is an outage, which may end. */
  async #openFirst(): Promise<void> {
    const { target, commands, onTarget } = this.#options;
    try {
      await this.#attempt.look();
    } catch (error) {
      if (this.#signal.aborted || !isServerError(error)) throw error;
      const reason = redactReason(error, this.#options.source.source.password, target.source.password);
      this.#progress.add({ targetFailure: reason });
      await this.#progress.show('');
      throw new CliError('cutover_incomplete', 'could not connect to both servers', {
        detail: reason,
        hint: `${targetLoginHint(error, targetInputs)}; then run \`${commands.again}\``,
      });
    }
    onTarget();
    this.#attempt.requireKeys();
    await this.#attempt.requireWritable();
  }

  /** Whether the sequences are set; false if the source was written to meanwhile. */
  async #settleSequences(rest: Sighting): Promise<boolean> {
    const { isApplied, commands, view, clock } = this.#options;
    let isSaid = false;
    for (;;) {
      const pair = await this.#attempt.pair();
      const work = await pair.sequences();
      this.#progress.add({ sequences: work });
      if (work.differences.length === 0) {
        await this.#progress.show('the sequences are equal');
        return true;
      }
      if (work.ahead.length > 0)
        throw this.#progress.incomplete('an application has used sequences of the target', {
          observed: listShort(work.ahead),
          hint: aheadHint(commands),
        });
      if (isApplied) {
        await this.#progress.show(`setting ${countOf(work.differences.length, 'sequence')} on the target`);
        this.#progress.changes.push('sequences were set on the target');
        await pair.setSequences(work);
        const left = await pair.sequences();
        this.#progress.add({ sequences: left });
        this.#progress.log('sequences set on the target', [...work.statements.values()].flat().join('\n'));
        await this.#progress.show('the sequences are set');
        if (left.differences.length === 0) return true;
        throw this.#progress.incomplete('sequences of the target differ after they were set', {
          observed: listShort(left.differences),
          hint: `set them as their owner, then run \`${commands.again}\``,
        });
      }
      if (!isSaid) await view.say(['Set the sequences of the target with:', `  ${commands.sequences}`]);
      isSaid = true;
      await this.#progress.show('waiting for the sequences');
      if (!(await this.#isStillAtRest(rest))) return false;
      await clock.sleep(waitPause, this.#signal);
    }
  }

  /** Also ends the wait for others after its time. */
  async #isStillAtRest(rest: Sighting): Promise<boolean> {
    const seen = await this.#attempt.lookAgain();
    if (this.#options.clock.now() - this.#attempt.waitedSince >= this.#options.waitTimeout)
      throw this.#progress.timedOut('do the step, then run');
    if (seen === undefined || !hasMoved(rest, seen)) return true;
    this.#progress.log('the source was written to again', describeMove(rest, seen));
    return false;
  }

  /** Whether both servers have the same contents; false if the source was written to meanwhile. */
  async #compare(rest: Sighting): Promise<boolean> {
    const { compared, commands, helpWith } = this.#options;
    this.#attempt.requireKeys();
    if (compared === 'none') {
      this.#progress.contentsText = 'not compared, as `--compare none` asks for';
      this.#progress.unproven.set('contents', 'no row was compared');
    } else {
      const report = await this.#readBoth(await this.#chosen());
      const seen = await this.#attempt.look();
      if (hasMoved(rest, seen)) {
        this.#progress.log('the source was written to during the comparison', describeMove(rest, seen));
        await this.#progress.show('the source was written to during the comparison');
        return false;
      }
      this.#progress.add({ contents: report });
      const line = cutoverChecklist(this.#progress.facts).find(({ id }) => id === 'contents');
      if (report.state !== 'equal')
        throw this.#progress.incomplete('source and target do not have the same contents', {
          observed: line?.observed,
          hint: `do not switch; ${line === undefined ? `run \`${commands.compare}\`` : helpWith(line, this.#progress.facts)}`,
        });
    }
    await this.#progress.show('the contents are compared');
    return true;
  }

  async #readBoth(isChosen: (database: string, table: string) => boolean) {
    const { source, target, ignoreDbs, clock } = this.#options;
    const report = await compareDatabases({
      ...{ source, target, ignoreDbs, clock, signal: this.#signal, isChosen },
      accepted: this.#options.acceptedTables,
      isQuiet: true,
      onProgress: ({ database, done, total }) =>
        void this.#progress.show(sanitizeLine(`comparing ${database} (${done + 1} of ${total})`)),
    });
    if (this.#attempt.hasEnded) return report;
    const early = withoutLargeObjects(report);
    if (early.databases.some((one, index) => one !== report.databases[index])) this.#isLargeObjectsLeft = true;
    return early;
  }

  /**
   * Chooses the tables whose counter of changes has moved since the start of the migration. The counters say nothing of the first
   * copy, and a TRUNCATE or a reset of the statistics does not move them up.
   */
  async #chosen(): Promise<(database: string, table: string) => boolean> {
    const { compared, baseline } = this.#options;
    if (compared !== 'changed' || baseline === undefined) return () => true;
    const now = await (await this.#attempt.pair()).changes();
    const isChanged = (database: string, table: string): boolean => {
      const before = baseline.databases.get(database)?.tables.get(table)?.written;
      return before === undefined || before !== now?.get(database)?.get(table);
    };
    const left = [...(now ?? [])].flatMap(([database, tables]) =>
      [...tables.keys()].filter((table) => !isChanged(database, table)),
    );
    this.#progress.unproven.set(
      'contents',
      `${countOf(left.length, 'table')} whose counters of changes have not moved since ${new Date(baseline.at).toISOString()}: neither their first copy nor a TRUNCATE is proven`,
    );
    return isChanged;
  }

  #expectKnownChanges(): void {
    const { compared, baseline, source } = this.#options;
    if (compared !== 'changed' || baseline !== undefined) return;
    throw new CliError('usage', 'what has changed since the start of the migration is not known', {
      detail:
        source.engine === 'redis'
          ? 'Redis has no counters of single keys'
          : 'this machine has no record of the source at the start of the migration',
      hint: 'compare everything: leave out `--compare`',
    });
  }

  /** Whether the migration is stopped, or was before; false if the source was written to meanwhile. */
  async #stop(rest: Sighting): Promise<boolean> {
    const { isApplied, commands, cluster, loginHints, view, clock } = this.#options;
    await this.#attempt.readMigration();
    if (!isApplied && !this.#attempt.isStopped) await view.say(['Stop the migration with:', `  ${commands.stop}`]);
    while (!this.#attempt.isStopped) {
      if (!(await this.#isStillAtRest(rest))) return false;
      if (isApplied && this.#attempt.migration !== undefined) {
        await this.#progress.show('stopping the migration');
        try {
          this.#progress.changes.push('the stop of the migration was requested');
          this.#progress.log('stop of the migration requested', '');
          this.#attempt.migration = await requestStop(this.#attempt.api, cluster, this.#attempt.migration, loginHints);
        } catch (error) {
          if (!(error instanceof CliError)) throw error;
          throw withHint(error, `${error.hint ?? 'correct the problem'}; then continue with \`${commands.again}\``);
        }
        this.#attempt.waitedSince = clock.now();
        this.#progress.log('migration stopped', describeMigration(this.#attempt.migration));
        return true;
      }
      await this.#progress.show('waiting for the stop of the migration');
      await clock.sleep(waitPause, this.#signal);
      await this.#attempt.readMigration();
    }
    return true;
  }

  /** Waits until every database has ended: a materialized view may still be filled after the stop. */
  async #waitForEnd(): Promise<void> {
    const { clock } = this.#options;
    for (let pause = 100; ; pause = Math.min(waitPause, pause * 1.5)) {
      if (this.#attempt.hasEnded) break;
      await this.#progress.show('waiting until the migration has ended');
      if (clock.now() - this.#attempt.waitedSince >= this.#options.waitTimeout)
        throw this.#progress.timedOut('wait, then run');
      await clock.sleep(pause, this.#signal);
      await this.#attempt.readMigration();
    }
    await this.#attempt.readMigration().catch((error: unknown) => {
      // A service may forget a migration that has ended.
      if (!(error instanceof CliError) || error.code !== 'not_found') throw error;
    });
    await this.#progress.show('the migration has ended');
  }

  /** Whether nothing is left; false if rows were written after they were compared. */
  async #finish(rest: Sighting): Promise<boolean> {
    const { clock, commands, source, compared, ignoreDbs, record, cluster, slots } = this.#options;
    const pair = await this.#attempt.pair();
    const end = clock.now() + leftoverTimeout;
    const marks = marksOfMigration({ record, cluster, slots }, this.#attempt.migration?.id);
    for (;;) {
      const remains = await findSourceRemains(source, marks, { clock, signal: this.#signal, ignoreDbs });
      const left = [...new Set([...(await pair.leftovers()), ...remains.own])];
      if (remains.doubtful.length === 0) this.#progress.unproven.delete('remains');
      else
        this.#progress.unproven.set('remains', `whether these belong to the migration: ${listShort(remains.doubtful)}`);
      if (left.length === 0) break;
      this.#progress.add({ clean: { left, observed: '' } });
      await this.#progress.show('waiting until everything is removed');
      if (clock.now() >= end)
        throw this.#progress.incomplete('the migration has left objects behind', {
          observed: listShort(left, 10),
          hint: `remove them, because a slot retains WAL; then run \`${commands.again}\``,
        });
      await clock.sleep(lookPause, this.#signal);
    }
    // nextval within the values that a sequence has fetched in advance is no transaction that writes.
    const { differences } = await pair.sequences();
    if (differences.length > 0) {
      this.#progress.log('sequences of the source were used during the stop', listShort(differences));
      return false;
    }
    if (this.#isLargeObjectsLeft) {
      this.#isLargeObjectsLeft = false;
      const report = await this.#readBoth(() => false);
      if (report.state !== 'equal') {
        this.#progress.add({ contents: report });
        throw this.#progress.incomplete('the large objects differ after the stop', {
          hint: `do not switch; see the difference with \`${commands.compare}\``,
        });
      }
      this.#progress.log('large objects compared after the stop', 'equal');
    }
    const seen = await this.#attempt.look();
    // The removal of a publication is a transaction too; a run that continues after it has seen none of them.
    const allowed = pair.slots;
    const writes = countWrites(rest.activity, seen.activity);
    const isWritten = seen.changes !== rest.changes || writes > allowed || seen.activity.open.length > 0;
    if (isWritten && compared !== 'none') {
      this.#progress.log(
        'the source was written to during the stop; the contents are compared again',
        describeMove(rest, seen),
      );
      return false;
    }
    const observed =
      source.engine === 'redis'
        ? `no replica; ${countOf(writes, 'change')} since the comparison`
        : `no slot, publication or link; ${countOf(writes, 'transaction')} since the comparison, none of rows`;
    this.#progress.add({ clean: { left: [], observed } });
    this.#last = seen;
    await this.#progress.show('nothing of the migration is left');
    return true;
  }

  /** The target receives nothing any more, so what is written to the source now is on the target only if both are equal again. */
  async #requireRest(): Promise<void> {
    const { clock, compared, commands, waitTimeout } = this.#options;
    for (;;) {
      const seen = await this.#attempt.lookAgain();
      const last = this.#last;
      if (seen !== undefined && last !== undefined) {
        if (!hasMoved(last, seen) && seen.changes === last.changes) return;
        if (seen.activity.open.length === 0) {
          this.#progress.log('the source was written to after the end of the migration', describeMove(last, seen));
          this.#last = seen;
          this.#attempt.requireKeys();
          if (compared === 'none') {
            this.#progress.unproven.set('contents', 'no row was compared, and the source was written to after the end');
            continue;
          }
          const report = await this.#readBoth(await this.#chosen());
          this.#progress.add({ contents: report });
          if (report.state !== 'equal')
            throw this.#progress.incomplete('rows were written to the source after the end of the migration', {
              observed: this.#progress.stateText(),
              hint: `do not switch; see the difference with \`${commands.compare}\``,
            });
          continue;
        }
      }
      await this.#progress.show('the source was written to after the end of the migration');
      if (clock.now() - this.#attempt.waitedSince >= waitTimeout)
        throw this.#progress.timedOut('stop the application, then run', seen === undefined ? [] : writersOf(seen));
      await clock.sleep(lookPause, this.#signal);
    }
  }

  /** What to do about a line, without the command that is already running. */
  #stepOf(line: ChecklistLine): string {
    const { helpWith, commands } = this.#options;
    const help = helpWith(line, this.#progress.facts);
    const end = [', then ', ', then run ']
      .map((join) => `${join}\`${commands.again}\``)
      .find((one) => help.endsWith(one));
    return `  ${end === undefined ? help : help.slice(0, -end.length)}`;
  }

  async #readAccess(): Promise<void> {
    const { source, target, ignoreDbs } = this.#options;
    if (source.engine !== 'postgresql' || target.engine !== 'postgresql') return;
    const compared = { ignoreDbs, signal: this.#signal, sections: accessSections, allowSuperuserOwners: false };
    this.#progress.add({
      access: await compareAccess(source.source, target.source, compared),
    });
  }

  /** What the target keeps: of the databases that are left out, and roles. Both change with the end of the migration. */
  async #readKept(): Promise<void> {
    const { leftOut = [] } = this.#progress.facts;
    const found = await findCopies(leftOut, this.#options.target, this.#signal);
    const keptRoles = await findKeptRoles(this.#options.target, this.#attempt.migration?.id, this.#signal);
    this.#progress.add({ leftOut: found, keptRoles });
  }

  /** What can be done while the application still runs is done before it is stopped. */
  async #requireEarlySteps(): Promise<void> {
    const { source, target, ignoreDbs, acceptedTables } = this.#options;
    await this.#readAccess();
    const unlogged = await readUnlogged({ source, target, ignoreDbs, acceptedTables, signal: this.#signal });
    this.#progress.add({ unlogged });
    await this.#progress.show(source.engine === 'redis' ? '' : 'the roles are compared');
    const early: readonly ChecklistLine['id'][] = ['extensions', 'definitions', 'passwords', 'unlogged'];
    const open = this.#progress.openLine(({ id }) => early.includes(id));
    if (open === undefined) return;
    const warning = this.#attempt.hasEnded ? '' : 'do not stop the application; ';
    throw this.#progress.incomplete('a step that does not need the end of the application is not done', {
      observed: `${open.title}: ${open.observed}`,
      hint: `${warning}${this.#options.helpWith(open, this.#progress.facts)}`,
    });
  }

  /**
   * Gives the target what a copy leaves out. Not before the end of the migration: until then its role owns the tables, and the
   * end refreshes views and gives databases their former owner.
   */
  async #settleAccess(): Promise<void> {
    const { isApplied, target, view, helpWith, clock } = this.#options;
    this.#attempt.waitedSince = clock.now();
    for (let round = 0; ; round++) {
      await this.#readAccess();
      await this.#progress.show(
        round === 0 ? 'comparing owners, privileges and settings' : 'waiting for the last steps',
      );
      const open = this.#progress.openLine();
      if (open === undefined) {
        await this.#requireRest();
        await this.#attempt.requireWritable();
        return this.#readKept();
      }
      const { access } = this.#progress.facts;
      if (isApplied && round === 0 && typeof access === 'object' && target.engine === 'postgresql') {
        this.#progress.changes.push('owners, privileges and settings were restored on the target');
        const run = await restoreAccess(target.source, access, this.#signal);
        this.#progress.log('owners, privileges and settings restored on the target', run.join('\n'));
        continue;
      }
      if (isApplied)
        throw this.#progress.incomplete('the target lacks what no statement of its login restores', {
          observed: `${open.title}: ${open.observed}`,
          hint: `do not switch; ${helpWith(open, this.#progress.facts)}`,
        });
      const steps = cutoverChecklist(this.#progress.facts).flatMap((line) =>
        line.state === 'done' ? [] : [this.#stepOf(line)],
      );
      if (round === 0) await view.say(['Left to do on the target:', ...new Set(steps)]);
      if (clock.now() - this.#attempt.waitedSince >= this.#options.waitTimeout)
        throw this.#progress.timedOut(`${helpWith(open, this.#progress.facts)}; or run`);
      await clock.sleep(3 * waitPause, this.#signal);
    }
  }
}

/** Milliseconds after the end of a migration in which slots and publications disappear. */
const leftoverTimeout = 30_000;
