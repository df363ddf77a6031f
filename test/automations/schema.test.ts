import { describe, expect, test } from 'vitest';
import { parse } from '../../src/base/parse.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { Definition, FILTERS_MAX, STEPS_MAX } from '../../src/automations/schema.ts';
import { newId } from '../../src/base/ids.ts';
import { copy, definition, mail } from './journeys.ts';

const issuesOf = (value: unknown) => {
  try {
    parse(Definition, value);
    return [];
  } catch (error) {
    if (error instanceof Refusal) return error.extras.issues ?? [];
    throw error;
  }
};
const isGood = (value: unknown): boolean => issuesOf(value).length === 0;
/** A chain of so many steps. */
const chain = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `step_${at}`,
      copy({ a: 'b' }, at + 1 < count ? `step_${at + 1}` : null),
    ]),
  );

test('the least that a definition says, with what is assumed', () => {
  const least = {
    trigger: { kind: 'event', event: 'x' },
    settings: {},
    entry: 'mail',
    steps: { mail: mail() },
  };
  expect(parse(Definition, least)).toMatchObject({
    trigger: { filters: [] },
    settings: { re_entry: 'once' },
  });
});

test('every step that is named exists', () => {
  expect(issuesOf(definition({ entry: 'nowhere' }))).toEqual([
    { path: '/steps', message: 'there is no step "nowhere"' },
  ]);
  expect(issuesOf(definition({ steps: { address: copy({}, 'gone') } }))).toEqual([
    { path: '/steps', message: 'there is no step "gone"' },
  ]);
  expect(isGood(definition({ steps: {} }))).toBe(false);
  for (const entry of ['constructor', 'toString', '__proto__'])
    expect(isGood(definition({ entry }))).toBe(false);
});

test('there are at most 100 steps', () => {
  expect(isGood(definition({ entry: 'step_0', steps: chain(STEPS_MAX) }))).toBe(true);
  expect(isGood(definition({ entry: 'step_0', steps: chain(STEPS_MAX + 1) }))).toBe(false);
});

test('a trigger has at most 20 filters, each on a plain value', () => {
  const filters = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ property: `p${at}`, equals: at }));
  const withFilters = (list: unknown) => ({
    ...definition(),
    trigger: { kind: 'event', event: 'x', filters: list },
  });
  expect(isGood(withFilters(filters(FILTERS_MAX)))).toBe(true);
  expect(isGood(withFilters(filters(FILTERS_MAX + 1)))).toBe(false);
  for (const equals of ['x', 1, true])
    expect(isGood(withFilters([{ property: 'p', equals }]))).toBe(true);
  for (const equals of [null, [], {}, undefined])
    expect(isGood(withFilters([{ property: 'p', equals }]))).toBe(false);
});

test('a step is called in lower case, at most 50 characters', () => {
  const called = (entry: string) => definition({ entry, steps: { [entry]: mail() } });
  for (const name of ['a', 'step_1', 'x'.repeat(50)]) expect(isGood(called(name))).toBe(true);
  for (const name of ['', 'A', '1a', '_a', 'a-b', 'a b', 'x'.repeat(51)])
    expect(isGood(called(name))).toBe(false);
});

test('no step is called __proto__, and that is said', () => {
  const steps = JSON.parse(
    `{ "__proto__": ${JSON.stringify(mail())}, "a": ${JSON.stringify(mail())} }`,
  );
  expect(issuesOf(definition({ entry: 'a', steps }))).toEqual([
    { path: '/steps', message: 'no step is called __proto__' },
  ]);
});

describe('a step', () => {
  const withStep = (step: unknown) => ({ ...definition(), entry: 'a', steps: { a: step } });

  test('is of a kind that exists, with what that kind needs and no more', () => {
    expect(isGood(withStep(mail()))).toBe(true);
    for (const step of [
      { ...mail(), kind: 'teleport' },
      { ...mail(), extra: 1 },
      { ...mail(), provider_id: 'x' },
      { ...mail(), template_version: 0 },
      { ...mail(), template_version: 1.5 },
      { ...mail(), next: undefined },
      { kind: 'send_email', next: null },
      null,
    ])
      expect(isGood(withStep(step))).toBe(false);
  });

  test('copies traits of any name', () => {
    const names = '{"__proto__":"a","constructor":"__proto__"}';
    const parsed = parse(Definition, withStep(copy(JSON.parse(names))));
    const { a } = parsed.steps;
    expect(a?.kind === 'update_profile' && JSON.stringify(a.traits_from_event)).toBe(names);
  });

  test('copies traits whose names have 1 to 255 characters', () => {
    expect(isGood(withStep(copy({ ['x'.repeat(255)]: 'y'.repeat(255) })))).toBe(true);
    for (const traits of [
      { '': 'x' },
      { x: '' },
      { ['x'.repeat(256)]: 'y' },
      { x: 1 as unknown as string },
      { x: 'y'.repeat(256) },
    ])
      expect(isGood(withStep(copy(traits)))).toBe(false);
  });
});

test('a definition knows what it knows', () => {
  expect(isGood({ ...definition(), version: 2 })).toBe(false);
  expect(isGood({ ...definition(), settings: { re_entry: 'sometimes' } })).toBe(false);
  expect(isGood({ ...definition(), trigger: { kind: 'segment', segment_id: newId() } })).toBe(
    false,
  );
});
