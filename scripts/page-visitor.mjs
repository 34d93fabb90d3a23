// A minimal browser without scripts, windows or cache, for pages that work without them. Cookies are kept for each host and
// port. It uses node:http, because the built-in fetch marks its requests as `cors`, not as navigations.
import { request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';

/** Opens `url`, fills in and submits forms with what `fill` returns, and ends on the first page for which it returns undefined. */
export async function visit(url, fill) {
  const cookies = new Map();
  let page = await open(cookies, url, {});
  for (let step = 0; step < 10; step++) {
    const values = fill(page);
    if (values === undefined) return page;
    page = await submit(cookies, page, values);
  }
  throw new Error(`too many pages on ${new URL(page.url).origin}`);
}

async function submit(cookies, page, values) {
  const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(page.html);
  if (form === null) throw new Error(`there is no form on "${page.title}"`);
  const action = new URL(attribute(form[1], 'action') ?? page.url, page.url);
  const fields = new URLSearchParams();
  for (const [, attributes] of form[2].matchAll(/<input\b([^>]*)>/gi)) {
    const name = attribute(attributes, 'name');
    const optional = /type="(radio|checkbox)"/.test(attributes) && !/\bchecked\b/.test(attributes);
    if (name !== undefined && !optional) fields.set(name, attribute(attributes, 'value') ?? '');
  }
  for (const [name, value] of Object.entries(values)) fields.set(name, value);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(page.url).origin };
  return open(cookies, action, { method: 'POST', headers, body: fields.toString() });
}

async function open(cookies, start, init) {
  let url = new URL(start);
  let request = init;
  for (let hops = 0; hops < 20; hops++) {
    const jar = cookies.get(url.host) ?? new Map();
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await exchange(url, { ...request, headers: { ...request.headers, ...(cookie && { cookie }) } });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined) jar.set(name, value);
    }
    cookies.set(url.host, jar);
    const { location } = answer.headers;
    if (answer.status < 300 || answer.status >= 400 || location === undefined) {
      const html = answer.body;
      return {
        url: url.href,
        status: answer.status,
        html,
        title: decoded(/<title>([\s\S]*?)<\/title>/i.exec(html)?.[1] ?? ''),
      };
    }
    // After a form, browsers request the next page with GET.
    url = new URL(location, url);
    request = {};
  }
  throw new Error(`${new URL(start).origin} redirects too often`);
}

function exchange(url, { body, ...init }) {
  return new Promise((resolve, reject) => {
    const sent = sendRequest(url, { ...init, agent: false }, async (answer) => {
      resolve({ status: answer.statusCode, headers: answer.headers, body: await text(answer) });
    });
    sent.on('error', reject).end(body);
  });
}

function attribute(text, name) {
  const found = new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(text);
  return found === null ? undefined : decoded(found[1]);
}

function decoded(text) {
  return text
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
