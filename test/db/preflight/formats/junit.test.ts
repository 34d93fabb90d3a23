import { describe, expect, it } from 'vitest';
import { findings, report } from '../sample.ts';
import { junitErrors, parseXml } from './junit-schema.ts';
import { rendered } from './words.ts';

describe('JUnit', () => {
  it('follows its schema, with blockers as failures and unknown findings as errors', () => {
    const xml = rendered('a.xml', report);
    expect(junitErrors(xml)).toEqual([]);
    expect(parseXml(xml).attributes).toMatchObject({ tests: '10', failures: '4', errors: '1' });
    expect(parseXml(xml).children[0]?.attributes).toMatchObject({
      name: '[2001:db8::5]:5432/shop as mover',
      timestamp: report.started_at,
      time: '2.345',
      skipped: '1',
    });
    expect(xml).not.toContain('<b>');
  });

  it('has the names of the source unchanged', () => {
    const observed = '<b a="1">&amp; \u202e\n\t\'x\'</b>';
    const xml = rendered('a.xml', { ...report, findings: [{ ...findings[0]!, observed }] });
    expect(junitErrors(xml)).toEqual([]);
    const [testcase] = parseXml(xml).children[0]!.children.filter(({ name }) => name === 'testcase');
    expect(testcase?.children[0]?.attributes.message).toContain(observed);
  });

  it('does not count an accepted blocker as a failure', () => {
    const accepted = findings.map((finding) => (finding.id === 'wal-level' ? { ...finding, accepted: true } : finding));
    const xml = rendered('a.xml', { ...report, findings: accepted });
    expect(junitErrors(xml)).toEqual([]);
    expect(parseXml(xml).attributes.failures).toBe('3');
  });

  it.each([
    ['an unknown attribute', '<testsuites skipped="0" tests="0" failures="0" errors="0"></testsuites>'],
    ['a wrong count', '<testsuites tests="1" failures="0" errors="0"></testsuites>'],
    ['an element in the wrong place', '<testsuites tests="0" failures="0" errors="0"><error/></testsuites>'],
  ])('%s breaks the rules', (_name, xml) => expect(junitErrors(xml)).toHaveLength(1));

  it.each(['<a>&x;</a>', '<a b="1" b="2"/>', '<a></b>', '<a>', '<a/><a/>', '<a b="<"/>'])('%s is not XML', (xml) =>
    expect(() => parseXml(xml)).toThrow(),
  );
});
