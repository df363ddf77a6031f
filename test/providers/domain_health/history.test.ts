// What one check means after another: changes, what is worse, when the owner is alerted and when that is over.
import { describe, expect, test } from 'vitest';
import { compare, UNANSWERED_CHECKS_MAX } from '../../../src/providers/domain_health/history.ts';
import type {
  Comparison,
  Findings,
  Baseline,
} from '../../../src/providers/domain_health/history.ts';
import type { Status } from '../../../src/providers/domain_health/findings.ts';
import type { Brief } from '../../../src/providers/domain_health/schema.ts';

const of = (status: Status, code: string = status, found: string[] = []): Brief => ({
  status,
  code,
  summary: `${code}.`,
  found,
});
const SILENT = of('unknown', 'no_answer');

/** Compares one check after the other; returns what each meant. */
const play = (...checks: Findings[]): Comparison[] => {
  let known: Baseline | null = null;
  return checks.map((now) => {
    const comparison = compare(known, now);
    known = comparison.known;
    return comparison;
  });
};
const worse = (comparisons: readonly Comparison[]) => comparisons.map((one) => one.worse);
const recovered = (comparisons: readonly Comparison[]) => comparisons.map((one) => one.isRecovered);
const changed = (comparisons: readonly Comparison[]) =>
  comparisons.map(({ changes }) => changes.map(({ finding }) => finding));

test('the first check is all new, and nothing got worse', () => {
  const played = play({ spf: of('bad'), dmarc: of('good') });
  expect([changed(played), worse(played)]).toEqual([[['spf', 'dmarc']], [[]]]);
});

test('the same again is no change, whatever the order of records and the words', () => {
  const played = play(
    { spf: of('good', 'spf_ok', ['a', 'b']) },
    { spf: { ...of('good', 'spf_ok', ['a', 'b']), summary: 'Other words.' } },
  );
  expect(changed(played)).toEqual([['spf'], []]);
});

test('another record, or another reason, is a change', () => {
  const played = play(
    { spf: of('bad', 'spf_several', ['a']) },
    { spf: of('bad', 'spf_several', ['b']) },
    { spf: of('bad', 'spf_lookups', ['b']) },
  );
  expect([changed(played), worse(played)]).toEqual([
    [['spf'], ['spf'], ['spf']],
    [[], [], []],
  ]);
});

describe('a change for the worse', () => {
  test.each<[Status, Status, boolean]>([
    ['good', 'warning', true],
    ['good', 'bad', true],
    ['warning', 'bad', true],
    ['bad', 'warning', false],
    ['warning', 'good', false],
    ['bad', 'bad', false],
  ])('from %s to %s: %s', (before, after, isWorse) => {
    const [, second] = play({ spf: of(before) }, { spf: of(after) });
    expect(second?.worse).toEqual(isWorse ? ['spf'] : []);
  });

  test('is over when everything is as good as before it, not sooner', () => {
    const played = play(
      { spf: of('good'), dmarc: of('warning') },
      { spf: of('warning'), dmarc: of('bad') },
      { spf: of('bad'), dmarc: of('warning') },
      { spf: of('warning'), dmarc: of('warning') },
      { spf: of('good'), dmarc: of('warning') },
      { spf: of('good'), dmarc: of('good') },
    );
    expect(worse(played)).toEqual([[], ['spf', 'dmarc'], ['spf'], [], [], []]);
    expect(recovered(played)).toEqual([false, false, false, false, true, false]);
  });

  test('is over when the finding is no longer checked', () => {
    const played = play(
      { spf: of('good'), 'dkim:s1': of('good') },
      { spf: of('good'), 'dkim:s1': of('bad') },
      { spf: of('good') },
    );
    expect(recovered(played)).toEqual([false, false, true]);
    expect(played[2]?.changes).toEqual([{ finding: 'dkim:s1', before: of('bad'), after: null }]);
  });

  test('is none where a finding is new', () => {
    const [, second] = play({ spf: of('good') }, { spf: of('good'), 'dkim:s2': of('bad') });
    expect([second?.worse, second?.changes.length]).toEqual([[], 1]);
  });
});

describe('name servers that do not answer', () => {
  test('change nothing at first, and what is known stays', () => {
    const played = play({ spf: of('good') }, { spf: SILENT }, { spf: of('bad') });
    expect(changed(played)).toEqual([['spf'], [], ['spf']]);
    expect(worse(played)).toEqual([[], [], ['spf']]);
    expect(played[1]?.known.findings['spf']).toEqual(of('good'));
  });

  test(`are a change for the worse at the ${UNANSWERED_CHECKS_MAX}rd check in a row, and once`, () => {
    const silent = Array.from({ length: UNANSWERED_CHECKS_MAX + 1 }, () => ({ spf: SILENT }));
    const played = play({ spf: of('good') }, ...silent, { spf: of('good') });
    expect(worse(played)).toEqual([[], [], [], ['spf'], [], []]);
    expect(recovered(played)).toEqual([false, false, false, false, false, true]);
    expect(played.map(({ known }) => known.unansweredCount)).toEqual([0, 1, 2, 3, 4, 0]);
  });

  test('are counted in a row: one answer in between begins anew', () => {
    const played = play(
      { spf: of('good') },
      { spf: SILENT },
      { spf: SILENT },
      { spf: of('good') },
      { spf: SILENT },
    );
    expect(changed(played).slice(1)).toEqual([[], [], [], []]);
  });

  test('say nothing of what DNS never says: selectors that are not known', () => {
    const unlisted = of('unknown', 'selectors_unknown');
    const played = play({ alignment: unlisted }, { alignment: of('bad', 'aligned_none') });
    expect([played[0]?.known.unansweredCount, worse(played)]).toEqual([0, [[], ['alignment']]]);
  });
});
