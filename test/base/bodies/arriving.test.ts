// Bodies that arrive slowly: they hold no room against others, and are ended only where there is none.
import { beforeEach, describe, expect, test } from 'vitest';
import type { HeldBody } from '../../../src/base/bodies/held.ts';
import { BodiesInHand } from '../../../src/base/bodies/in_hand.ts';
import type { BodySender } from '../../../src/base/bodies/in_hand.ts';
import { SLOW_BODY_MS } from '../../../src/base/bodies/arriving.ts';
import { newId } from '../../../src/base/ids.ts';
import { reasonOf } from '../../support/refusal_of.ts';

const BYTES = 1_600;
const [STRANGERS, OF_ADDRESS, OF_PROJECT] = [800, 200, 400];

let now = 0;
let hand: BodiesInHand;
let ended: string[] = [];
beforeEach(() => {
  now = 1_000;
  ended = [];
  hand = new BodiesInHand({ bytes: BYTES, requestsOfAddress: 3, nowMs: () => now });
});

const projectId = newId();
let addresses = 0;
const nextOrigin = () => {
  addresses += 1;
  return `192.0.2.${addresses}`;
};
const stranger = (origin = nextOrigin(), project: string | null = projectId): BodySender => ({
  kind: 'stranger',
  projectId: project,
  origin,
});
const server = (project = projectId): BodySender => ({ kind: 'server', projectId: project });

/** A body of which so many bytes have arrived, and more will. */
const arriving = (name: string, sender: BodySender, bytes: number): HeldBody => {
  const held = hand.open(sender);
  held.arrive(() => ended.push(name));
  held.add(bytes);
  return held;
};
const whyNot = (sender: BodySender, bytes: number): string | null =>
  reasonOf(() => hand.open(sender).add(bytes));

describe('where a share is full, the body that has been arriving longest is ended', () => {
  test('at the bound of its time, and not just before', () => {
    arriving('first', stranger(), OF_ADDRESS);
    now += 1;
    arriving('second', stranger(), OF_ADDRESS);
    now += SLOW_BODY_MS - 2;
    expect(whyNot(stranger(), 1)).toBe('overloaded');
    expect(ended).toEqual([]);
    now += 1;
    expect(whyNot(stranger(), 1)).toBeNull();
    expect(ended).toEqual(['first']);
    expect(hand.heldBytes).toEqual({ all: OF_ADDRESS + 1, strangers: OF_ADDRESS + 1 });
  });

  test('and as many more as are needed, but no others', () => {
    for (const name of ['a', 'b', 'c', 'd']) arriving(name, stranger(), OF_PROJECT / 4);
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(), OF_ADDRESS)).toBeNull();
    expect(ended).toEqual(['a', 'b']);
  });

  test('of one address, for its bytes and for its requests', () => {
    const origin = nextOrigin();
    arriving('other', stranger(), 1);
    arriving('first', stranger(origin), OF_ADDRESS);
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(origin), 1)).toBeNull();
    expect(ended).toEqual(['first']);
    arriving('second', stranger(origin), 1);
    arriving('third', stranger(origin), 1);
    expect(whyNot(stranger(origin), 1)).toBe('rate_limited');
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(origin), 1)).toBeNull();
    expect(ended).toEqual(['first', 'second']);
  });

  test('of all strangers, whatever their projects', () => {
    for (let at = 0; at < STRANGERS / OF_ADDRESS; at += 1)
      arriving(`body ${at}`, stranger(nextOrigin(), null), OF_ADDRESS);
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(nextOrigin(), newId()), 1)).toBeNull();
    expect(ended).toEqual(['body 0']);
  });

  test('of the servers of a project, by servers', () => {
    arriving('server', server(), BYTES / 2);
    now += SLOW_BODY_MS;
    expect(whyNot(server(), 1)).toBeNull();
    expect(ended).toEqual(['server']);
  });
});

describe('never ended is', () => {
  test('a body of a server for strangers, and one of strangers for a server', () => {
    arriving('server', server(), BYTES / 2);
    arriving('another server', server(newId()), BYTES / 2);
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(), 1)).toBe('overloaded');
    expect(ended).toEqual([]);
    expect(whyNot(server(newId()), 1)).toBeNull();
    expect(ended).toEqual(['server']);
    for (let at = 0; at < STRANGERS / OF_ADDRESS; at += 1)
      arriving('stranger', stranger(nextOrigin(), null), at === 0 ? OF_ADDRESS - 1 : OF_ADDRESS);
    now += SLOW_BODY_MS;
    expect(whyNot(server(newId()), 1)).toBeNull();
    expect(ended).toEqual(['server', 'another server']);
    expect(whyNot(server(newId()), BYTES - hand.heldBytes.all)).toBeNull();
    expect(whyNot(server(newId()), 1)).toBe('overloaded');
    expect(ended).toEqual(['server', 'another server']);
  });

  test('a body that has arrived', () => {
    const held = arriving('whole', stranger(), OF_ADDRESS);
    held.hasArrived();
    arriving('slow', stranger(), OF_ADDRESS);
    now += SLOW_BODY_MS;
    expect(whyNot(stranger(), OF_ADDRESS)).toBeNull();
    expect(whyNot(stranger(), 1)).toBe('overloaded');
    expect(ended).toEqual(['slow']);
  });

  test('a slow body where there is room', () => {
    const held = arriving('slow', stranger(), OF_ADDRESS - 1);
    now += 10 * SLOW_BODY_MS;
    expect(whyNot(stranger(), OF_ADDRESS)).toBeNull();
    held.add(1);
    expect(ended).toEqual([]);
  });

  test('one that has been arriving for a shorter time than the one that needs room', () => {
    const slowest = arriving('slowest', stranger(), OF_ADDRESS - 1);
    now += 1;
    arriving('later', stranger(), OF_ADDRESS);
    now += SLOW_BODY_MS;
    expect(reasonOf(() => slowest.add(2))).toBe('rate_limited');
    expect(ended).toEqual([]);
  });
});

test('a body that was ended holds nothing, counts nothing more, and is ended once', () => {
  const held = arriving('first', stranger(), OF_ADDRESS);
  arriving('second', stranger(), OF_ADDRESS);
  now += SLOW_BODY_MS;
  expect(whyNot(stranger(), 1)).toBeNull();
  held.add(OF_ADDRESS);
  held.arrive(() => ended.push('again'));
  held.hasArrived();
  held.release();
  expect(ended).toEqual(['first']);
  expect(hand.heldBytes.all).toBe(OF_ADDRESS + 1);
});
