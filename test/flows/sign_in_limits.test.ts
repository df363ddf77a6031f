// Wrong passwords against several processes: an attacker gains nothing by trying one after the other.
import { expect, test } from 'vitest';
import {
  CONFIRMATIONS_PER_SESSION_MAX,
  SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX,
} from '../../src/admin/throttle.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { makePerson, PASSWORD } from '../support/people.ts';
import { inHalves } from '../support/session.ts';
import { testWorld } from '../support/world.ts';

const TIMEOUT_MS = 90_000;
const world = testWorld();

const call = ({ port }: Service, procedure: string, input: object, cookie?: string) =>
  fetch(`http://127.0.0.1:${port}/admin/trpc/${procedure}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(cookie === undefined ? {} : { ...inHalves(cookie), origin: `http://127.0.0.1:${port}` }),
    },
    body: JSON.stringify(input),
  }).then(async (answer) => {
    await answer.text();
    return answer.status;
  });

test(
  'two processes count wrong passwords together, and know each other’s devices',
  { timeout: TIMEOUT_MS },
  async () => {
    const apis = await Promise.all([world.start('api'), world.start('api')]);
    const inTurn = (at: number) => apis[at % 2] as Service;
    const { email, cookie } = await makePerson(world);
    const signedIn = await fetch(`http://127.0.0.1:${inTurn(0).port}/admin/trpc/session.signIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD, remember_device: true }),
    });
    const device = signedIn.headers.getSetCookie()[1]?.split(';')[0] ?? '';
    expect(device).toMatch(/^trunkline_device=/);

    const wrong = { email, password: 'not the password' };
    for (let at = 0; at < SIGN_INS_PER_ACCOUNT_AND_ORIGIN_MAX; at += 1)
      expect(await call(inTurn(at), 'session.signIn', wrong)).toBe(401);
    for (const api of apis) {
      expect(await call(api, 'session.signIn', { email, password: PASSWORD })).toBe(429);
      expect(await call(api, 'session.signIn', wrong, device)).toBe(401);
    }

    const change = { old_password: 'not the password', new_password: 'another good password' };
    for (let at = 0; at < CONFIRMATIONS_PER_SESSION_MAX; at += 1)
      expect(await call(inTurn(at), 'account.changePassword', change, cookie)).toBe(403);
    for (const api of apis)
      expect(await call(api, 'account.changePassword', change, cookie)).toBe(429);
  },
);
