import { html } from 'hono/html';
import { decodeFault } from '../faults/decode-fault.ts';
import { ACTION_NAMES, type CountedFault, type FaultMatch } from '../faults/fault.ts';
import { type HtmlMarkup, type Reply, redirectReply } from '../http/reply.ts';
import type { Service } from '../service.ts';
import { advanceClock, freezeClock, isClockTime, parseDuration, resumeClock } from '../virtual-clock.ts';
import { formatElapsedTime, formatUtcSecond, renderTable } from './listing.ts';
import { renderPage, renderUsedForm } from './panel-page.ts';
import { consumeFormToken, type PanelHandler, type PanelSession } from './panel-session.ts';

/** The virtual clock and the faults, with forms that change them as the admin API does. */
export const clockAndFaultsPage: PanelHandler = (_request, service, session) => {
  return page(200, service, session);
};

/** Advances, freezes or resumes the clock. */
export const submitClock: PanelHandler = (request, service, session) => {
  if (!consumeFormToken(request, session, service, CLOCK_FORM)) return renderUsedForm(PATH);
  const form = new URLSearchParams(request.body);
  const change = form.get('change');
  const step = parseDuration(form.get('advance') ?? '');
  if (change === 'freeze') service.world.setClock(freezeClock);
  else if (change === 'resume') service.world.setClock(resumeClock);
  else if (step === undefined || !isClockTime(service.world.now() + step))
    return page(
      422,
      service,
      session,
      'The step must be a duration such as 10m, 2h or 30d, to a time before the year 9999.',
    );
  else service.world.setClock((clock) => advanceClock(clock, step));
  return redirectReply(303, PATH);
};

/** Adds one fault, or removes all faults. */
export const submitFault: PanelHandler = (request, service, session) => {
  if (!consumeFormToken(request, session, service, FAULT_FORM)) return renderUsedForm(PATH);
  const form = new URLSearchParams(request.body);
  if (form.get('change') === 'clear') {
    service.faults.clear();
    return redirectReply(303, PATH);
  }
  const spec = decodeFault(membersOfForm(form));
  if (typeof spec === 'string') return page(422, service, session, `The fault was not added: ${spec}`);
  service.faults.add(spec);
  return redirectReply(303, PATH);
};

/** The members of the fault that the admin API expects. An empty field counts as absent. */
function membersOfForm(form: URLSearchParams): ReadonlyMap<string, unknown> {
  const [, method, path] = /^\s*([A-Z]+)?\s*(\S*)\s*$/.exec(form.get('request') ?? '') ?? [];
  const match = { ...(method === undefined ? {} : { method }), ...(path === '' ? {} : { path: path ?? '' }) };
  const members: [string, unknown][] = [
    ['match', match],
    ['action', form.get('action')],
    ['delay', form.get('delay')?.trim()],
    ...['nth', 'times', 'status'].map((name): [string, unknown] => [name, numberField(form.get(name))]),
  ];
  return new Map(members.filter(([, value]) => value !== undefined && value !== ''));
}

function numberField(text: string | null): number | undefined {
  return text === null || text.trim() === '' ? undefined : Number(text);
}

function page(status: number, service: Service, session: PanelSession, problem?: string): Reply {
  const { world, faults } = service;
  const token = (form: string): HtmlMarkup =>
    html`<input type="hidden" name="csrf" value="${world.sessions.issueToken(session.session, form)}">`;
  const content = html`<h1>Clock and faults</h1>
${problem === undefined ? '' : html`<p class="alert" role="alert">${problem}</p>`}
${clockSection(service, token(CLOCK_FORM))}
<section class="group">
<h2>Faults</h2>
<p>A fault changes how the sandbox answers matching requests. The <a href="/panel/requests">request log</a> shows what it did to each.</p>
${faultList(faults.list(), token)}
</section>
<section class="group">
<h2>Add a fault</h2>
${faultForm(token(FAULT_FORM))}
</section>`;
  return renderPage(status, { title: 'Clock and faults', content, signedInAs: session.person.name, isWide: true });
}

function clockSection({ world }: Service, token: HtmlMarkup): HtmlMarkup {
  const { clock } = world;
  const isFrozen = clock.frozenAt !== null;
  const offset =
    Math.abs(clock.offset) < 1000
      ? 'equal to'
      : `${formatElapsedTime(Math.abs(clock.offset))} ${clock.offset > 0 ? 'ahead of' : 'behind'}`;
  return html`<section class="group">
<h2>Virtual clock</h2>
<p class="time"><time datetime="${new Date(world.now()).toISOString()}">${formatUtcSecond(world.now())} UTC</time> <span class="badge ${isFrozen ? 'bad' : 'good'}">${isFrozen ? 'frozen' : 'running'}</span></p>
<p class="soft">${isFrozen ? '' : `The virtual clock is ${offset} the system time. `}Codes, tokens, migrations and droplets age by this clock. It never moves backward.</p>
<form class="filter" method="post" action="/panel/clock">
${token}
<label for="advance">Advance by</label>
<select id="advance" name="advance">${STEPS.map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>
<button class="main" type="submit">Advance</button>
${isFrozen ? html`<button type="submit" name="change" value="resume">Resume</button>` : html`<button type="submit" name="change" value="freeze">Freeze</button>`}
</form>
</section>`;
}

function faultList(list: readonly CountedFault[], token: (form: string) => HtmlMarkup): HtmlMarkup {
  if (list.length === 0) return html`<p class="soft">No fault is active.</p>`;
  return html`${renderTable('Faults, in the order in which they were added', FAULT_COLUMNS, list.map(faultRow))}
<form method="post" action="/panel/faults">
${token(FAULT_FORM)}
<button class="bad" type="submit" name="change" value="clear">Remove all faults</button>
</form>`;
}

function faultRow({ match, action, delay, status, nth, times, matched, applied, remaining }: CountedFault) {
  const details = [
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(delay === undefined ? [] : [`delay ${delay} ms`]),
    ...(nth === 1 ? [] : [`from request ${nth}`]),
  ];
  return [
    describeMatch(match),
    action,
    details.join(', '),
    matched,
    `${applied} of ${times}`,
    remaining === 0 ? 'used up' : 'active',
  ];
}

function describeMatch({ method, path, grant_type: grantType }: FaultMatch): string {
  const request = [method, path].filter((part) => part !== undefined).join(' ');
  return [request, grantType].filter((part) => part !== undefined && part !== '').join(', ');
}

function faultForm(token: HtmlMarkup): HtmlMarkup {
  return html`<form method="post" action="/panel/faults">
${token}
<div class="fields">
<p><label for="request">Request</label><input id="request" name="request" type="text" required value="GET /v2/droplets" aria-describedby="request-help"><span class="soft" id="request-help">Method and path; with * at its end, a prefix</span></p>
<p><label for="action">Action</label><select id="action" name="action">${ACTION_NAMES.map((name) => html`<option${name === 'status' ? html` selected` : ''}>${name}</option>`)}</select></p>
<p><label for="status">Status</label><input id="status" name="status" type="number" min="200" max="599" aria-describedby="status-help"><span class="soft" id="status-help">For the action status (default: 500)</span></p>
<p><label for="delay">Delay</label><input id="delay" name="delay" type="text" aria-describedby="delay-help"><span class="soft" id="delay-help">Such as 500ms or 2s</span></p>
<p><label for="nth">First request</label><input id="nth" name="nth" type="number" min="1" value="1"></p>
<p><label for="times">Number of requests</label><input id="times" name="times" type="number" min="1" value="1"></p>
</div>
<button class="main" type="submit">Add fault</button>
</form>`;
}

const PATH = '/panel/clock';
const CLOCK_FORM = 'clock';
const FAULT_FORM = 'faults';
const STEPS = [
  ['10m', '10 minutes'],
  ['1h', '1 hour'],
  ['1d', '1 day'],
  ['15d', '15 days'],
  ['30d', '30 days'],
] as const;
const FAULT_COLUMNS = [
  { title: 'Requests', kind: 'code' },
  { title: 'Action', kind: 'header' },
  { title: 'Details' },
  { title: 'Matched', kind: 'number' },
  { title: 'Applied', kind: 'number' },
  { title: 'State' },
] as const;
