import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/feedback/dialects/dialects.ts';
import { issueKey, listKeys, revokeKey } from '../../src/projects/projects.ts';
import { Resources } from '../../src/base/resources.ts';
import { webhooksOf } from '../feedback/webhooks_of.ts';
import { expectRefusal, testApi } from '../support/api.ts';
import { testDatabase } from '../support/database.ts';

const database = testDatabase();
const api = testApi(database);
const hooks = webhooksOf(database, api);

describe.each(Object.keys(dialects))('%s', (slug) => {
  test('415: no dialect takes a type of content that it does not speak', async () => {
    const { hook_token: key } = api.project;
    const types = ['text/html', 'image/png', 'application/xml', 'application/pdf', 'text/css'];
    // Of notifications the type is whatever the service says: what they are is in their signature.
    const isAny = dialects[slug as keyof typeof dialects].mediaTypes === null;
    for (const contentType of types) {
      const answer = await hooks.post(slug, '<x/>', { key, contentType });
      if (isAny) expectRefusal(answer, 'invalid_json');
      else expectRefusal(answer, 'unsupported_media_type');
    }
  });
});

describe('a token that was stolen', () => {
  const listOf = async (source: string): Promise<string[]> => {
    const found: string[] = [];
    let cursor = '';
    do {
      const path = `/v1/suppressions?limit=2&source=${encodeURIComponent(source)}${cursor}`;
      const { body } = await api.call('GET', path, { key: api.project.server_key });
      found.push(...body.items.map(({ email }: { email: string }) => email));
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    return found;
  };
  const call = (method: string, path: string, body?: object) =>
    api.call(method, path, { key: api.project.server_key, ...(body ? { body } : {}) });

  test('what a stolen token said is listed by its source, taken back, and touches nobody else', async () => {
    const { project_id: projectId, hook_token: stolen } = api.project;
    const victims = Array.from({ length: 5 }, (_, at) => `victim-${at}@example.com`);
    await call('POST', '/v1/suppressions', { email: 'asked@example.com' });
    await call('POST', '/v1/identify', {
      external_id: 'victim',
      traits: { email: victims[0] },
    });
    const forged = victims.map((recipient, at) => ({
      event: at === 4 ? 'complaint' : 'bounce',
      bounce_type: 'hard',
      recipient,
      event_id: `forged-${at}`,
    }));
    expect((await hooks.post('smtp', forged, { key: stolen })).body.accepted).toBe(victims.length);
    const victim = () => call('GET', '/v1/profiles/external_id:victim');
    expect((await victim()).body).toMatchObject({ suppressed: true, tags: ['hard_bounced'] });

    // Another token, and the stolen one is none any more, in a process that never knew it.
    const { deps } = database;
    await issueKey(deps, projectId, 'hook');
    const keys = await listKeys(deps.db, projectId, { limit: 10, beforeId: null });
    const { key_id } = keys.find(({ last_four }) => last_four === stolen.slice(-4)) ?? {};
    await revokeKey({ ...deps, resources: new Resources() }, projectId, String(key_id));
    await deps.resources.close();
    expectRefusal(await hooks.post('smtp', forged, { key: stolen }), 'invalid_token');

    const told = await listOf('webhook/smtp');
    expect(told.toSorted()).toEqual(victims);
    for (const email of told) {
      const lifted = await call('POST', `/v1/suppressions/${email}/lift`, {
        reason: 'forged with a stolen token',
        lift_complaint: true,
      });
      expect(lifted.body).toMatchObject({ suppressed: null });
    }
    expect(await listOf('webhook/smtp')).toEqual([]);
    expect(await listOf('api')).toEqual(['asked@example.com']);
    expect((await victim()).body).toMatchObject({ suppressed: false, tags: [] });
  });

  test('400 invalid_request: what is no source is not looked for', async () => {
    for (const source of ['', 'Webhook', '%25', `a${'b'.repeat(64)}`, "'; drop"])
      expectRefusal(
        await call('GET', `/v1/suppressions?source=${encodeURIComponent(source)}`),
        'invalid_request',
      );
  });
});
