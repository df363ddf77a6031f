import { expect, test } from 'vitest';
import type { Send } from '../../src/console/api.ts';
import { mergeSends } from '../../src/console/merge_sends.ts';

const send = (id: string, status: Send['status'] = 'queued', to = 'ann@example.com') =>
  ({ id, status, to }) as Send;
const page = (ids: string, next: string | null = null) => ({
  items: Array.from(ids, (id) => send(id)),
  next_cursor: next,
});
type Page = ReturnType<typeof page>;
const known = (...pages: Page[]) => ({ pages, pageParams: pages.map(() => undefined) });
const idsOf = ({ pages }: { pages: readonly Page[] }) =>
  pages.map(({ items }) => items.map(({ id }) => id).join(''));
const merge = (have: Page[], told: Page, filter = {}) => mergeSends(known(...have), told, filter);

test('what is new comes first, and nothing twice', () => {
  expect(idsOf(merge([page('cb')], page('edcb')))).toEqual(['edcb']);
  expect(idsOf(merge([page('cb')], page('cb')))).toEqual(['cb']);
  expect(idsOf(merge([page('')], page('ba')))).toEqual(['ba']);
});

test('what is known is told anew, on whichever page it is', () => {
  const told = { items: [send('d'), send('b', 'accepted')], next_cursor: null };
  const { pages } = merge([page('dc', 'more'), page('ba')], told);
  expect(pages.map(({ items }) => items.map(({ status }) => status))).toEqual([
    ['queued', 'queued'],
    ['accepted', 'queued'],
  ]);
});

test('what comes late comes in its place, and not past what was read so far', () => {
  expect(idsOf(merge([page('fd', 'more'), page('b')], page('fedcba')))).toEqual(['fed', 'cba']);
  expect(idsOf(merge([page('fd', 'more')], page('feb')))).toEqual(['fed']);
});

test('what fits the filter no longer goes, and what does now comes', () => {
  const told = {
    items: [send('c', 'accepted'), send('b'), send('a', 'accepted')],
    next_cursor: null,
  };
  expect(idsOf(merge([page('cb')], told, { status: 'queued' }))).toEqual(['b']);
  const accepted = { items: [send('a', 'accepted')], next_cursor: null };
  expect(idsOf(merge([accepted], told, { status: 'accepted' }))).toEqual(['ca']);
});

test('of an address only its own sends come, however it is written', () => {
  const told = { items: [send('c'), send('b', 'queued', 'Bob@Example.com')], next_cursor: null };
  expect(idsOf(merge([page('')], told, { email: ' bob@example.com ' }))).toEqual(['b']);
});

test('of an automation only its own sends come', () => {
  const of = (id: string, automation_id: string | null) => ({ ...send(id), automation_id });
  const told = { items: [of('c', null), of('b', 'one'), of('a', 'other')], next_cursor: null };
  expect(idsOf(merge([page('')], told, { automation: 'one' }))).toEqual(['b']);
});

test('where more has come than is told, what is told is all that is known', () => {
  expect(idsOf(merge([page('ba')], page('fe', 'more')))).toEqual(['fe']);
  expect(idsOf(merge([page('ba')], page('fe')))).toEqual(['feba']);
});
