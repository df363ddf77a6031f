// A provider's word that somebody has come back takes back an unsubscribe before it, and nothing else: through the
// public door, as a provider posts it.
import { describe, expect, test } from 'vitest';
import { testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';
import { smtp2goBody } from './told.ts';
import { someone, webhooksOf } from './webhooks_of.ts';

const database = testDatabase();
const api = testApi(database);
const { post } = webhooksOf(database, api);

const ask = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { key: api.project.server_key, ...(body === undefined ? {} : { body }) });
const about = async (email: string) =>
  (await ask('GET', `/v1/suppressions/${encodeURIComponent(email)}`)).body;
const secondsAgo = (seconds: number): string =>
  new Date(Date.now() - seconds * 1_000).toISOString();

/** What one provider posts of somebody. The relay that tells of a bounce says how hard it was. */
const dialects = {
  smtp: (event: string, recipient: string, at: string) => ({
    event,
    recipient,
    bounce_type: 'hard',
    timestamp: at,
  }),
  smtp2go: (event: string, rcpt: string, time: string) =>
    smtp2goBody({ event, rcpt, time, bounce: 'hard', message: '550 5.1.1 no such user' }),
};

describe.each(Object.entries(dialects))('%s', (slug, say) => {
  const tell = async (event: string, email: string, at: string) => {
    const { status, body } = await post(slug, say(event, email, at), {
      key: api.project.hook_token,
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { accepted: 1, errors: [] } });
  };

  test.each([
    ['bounce', 'hard_bounce', 'hard_bounced'],
    ['spam', 'complaint', 'complained'],
  ])(
    'resubscribe after %s: the address stays suppressed, and its person tagged',
    async (event, reason, tag) => {
      const [email, id] = [someone(), someone()];
      await ask('POST', '/v1/identify', { external_id: id, traits: { email } });
      await tell(event, email, secondsAgo(60));
      await tell('resubscribe', email, secondsAgo(1));
      expect(await about(email)).toMatchObject({
        suppressed: { reason },
        unsubscribed_at: null,
        history: [{ change: 'resubscribed' }, { change: 'suppressed', reason }],
      });
      const { body } = await ask('GET', `/v1/profiles/external_id:${id}`);
      expect(body).toMatchObject({ suppressed: true, tags: [tag] });
    },
  );

  test('resubscribe lifts no suppression by hand', async () => {
    const email = someone();
    await ask('POST', '/v1/suppressions', { email });
    await tell('resubscribe', email, secondsAgo(0));
    expect((await about(email)).suppressed).toMatchObject({ reason: 'manual' });
  });

  test('resubscribe takes back what was said before it, wherever; not what is said after it', async () => {
    const [told, late] = [someone(), someone()];
    await tell('unsubscribe', told, secondsAgo(60));
    expect((await about(told)).unsubscribed_at).not.toBeNull();
    await tell('resubscribe', told, secondsAgo(1));
    expect((await about(told)).unsubscribed_at).toBeNull();
    await ask('POST', '/v1/unsubscribes', { email: late });
    await tell('resubscribe', late, secondsAgo(60));
    expect((await about(late)).unsubscribed_at).not.toBeNull();
  });
});

describe('what comes together', () => {
  const tellAll = async (events: readonly string[], at?: string) => {
    const recipient = someone();
    const notices = events.map((event, id) => ({ event, recipient, id, ...(at && { time: at }) }));
    const { body } = await post('smtp', notices, { key: api.project.hook_token });
    expect(body).toMatchObject({ accepted: events.length, errors: [] });
    return about(recipient);
  };

  test('is taken in its order, where nothing tells another', async () => {
    expect(await tellAll(['unsubscribe', 'resubscribe'])).toMatchObject({ unsubscribed_at: null });
    const left = await tellAll(['resubscribe', 'unsubscribe']);
    expect(left.unsubscribed_at).not.toBeNull();
  });

  test('of one moment, the unsubscribe counts, and stands as the newest', async () => {
    for (const events of [
      ['unsubscribe', 'resubscribe'],
      ['resubscribe', 'unsubscribe'],
      ['resubscribe', 'unsubscribe', 'resubscribe'],
    ]) {
      const { unsubscribed_at, history } = await tellAll(events, secondsAgo(5));
      expect(unsubscribed_at).not.toBeNull();
      expect(history[0]).toMatchObject({ change: 'unsubscribed' });
    }
  });
});
