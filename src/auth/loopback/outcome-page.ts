import {
  escapeLoopbackPageText,
  type LoopbackHtmlPage,
  type LoopbackPageIcon,
  renderLoopbackHtmlPage,
} from './html-page.ts';
import { type LoopbackRefusalReason, loopbackRefusalStatusCodes } from './refusal.ts';

/** The outcome of a login, which the page in the browser tab shows. The text of the outcome may come from the server. */
export type LoginOutcome =
  /** Name, email address and team of the account, as far as known; the implicit flow provides none of them. */
  | {
      readonly kind: 'signed_in';
      readonly name?: string | undefined;
      readonly email?: string | undefined;
      readonly team?: string | undefined;
    }
  | { readonly kind: 'access_denied' }
  | { readonly kind: 'state_mismatch' }
  /** The reason is one sentence of this program without the full stop. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The login is not finished and continues in the terminal. */
  | { readonly kind: 'unfinished' };

/** What the browser tab receives: the page with the outcome, or a redirect to the URL at which the login continues. */
export type BrowserTabResponse = LoginOutcome | { readonly kind: 'continue'; readonly url: string };

/** The last page in the browser tab, which shows the outcome of the login. */
export function renderLoginOutcomePage(outcome: LoginOutcome): LoopbackHtmlPage {
  switch (outcome.kind) {
    case 'signed_in':
      return renderLoopbackHtmlPage({ status: 200, icon: 'done', ...signedInPage(outcome) });
    case 'access_denied':
      return textPage(
        'stopped',
        200,
        'Access was denied',
        'The authorization was denied. Nothing was changed or stored.',
      );
    case 'state_mismatch':
      return textPage(
        'stopped',
        200,
        'This response belongs to another login',
        'The state of the response is missing or different, so the response was not used and you are not signed in. Start the login again in the terminal.',
      );
    case 'failed':
      return textPage('stopped', 200, 'You are not signed in', `${outcome.reason}.`);
    case 'unfinished':
      return textPage(
        'waiting',
        200,
        'Continue in the terminal',
        'The login is not finished. The terminal shows what to do next.',
      );
    default:
      return outcome satisfies never;
  }
}

/** The page for a refused request, which has no effect on the login. */
export function renderLoopbackRefusalPage(noise: LoopbackRefusalReason): LoopbackHtmlPage {
  const { title, text } = refusalPages[noise];
  return textPage('notice', loopbackRefusalStatusCodes[noise], title, text, false);
}

const refusalPages: Readonly<Record<LoopbackRefusalReason, { readonly title: string; readonly text: string }>> = {
  not_a_response: {
    title: 'Not an authorization response',
    text: 'The request is not an authorization response. A waiting login is not affected.',
  },
  forbidden: { title: 'Request refused', text: 'The request did not come from the login page.' },
  not_found: { title: 'Page not found', text: 'This server only receives the redirect of a login.' },
  method_not_allowed: { title: 'Method not allowed', text: 'This URL does not support the method of the request.' },
  request_timeout: { title: 'Request timeout', text: 'The request was not received in time.' },
  already_finished: {
    title: 'This login is already finished',
    text: 'A response was already accepted. The terminal shows the outcome. You can close this tab.',
  },
  already_started: {
    title: 'This link works only once',
    text: 'Open the URL that the terminal shows instead.',
  },
  body_too_large: { title: 'Request too large', text: 'The request is larger than an authorization response.' },
  expectation_failed: { title: 'Expectation failed', text: 'This server does not support the Expect header.' },
  misdirected: { title: 'Wrong host name', text: 'This server does not serve the requested host name.' },
  headers_too_large: { title: 'Headers too large', text: 'The headers of the request are too large.' },
};

function signedInPage(who: Extract<LoginOutcome, { kind: 'signed_in' }>): {
  readonly title: string;
  readonly body: string;
} {
  const name = escapeLoopbackPageText(who.name ?? '');
  const email = escapeLoopbackPageText(who.email ?? '');
  const team = escapeLoopbackPageText(who.team ?? '');
  const heading = name || email;
  const lines = [
    `<h1>${heading === '' ? 'You are signed in' : `You are signed in as ${heading}`}</h1>`,
    ...(name !== '' && email !== '' ? [`<p class="who">${email}</p>`] : []),
    ...(team === '' ? [] : [`<p class="who">Team ${team}</p>`]),
    '<p class="close">You can close this tab.</p>',
  ];
  return { title: 'Signed in', body: lines.join('\n') };
}

function textPage(
  mark: LoopbackPageIcon,
  status: number,
  title: string,
  text: string,
  closable = mark === 'stopped',
): LoopbackHtmlPage {
  const close = closable ? '\n<p class="close">You can close this tab.</p>' : '';
  return renderLoopbackHtmlPage({
    status,
    icon: mark,
    title,
    body: `<h1>${escapeLoopbackPageText(title)}</h1>\n<p>${escapeLoopbackPageText(text)}</p>${close}`,
  });
}
