import { CliError, withHint } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { formatDuration } from '../../base/text.ts';
import type { Clock, SignalName } from '../../platform/host.ts';
import { interruptedError } from '../../platform/signals.ts';
import { redactReason } from '../engine/tools.ts';
import type { DbSource } from '../source/index.ts';
import { isServerError } from './check.ts';
import { type ChecklistLine, type CutoverFacts, cutoverChecklist, firstOpenLine, listUnproven } from './checklist.ts';
import { describeLeftOut } from './left-out.ts';
import { type Fence, TargetRefusal } from './pair.ts';
import type { Window, WindowEvent } from './window.ts';

/** A line of the checklist, or the last one, which only a followed cut-over has. */
export interface FollowLine extends Omit<ChecklistLine, 'id'> {
  readonly id: ChecklistLine['id'] | 'clean';
}

/** Where the checklist is shown. */
export interface FollowView {
  show(lines: readonly FollowLine[], status: string): Promise<void>;
  /** Texts that stay readable, such as commands. */
  say(texts: readonly string[]): Promise<void>;
}

export type ComparedTables = 'all' | 'changed' | 'none';

export interface FollowResult {
  readonly lines: readonly FollowLine[];
  /** Of this run and of those before it. */
  readonly events: readonly WindowEvent[];
  /** What was not proven, as sentences. */
  readonly unproven: readonly string[];
  /** That the source is locked, and the command that ends it, as a clause. */
  readonly lock?: string | undefined;
  /** Which databases stay on the source, as sentences. */
  readonly leftOut?: string | undefined;
  /** Which roles of the migration stay on the target, as sentences. */
  readonly keptRoles?: readonly string[] | undefined;
  /** When the first run began. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Undefined when every step is done. */
  readonly failure: CliError | undefined;
}

interface ProgressOptions {
  readonly source: DbSource;
  readonly target: DbSource;
  readonly clock: Clock;
  readonly view: FollowView;
  /** Milliseconds after which the wait for a step that others do ends. */
  readonly waitTimeout: number;
  /** The command that continues. */
  readonly again: string;
}

/** What a followed cut-over has seen and changed, where it is shown, and the errors that tell it. */
export class Progress {
  readonly startedAt: number;
  facts: CutoverFacts;
  /** What replaces the text of the line of the contents. */
  contentsText: string | undefined;
  readonly unproven = new Map<'sessions' | 'contents' | 'remains', string>();
  /** What this run has changed, as clauses. */
  readonly changes: string[] = [];
  /** What was printed to keep sessions from writing. */
  fence: Fence | undefined;
  readonly #options: ProgressOptions;
  #window: Window | undefined;
  readonly #events: WindowEvent[] = [];
  readonly #states = new Map<string, string>();
  #status = '';
  #statusSince: number;

  constructor(facts: CutoverFacts, options: ProgressOptions) {
    this.facts = facts;
    this.#options = options;
    this.startedAt = options.clock.now();
    this.#statusSince = this.startedAt;
  }

  /** The events of earlier runs come first. */
  continue(window: Window): void {
    this.#window = window;
    this.#events.unshift(...window.earlier);
    this.log(window.earlier.length === 0 ? 'the run began' : 'another run began', '');
  }

  /** @param lock that the source is locked, and the command that ends it */
  result(ending: CliError | undefined, lock?: string): FollowResult {
    const failure = ending === undefined || lock === undefined ? ending : withLock(ending, lock);
    this.log(failure?.message ?? 'every step is done', failure?.detail ?? '');
    this.#window?.close();
    const events = [...this.#events];
    return {
      lines: this.lines(),
      events,
      unproven: [...this.unproven.values(), ...listUnproven(this.lines())],
      lock,
      leftOut: describeLeftOut(this.facts.leftOut ?? []),
      keptRoles: this.facts.keptRoles,
      startedAt: events[0]?.at ?? this.startedAt,
      endedAt: this.#options.clock.now(),
      failure,
    };
  }

  interrupted(signal: SignalName): CliError {
    return new CliError('cancelled', `the cut-over was interrupted; ${this.changedText()}`, {
      detail: this.stateText(),
      hint: `continue with \`${this.#options.again}\``,
      exitCode: interruptedError(signal).exitCode,
    });
  }

  explain(error: unknown): CliError {
    const { again, source, target } = this.#options;
    if (error instanceof TargetRefusal)
      return new CliError('cutover_incomplete', 'the target refused a statement', {
        detail: sanitizeReportLine(
          `${error.database}: ${error.message}; statement: ${error.statement}; ${this.changedText()}`,
        ),
        hint: `give the user of \`--target\` the privilege, then run \`${again}\``,
      });
    if (error instanceof CliError) return error;
    if (!isServerError(error)) throw error;
    return new CliError('cutover_incomplete', 'a server could not be read', {
      detail: `${redactReason(error, source.source.password, target.source.password)}; ${this.changedText()}`,
      hint: `continue with \`${again}\``,
    });
  }

  /** @param observed the facts, before what this run has changed */
  incomplete(
    title: string,
    { observed, hint }: { readonly observed?: string | undefined; readonly hint: string },
  ): CliError {
    const detail = observed === undefined ? this.changedText() : `${observed}; ${this.changedText()}`;
    return new CliError('cutover_incomplete', title, { detail: sanitizeReportLine(detail), hint });
  }

  timedOut(what: string, writers: readonly string[] = []): CliError {
    const { waitTimeout, again } = this.#options;
    const listed = writers.length === 0 ? '' : `; sessions on the source: ${listShort(writers, 10)}`;
    return new CliError('cutover_incomplete', `the step was not done within ${formatDuration(waitTimeout)}`, {
      detail: sanitizeReportLine(`${this.stateText()}${listed}; ${this.changedText()}`),
      hint: `${what} \`${again}\``,
    });
  }

  add(facts: Partial<CutoverFacts>): void {
    this.facts = { ...this.facts, ...facts };
  }

  openLine(isMeant: (line: ChecklistLine) => boolean = () => true): ChecklistLine | undefined {
    return cutoverChecklist(this.facts).find((line) => line.state !== 'done' && isMeant(line));
  }

  lines(): readonly FollowLine[] {
    const lines = cutoverChecklist(this.facts).map(
      (line): FollowLine =>
        line.id === 'contents' && this.contentsText !== undefined ? { ...line, observed: this.contentsText } : line,
    );
    return lines;
  }

  async show(status: string): Promise<void> {
    const lines = this.lines();
    for (const { id, title, state, observed } of lines) {
      if (this.#states.get(id) === state) continue;
      this.#states.set(id, state);
      if (state !== 'not_checked') this.log(`${state}: ${title}`, observed);
    }
    const now = this.#options.clock.now();
    if (status !== this.#status) [this.#status, this.#statusSince] = [status, now];
    const seconds = Math.floor((now - this.#statusSince) / 1000);
    await this.#options.view.show(lines, seconds === 0 || status === '' ? status : `${status} (${seconds} s)`);
  }

  log(what: string, evidence: string): void {
    const event = { at: this.#options.clock.now(), what, evidence };
    this.#events.push(event);
    this.#window?.add(event);
  }

  changedText(): string {
    return this.changes.length === 0 ? 'nothing was changed' : [...new Set(this.changes)].join(', ');
  }

  stateText(): string {
    const open = firstOpenLine(this.lines());
    return open === undefined ? 'every step is done' : sanitizeReportLine(`${open.title}: ${open.observed}`);
  }
}

/** The error with the command that lets the application write to the source again. */
export function withLock(error: CliError, lock: string): CliError {
  return withHint(error, `${error.hint === undefined ? '' : `${error.hint}; `}${lock}`);
}

export function listShort(items: readonly string[], most = 3): string {
  const rest = items.length - most;
  return `${items.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
