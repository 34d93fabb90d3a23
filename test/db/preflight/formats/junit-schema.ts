interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

/** A name with a `!` is required; the children may stand in any order, as often as they like. */
const elements: Readonly<Record<string, { readonly attributes: string; readonly children: string }>> = {
  testsuites: { attributes: 'name time tests failures errors', children: 'testsuite' },
  testsuite: {
    attributes: 'name! tests! failures! errors! group time skipped timestamp hostname id package file log url',
    children: 'testsuite properties testcase system-out system-err',
  },
  properties: { attributes: '', children: 'property' },
  property: { attributes: 'name! value!', children: '' },
  testcase: { attributes: 'name! time classname group', children: 'skipped error failure system-out system-err' },
  failure: { attributes: 'type message', children: '' },
  error: { attributes: 'type message', children: '' },
  skipped: { attributes: 'type message', children: '' },
  'system-out': { attributes: '', children: '' },
  'system-err': { attributes: '', children: '' },
};

/** Only these have text. */
const mixed = new Set(['failure', 'error', 'skipped', 'system-out', 'system-err']);

/** The rules of junit-10.xsd, the schema of the xUnit plugin of Jenkins, and what its numbers must add up to. */
export function junitErrors(source: string): readonly string[] {
  const root = parseXml(source);
  const cases = named(root, 'testcase');
  const count = (name: string) => cases.filter(({ children }) => children.some((one) => one.name === name)).length;
  const counts = { tests: cases.length, failures: count('failure'), errors: count('error') };
  return [
    ...(root.name === 'testsuites' ? [] : ['the root is not testsuites']),
    ...errorsOf(root),
    ...[root, ...named(root, 'testsuite')].flatMap(({ name, attributes }) =>
      Object.entries(counts)
        .filter(([key, number]) => attributes[key] !== String(number))
        .map(([key, number]) => `${name} has ${attributes[key]} ${key} instead of ${number}`),
    ),
  ];
}

function errorsOf({ name, attributes, children, text }: XmlElement): readonly string[] {
  const rule = elements[name];
  if (rule === undefined) return [`the element ${name} is unknown`];
  const allowed = rule.attributes.split(' ');
  const required = allowed.filter((one) => one.endsWith('!')).map((one) => one.slice(0, -1));
  const known = allowed.map((one) => one.replace('!', ''));
  return [
    ...required.filter((one) => attributes[one] === undefined).map((one) => `${name} lacks ${one}`),
    ...Object.keys(attributes)
      .filter((one) => !known.includes(one))
      .map((one) => `${name} has the unknown attribute ${one}`),
    ...children
      .filter((one) => !rule.children.split(' ').includes(one.name))
      .map((one) => `${name} contains ${one.name}`),
    ...(text.trim() !== '' && !mixed.has(name) ? [`${name} contains text`] : []),
    ...(/^(\d{0,3}|\d{1,3}(,\d{3})+|\d+)(\.\d*)?$/.test(attributes.time ?? '0') ? [] : [`${name} has a wrong time`]),
    ...children.flatMap(errorsOf),
  ];
}

function named(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.flatMap((one) => [...(one.name === name ? [one] : []), ...named(one, name)]);
}

/** Elements, attributes, text and references of XML 1.0; throws for what is not well-formed. */
export function parseXml(source: string): XmlElement {
  const tokens = /<\?xml[^?]*\?>|<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w.-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let end = 0;
  for (const token of source.matchAll(tokens)) {
    end = token.index + token[0].length;
    const [, closing, name, attributes = '', empty, text] = token;
    const inside = open.at(-1)!;
    if (text !== undefined) inside.text += decoded(text);
    else if (closing === '/') {
      if (inside.name !== name) throw new Error(`</${name}> ends <${inside.name}>`);
      open.pop();
    } else if (name !== undefined) {
      const pairs = [...attributes.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, decoded(value!)]);
      const element: XmlElement = { name, attributes: Object.fromEntries(pairs), children: [], text: '' };
      if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error(`<${name}> has an attribute twice`);
      inside.children.push(element);
      if (empty === '') open.push(element);
    }
  }
  const [first, ...others] = root.children;
  if (end !== source.length) throw new Error(`not well-formed at ${source.slice(end, end + 40)}`);
  if (first === undefined || others.length > 0 || open.length > 1) throw new Error('not one element');
  return first;
}

function decoded(text: string): string {
  const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(#?\w*)(;?)/g, (reference, name: string, semicolon: string) => {
    const code = /^#x/.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    const found = name.startsWith('#') ? String.fromCodePoint(code) : names[name];
    if (semicolon === '' || found === undefined) throw new Error(`${reference} is no reference`);
    return found;
  });
}
