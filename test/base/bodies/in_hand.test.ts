// The memory of bodies: what one sender takes never takes the share of another.
import { describe, expect, test } from 'vitest';
import { BodiesInHand } from '../../../src/base/bodies/in_hand.ts';
import type { BodySender } from '../../../src/base/bodies/in_hand.ts';
import type { HeldBody } from '../../../src/base/bodies/held.ts';
import { newId } from '../../../src/base/ids.ts';
import { reasonOf } from '../../support/refusal_of.ts';

const BYTES = 1_600;
const [PUBLIC, OF_ADDRESS, OF_PUBLIC_PROJECT, OF_SERVER_PROJECT] = [800, 200, 400, 800];

const bodies = (requestsOfAddress = 0) => new BodiesInHand({ bytes: BYTES, requestsOfAddress });
const server = (projectId = newId()): BodySender => ({ kind: 'server', projectId });
let addresses = 0;
const stranger = (projectId: string | null = newId(), origin?: string): BodySender => {
  addresses += 1;
  return { kind: 'stranger', projectId, origin: origin ?? `192.0.2.${addresses}` };
};

/** Holds as much as there is room for, in pieces of one byte: how much that was, and why it ended. */
const fill = (held: HeldBody): { bytes: number; refusal: string | null } => {
  for (let bytes = 0; ; bytes += 1) {
    const refusal = reasonOf(() => held.add(1));
    if (refusal !== null) return { bytes, refusal };
  }
};

describe('at the bound taken, one past it refused', () => {
  test('of one address, in one request or in several', () => {
    const hand = bodies();
    expect(fill(hand.open(stranger(null, 'a')))).toEqual({
      bytes: OF_ADDRESS,
      refusal: 'rate_limited',
    });
    expect(fill(hand.open(stranger(newId(), 'a')))).toEqual({ bytes: 0, refusal: 'rate_limited' });
    expect(fill(hand.open(stranger(newId(), 'b')))).toMatchObject({ bytes: OF_ADDRESS });
  });

  test('of the strangers of one project, whatever their addresses', () => {
    const hand = bodies();
    const projectId = newId();
    const filled = Array.from({ length: 3 }, () => fill(hand.open(stranger(projectId))));
    expect(filled.map(({ bytes }) => bytes)).toEqual([200, 200, 0]);
    expect(filled.at(-1)?.refusal).toBe('overloaded');
    expect(OF_PUBLIC_PROJECT).toBe(400);
    expect(fill(hand.open(stranger()))).toMatchObject({ bytes: OF_ADDRESS });
  });

  test('of all strangers: servers keep half, whatever strangers send', () => {
    const hand = bodies();
    const filled = Array.from({ length: 10 }, () => fill(hand.open(stranger(null))).bytes);
    expect(filled.reduce((sum, bytes) => sum + bytes)).toBe(PUBLIC);
    expect(hand.heldBytes).toEqual({ all: PUBLIC, strangers: PUBLIC });
    expect(fill(hand.open(server()))).toEqual({ bytes: BYTES - PUBLIC, refusal: 'overloaded' });
  });

  test('of the servers of one project: another keeps half', () => {
    const hand = bodies();
    const projectId = newId();
    expect(fill(hand.open(server(projectId)))).toMatchObject({ bytes: OF_SERVER_PROJECT });
    expect(fill(hand.open(server(projectId)))).toEqual({ bytes: 0, refusal: 'overloaded' });
    expect(fill(hand.open(server()))).toMatchObject({ bytes: BYTES - OF_SERVER_PROJECT });
  });

  test('of the requests of one address in progress; servers have no such bound', () => {
    const hand = bodies(3);
    const open = () => hand.open(stranger(newId(), 'a'));
    const [first] = [open(), open(), open()];
    expect(reasonOf(open)).toBe('rate_limited');
    expect(reasonOf(() => hand.open(stranger(null, 'b')))).toBeNull();
    for (let at = 0; at < 10; at += 1) expect(reasonOf(() => hand.open(server()))).toBeNull();
    first?.release();
    first?.release();
    expect(reasonOf(open)).toBeNull();
    expect(reasonOf(open)).toBe('rate_limited');
  });
});

test('a request that is refused holds what it held, and returns all of it', () => {
  const hand = bodies();
  const held = hand.open(stranger(null, 'a'));
  held.add(OF_ADDRESS - 1);
  expect(reasonOf(() => held.add(2))).toBe('rate_limited');
  expect(hand.heldBytes).toEqual({ all: OF_ADDRESS - 1, strangers: OF_ADDRESS - 1 });
  held.release();
  held.release();
  expect(hand.heldBytes).toEqual({ all: 0, strangers: 0 });
  expect(fill(hand.open(stranger(null, 'a')))).toMatchObject({ bytes: OF_ADDRESS });
});
