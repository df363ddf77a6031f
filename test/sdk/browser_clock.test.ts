import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { testShop } from './shop.ts';

const shop = testShop();

const QUIET = { autocapture: false };
const A_MINUTE_MS = 60_000;

/** `shift` is how far it is off, and may change. */
const clockThatIsOff = (days: number): string => `{
  window.shift = ${days} * 86_400_000;
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length > 0 ? given : [Real.now() + shift])); }
    static now() { return Real.now() + shift; }
  };
}`;

const planIs = (plan: string) =>
  until(`plan ${plan}`, async () => {
    const { body } = await shop.api.call('GET', '/v1/profiles?external_id=ann', {
      key: shop.project.server_key,
    });
    return body.items[0]?.traits.plan === plan;
  });

test.each([-2, 3])(
  'a clock that is off by %s days spoils no time, and loses nobody',
  async (days) => {
    const { page } = await shop.visit();
    await page.addInitScript(clockThatIsOff(days));
    shop.putPage('/', '', QUIET);
    const from = Date.now() - A_MINUTE_MS;
    await page.goto(shop.site.url);
    await page.evaluate(`trunkline.identify('ann', { plan: 'pro' })`);
    await page.evaluate(`for (const n of [1, 2]) trunkline.track('it_happened', { n })`);
    const events = await shop.storedOf('it_happened', 2);
    for (const { external_id, occurred_at } of events) {
      expect(external_id).toBe('ann');
      expect(occurred_at.getTime()).toBeGreaterThan(from);
      expect(occurred_at.getTime()).toBeLessThan(Date.now() + A_MINUTE_MS);
    }
    await planIs('pro');
  },
);

test('an identify that had to wait, by a clock that is days ahead, is not lost for its time', async () => {
  const { page } = await shop.visit();
  await page.addInitScript(clockThatIsOff(3));
  shop.putPage('/', '', { ...QUIET, maxRetries: 0 });
  shop.door.decide(() => 'cut');
  await page.goto(shop.site.url);
  await page.evaluate(`trunkline.identify('ann', { plan: 'team' })`);
  // A browser may repeat by itself what was cut: until the SDK has given up.
  await until(
    'a pause',
    () =>
      page.evaluate(
        `Object.keys(localStorage).some((name) => name.endsWith('paused_until'))`,
      ) as Promise<boolean>,
  );
  shop.door.decide(() => 'pass');
  await page.evaluate(`
    shift += 2 * ${A_MINUTE_MS};
    trunkline.track('it_happened');
  `);
  const [event] = await shop.storedOf('it_happened', 1);
  expect(event?.external_id).toBe('ann');
  await planIs('team');
  const dated = shop.door.received.filter(({ path }) => path === '/v1/identify');
  expect(dated.map(({ body }) => body.includes('occurred_at')).slice(-2)).toEqual([true, false]);
});
