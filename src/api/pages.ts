import { CliError } from '../errors.ts';
import { exactJson } from '../exact.ts';
import type { Api } from './client.ts';
import { incomplete, nextAtEnd, type Page, readPage } from './page.ts';
import { createPatience, type Pause } from './patience.ts';
import type { ApiAnswer } from './problem.ts';
import { createSplitter } from './split-list.ts';
import { createSurvey, type ItemId, type Survey } from './survey.ts';

export interface ListRequest<T> {
  /** Path without `page` and `per_page`; may carry other parameters. */
  readonly path: string;
  /** The key that holds the items. */
  readonly key: string;
  /** What `decode`, `idOf` and `bornAt` look at: an item may be without the rest when these are called. */
  readonly members: readonly string[];
  readonly decode: (item: unknown) => T | undefined;
  readonly idOf: (item: T) => ItemId;
  /** When the item came to be, ISO 8601. */
  readonly bornAt: (item: T) => string | undefined;
  readonly wish: Wish<T>;
}

/** What a caller wants of a list. */
export interface Wish<T> {
  /** At most so many items, and no request for more. */
  readonly limit?: number | undefined;
  /** 1 to 200 (200). */
  readonly pageSize?: number;
  /** Only these; judged here, after the server has given them. */
  readonly matches?: ((item: T) => boolean) | undefined;
  /** Waits so many milliseconds for the rate limit: a list that has begun is not given up for it. */
  readonly pause?: Pause | undefined;
  /** Told when a page is there and another one follows. */
  readonly onProgress?: ((read: number, total: number | undefined) => void) | undefined;
}

/** Some items of a list. What is not asked for is not made: a hundred thousand objects are most of what a list costs. */
export interface Portion<T> {
  /** As the JSON texts they came as, each on one line. */
  readonly lines: () => Uint8Array;
  readonly items: () => readonly T[];
}

/** Pages without anything new before a list that never ends is given up. */
const emptyPages = 10;
/** Passes over a list that does not hold still. */
const passes = 9;
/** Turns of the event loop before a request is on its way: a connection that was used before is looked at first. */
const turnsToLeave = 3;
/** The server's times are whole seconds, and those of its parts differ a little. */
const slackMs = 5_000;

/**
 * Every item of a list, page after page, the next page asked for while this one is used.
 * Items that others create or delete meanwhile may be there or not; of all others each comes once, and if that cannot be
 * made sure it is an error, never silence. See survey.ts for how it is known.
 */
export async function* listPages<T>(api: Api, list: ListRequest<T>): AsyncGenerator<Portion<T>> {
  const survey = createSurvey();
  const demand: Demand = { left: list.wish.limit ?? Number.POSITIVE_INFINITY };
  for (const size of pageSizes(list.wish)) {
    yield* onePass(api, list, size, survey, demand);
    if (demand.left <= 0) return;
    const verdict = survey.verdict();
    if (verdict === 'complete') return;
    if (verdict === 'short')
      throw incomplete(list.path, survey.met, demand.total, 'the pages held fewer items than meta.total');
    survey.beginPass();
    demand.since = undefined;
  }
  throw incomplete(list.path, survey.met, demand.total, `it changed while it was read, ${passes} times over`);
}

interface Demand {
  /** Items still wanted. */
  left: number;
  /** What was created from then on came while the pass went on; the server's time. */
  since?: number | undefined;
  total?: number | undefined;
}

/** The first pass in the size that was asked for; each later one is cut at other places. */
function pageSizes({ limit, pageSize = 200, matches }: Wish<never>): readonly number[] {
  // What is filtered here may be far down the list: small pages would be many requests.
  const first = limit === undefined || matches !== undefined ? pageSize : fitting(limit, pageSize);
  // Not each by one less: who deletes one in each pass would move the same two to the ends of two pages every time.
  const others = Array.from({ length: passes }, (_, at) => 200 - (at * (at + 1)) / 2).filter((size) => size !== first);
  return [first, ...others].slice(0, passes);
}

/** As many requests as needed, and no larger ones than needed. */
function fitting(limit: number, most: number): number {
  return Math.ceil(limit / Math.ceil(limit / most));
}

async function* onePass<T>(
  api: Api,
  list: ListRequest<T>,
  size: number,
  survey: Survey,
  demand: Demand,
): AsyncGenerator<Portion<T>> {
  const { pause } = list.wish;
  const start = new URL(list.path, api.baseOrigin);
  start.searchParams.set('page', '1');
  start.searchParams.set('per_page', String(size));
  const splitter = createSplitter(list.key, list.members);
  const visited = new Set<string>();
  let asked: Asked | undefined = await ask(api, `${start.pathname}${start.search}`);
  for (let empty = 0; asked !== undefined; ) {
    const { path, answer }: Asked = asked;
    const answered: ApiAnswer = await answer;
    // While there is no doubt that another page is wanted, it is asked for before this one is understood.
    const soon: string | undefined =
      survey.isFirstPass && demand.left > size ? nextAtEnd(api.baseOrigin, answered.raw, path) : undefined;
    const early: Asked | undefined = soon === undefined || visited.has(soon) ? undefined : await ask(api, soon, pause);
    const page = readPage(api.baseOrigin, { key: list.key, path }, answered, splitter);
    const { next, total } = page;
    demand.total = total;
    demand.since ??= (page.date ?? Number.POSITIVE_INFINITY) - slackMs;
    const before = survey.metInPass;
    survey.beginPage(total);
    const fresh = freshOf(list, page, survey, demand);
    demand.left -= fresh.length;
    const isWanted = survey.endPage(next === undefined) && demand.left > 0;
    if (next !== undefined && visited.has(next))
      throw incomplete(list.path, survey.met, total, `the page ${next} came twice`);
    if (next !== undefined) visited.add(next);
    asked = next === undefined || !isWanted ? undefined : (early ?? (await ask(api, next, pause)));
    if (asked !== undefined) list.wish.onProgress?.(survey.met, total);
    if (fresh.length > 0)
      yield { lines: () => page.lines(fresh), items: () => fresh.map((at) => decoded(list, page.item(at))) };
    empty = survey.metInPass > before ? 0 : empty + 1;
    if (empty >= emptyPages && asked !== undefined)
      throw incomplete(list.path, survey.met, total, `${emptyPages} pages in a row brought nothing new`);
  }
}

interface Asked {
  readonly path: string;
  readonly answer: Promise<ApiAnswer>;
}

async function ask(api: Api, path: string, pause?: Pause): Promise<Asked> {
  const answer = api.success({ method: 'GET', path, patience: createPatience(pause) });
  // If the reader stops early, nobody awaits it: its failure must not end the program.
  answer.catch(() => undefined);
  // It leaves now, and not when the page before it has been worked on.
  for (let turn = 0; turn < turnsToLeave; turn++) await new Promise(setImmediate);
  return { path, answer };
}

/** The places on the page of items that were never met and are wanted. */
function freshOf<T>(list: ListRequest<T>, page: Page, survey: Survey, { since, left }: Demand): readonly number[] {
  const { matches } = list.wish;
  const fresh: number[] = [];
  let [bornAt, isNewcomer]: [string | undefined, boolean] = [undefined, false];
  for (const [at, skim] of page.skims.entries()) {
    const item = decoded(list, skim);
    const born = list.bornAt(item);
    // Many stand side by side that were made within the same second.
    if (born !== bornAt) [bornAt, isNewcomer] = [born, Date.parse(born ?? '') >= (since ?? Number.POSITIVE_INFINITY)];
    if (!survey.meet(list.idOf(item), isNewcomer)) continue;
    if (matches === undefined || matches(decoded(list, page.item(at)))) fresh.push(at);
  }
  return fresh.slice(0, left);
}

function decoded<T>({ decode, path, key }: ListRequest<T>, json: unknown): T {
  const item = decode(json);
  if (item !== undefined) return item;
  const [plainPath = path] = path.split('?');
  throw new CliError('api_error', `could not read ${plainPath}: an item of "${key}" is not understood`, {
    detail: `it is ${(exactJson(json) ?? '').slice(0, 300)}`,
    hint: `\`cloudctl api GET ${plainPath} --paginate\` prints the list without looking into it`,
  });
}
