import { expect, test } from 'vitest';
import { listQueues } from '../../src/base/memory_queues.ts';
import {
  inTurnsOfNotes,
  NOTES_WAITING_MAX,
  NOTES_WAITING_OF_PROJECT_MAX,
} from '../../src/base/note_turns.ts';
import { Resources } from '../../src/base/resources.ts';
import { PUBLISHABLE_PART, SessionTurns } from '../../src/base/session_turns.ts';
import type { TurnKind } from '../../src/base/session_turns.ts';
import { refusalOf } from '../support/refusal_of.ts';

/** Notes of a process of its own, which end when the test lets go. */
const play = () => {
  const deps = { resources: new Resources() };
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const all: Promise<unknown>[] = [];
  const note = (project: string, kind: TurnKind = 'server'): Promise<void> => {
    const { turns } = inTurnsOfNotes({ ...deps, turns: new SessionTurns().of(kind) });
    const asked = turns.have(project, () => {
      begun.push(project);
      return promise;
    });
    all.push(asked.catch(() => {}));
    asked.catch(() => {});
    return asked;
  };
  const notes = (project: string, count: number, kind?: TurnKind): void => {
    for (let at = 0; at < count; at += 1) void note(project, kind);
  };
  const queue = () => listQueues(deps).get('idempotency_notes');
  const end = async (): Promise<void> => {
    resolve();
    await Promise.all(all);
    expect(queue()?.size()).toBe(0);
  };
  return { begun, note, notes, queue, end };
};

test('a project writes one note at a time, so that another project always finds a session', async () => {
  const { begun, notes, end } = play();
  notes('hot', 10);
  expect(begun).toEqual(['hot']);
  notes('quiet', 1);
  expect(begun).toEqual(['hot', 'quiet']);
  await end();
  expect(begun).toHaveLength(11);
});

test('at the bound of a project notes wait, one past it is refused, and another project still waits', async () => {
  const { note, notes, queue, end } = play();
  notes('one', 1 + NOTES_WAITING_OF_PROJECT_MAX);
  expect(queue()?.size()).toBe(NOTES_WAITING_OF_PROJECT_MAX);
  expect((await refusalOf(note('one'))).reason).toBe('overloaded');
  notes('other', 2);
  expect(queue()?.size()).toBe(NOTES_WAITING_OF_PROJECT_MAX + 1);
  await end();
});

test('at the bound of all projects notes wait, and one past it is refused', async () => {
  const { note, notes, queue, end } = play();
  const projects = NOTES_WAITING_MAX / NOTES_WAITING_OF_PROJECT_MAX;
  for (let at = 0; at < projects; at += 1)
    notes(`project ${at}`, NOTES_WAITING_OF_PROJECT_MAX + (at < 2 ? 1 : 0));
  expect([queue()?.size(), queue()?.max]).toEqual([NOTES_WAITING_MAX, NOTES_WAITING_MAX]);
  expect((await refusalOf(note('one more'))).reason).toBe('overloaded');
  await end();
});

test('notes of publishable requests hold one of the two sessions, and wait in places of their own', async () => {
  const { begun, note, notes, end } = play();
  notes('a', 1, 'publishable');
  notes('b', 1, 'publishable');
  expect(begun).toEqual(['a']);
  notes('c', 1);
  expect(begun).toEqual(['a', 'c']);
  notes('a', NOTES_WAITING_OF_PROJECT_MAX * PUBLISHABLE_PART, 'publishable');
  expect((await refusalOf(note('a', 'publishable'))).reason).toBe('overloaded');
  notes('a', 1);
  await end();
});
