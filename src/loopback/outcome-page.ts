import { escapeHtml, type HtmlPage, type PageIcon, renderHtmlPage } from './html-page.ts';
import { type RefusalReason, refusalStatus } from './refusal.ts';

/** How a login ended, for the tab that waits to be told. Text in it may come from outside. */
export type LoginOutcome =
  /** Name, email and team when known; the implicit flow knows none of them. */
  | {
      readonly kind: 'signed_in';
      readonly name?: string | undefined;
      readonly email?: string | undefined;
      readonly team?: string | undefined;
    }
  | { readonly kind: 'access_denied' }
  | { readonly kind: 'state_mismatch' }
  /** Words of our own: one sentence without its full stop, as on the terminal. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The program is still at work after the longest wait. */
  | { readonly kind: 'unfinished' };

/** The last page of the tab: the truth after the exchange. */
export function outcomePage(outcome: LoginOutcome): HtmlPage {
  switch (outcome.kind) {
    case 'signed_in':
      return renderHtmlPage({ status: 200, icon: 'done', ...signedInPage(outcome) });
    case 'access_denied':
      return textPage(
        'stopped',
        200,
        'Access was not granted',
        'Access was refused, so nothing was changed and nothing was kept.',
      );
    case 'state_mismatch':
      return textPage(
        'stopped',
        200,
        'This answer belongs to another login',
        'It did not carry the state this login sent, so it was not used and you are not signed in. Start again in the terminal.',
      );
    case 'failed':
      return textPage('stopped', 200, 'You are not signed in', `${outcome.reason}.`);
    case 'unfinished':
      return textPage('waiting', 200, 'Almost there', 'The login goes on in the terminal. It says there how it ends.');
    default:
      return outcome satisfies never;
  }
}

/** Answers that leave the login alone. */
export function refusalPage(noise: RefusalReason): HtmlPage {
  const { title, text } = refusalPages[noise];
  return textPage('notice', refusalStatus[noise], title, text, false);
}

const refusalPages: Readonly<Record<RefusalReason, { readonly title: string; readonly text: string }>> = {
  not_a_response: {
    title: 'Nothing to do with this request',
    text: 'It is not the answer to a login. A login that is waiting goes on waiting.',
  },
  forbidden: { title: 'Refused', text: 'This request did not come from the login page.' },
  not_found: { title: 'Nothing here', text: 'This helper only waits for the end of a login.' },
  method_not_allowed: { title: 'Refused', text: 'This address does not take this kind of request.' },
  request_timeout: { title: 'Too slow', text: 'The request did not arrive in time.' },
  already_finished: {
    title: 'This login is already finished',
    text: 'Its answer was taken before. The terminal says how it ended. You can close this tab.',
  },
  already_started: {
    title: 'This link was good for one use',
    text: 'Open the address that the terminal shows instead.',
  },
  body_too_large: { title: 'Too long', text: 'The request is longer than any answer to a login.' },
  expectation_failed: { title: 'Refused', text: 'This helper does not answer in two steps.' },
  misdirected: { title: 'Wrong address', text: 'This helper does not answer under that name.' },
  headers_too_large: { title: 'Too long', text: 'The headers of the request are too long.' },
};

function signedInPage(who: Extract<LoginOutcome, { kind: 'signed_in' }>): {
  readonly title: string;
  readonly body: string;
} {
  const name = escapeHtml(who.name ?? '');
  const email = escapeHtml(who.email ?? '');
  const team = escapeHtml(who.team ?? '');
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
  mark: PageIcon,
  status: number,
  title: string,
  text: string,
  closable = mark === 'stopped',
): HtmlPage {
  const close = closable ? '\n<p class="close">You can close this tab.</p>' : '';
  return renderHtmlPage({
    status,
    icon: mark,
    title,
    body: `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)}</p>${close}`,
  });
}
