// What the service is for, from the event to the refused mail, through its doors: the same on one node and on many.
import { expect } from 'vitest';
import type { Deps } from '../../src/base/deps.ts';
import { Resources } from '../../src/base/resources.ts';
import { openApi } from '../../src/http/api.ts';
import { createProject } from '../../src/projects/projects.ts';
import type { NewProject } from '../../src/projects/projects.ts';
import { keepExample } from '../../src/runtime/example.ts';
import { startWorker } from '../../src/worker/worker.ts';
import type { SmtpSink } from '../support/smtp_sink.ts';
import { until } from '../support/until.ts';
import { addressOf, signUpOf } from '../support/world.ts';

// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { status: number; body: any };
type Call = (method: string, path: string, body?: object, token?: string) => Promise<Answer>;

const callsOf =
  (port: number, { server_key }: NewProject): Call =>
  async (method, path, body, token = server_key) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, body: await response.json() };
  };

const eventsOf = async (call: Call, person: string): Promise<string[]> =>
  (await call('GET', `/v1/profiles/external_id:${person}/events`)).body.items.map(
    ({ event }: { event: string }) => event,
  );

const findSend = async (call: Call, person: string, status: string) =>
  (await call('GET', `/v1/sends?email=${addressOf(person)}&status=${status}`)).body.items[0] ??
  null;

/** A sign-up, its mail, a hard bounce, and the next mail refused. */
const mailAndSilence = async (
  call: Call,
  { project_id, hook_token }: NewProject,
  sink: SmtpSink,
) => {
  expect(
    (await call('POST', '/v1/events', { ...signUpOf('ann'), message_id: 'once' })).status,
  ).toBe(202);
  const again = await call('POST', '/v1/events', { ...signUpOf('ann'), message_id: 'once' });
  expect(again.body).toMatchObject({ accepted: 0, duplicates: 1 });
  const sent = await until('a mail', () => findSend(call, 'ann', 'accepted'));
  await until('it is on the timeline', async () =>
    (await eventsOf(call, 'ann')).includes('email_sent'),
  );
  const bounce = {
    event: 'bounce',
    bounce_type: 'hard',
    recipient: addressOf('ann'),
    send_id: sent.id,
  };
  const hook = await call('POST', `/v1/webhooks/smtp/${project_id}`, bounce, hook_token);
  expect(hook).toMatchObject({ status: 200, body: { accepted: 1 } });
  await call('POST', '/v1/events', signUpOf('ann'));
  await until('a refused mail', () => findSend(call, 'ann', 'suppressed'));
  expect(sink.mails.filter(({ to }) => to.includes(addressOf('ann')))).toHaveLength(1);
};

/** A device that becomes somebody's, and is its own again. */
const linkAndUndo = async (call: Call) => {
  await call('POST', '/v1/events', { event: 'page_viewed', anonymous_id: 'phone' });
  await call('POST', '/v1/identify', { external_id: 'bob', traits: { plan: 'pro' } });
  const pair = { anonymous_id: 'phone', external_id: 'bob' };
  const { body } = await call('POST', '/v1/identify/alias', pair);
  await until('what the device did is theirs', async () =>
    (await eventsOf(call, 'bob')).includes('page_viewed'),
  );
  const undone = await call('POST', `/v1/identity-links/${body.link.id}/undo`, {});
  expect(undone.body.link).toMatchObject({ status: 'undone' });
  expect(await eventsOf(call, 'bob')).not.toContain('page_viewed');
};

/** Members of a segment, and an erase that reaches everything. */
const fillAndErase = async (call: Call) => {
  const where = { kind: 'trait', trait: 'plan', test: { is: 'equals', value: 'pro' } };
  const { body } = await call('POST', '/v1/segments', { name: 'Pro', definition: { where } });
  await until('bob is in it', async () => {
    const { body: page } = await call('GET', `/v1/segments/${body.id}/members`);
    return (page.items ?? []).length === 1;
  });
  const asked = await call('POST', '/v1/profiles/external_id:bob/erase', { reason: 'asked' });
  const { id } = asked.body.erasure;
  await until(
    'bob is erased',
    async () => (await call('GET', `/v1/erasures/${id}`)).body.status === 'done',
  );
  expect((await call('GET', '/v1/profiles/external_id:bob')).status).toBe(404);
};

/** Goes through all of it in a project of its own, beside another one that must see nothing of it. */
export const runMainJob = async (given: Deps, sink: SmtpSink): Promise<void> => {
  const resources = new Resources();
  const deps = { ...given, resources };
  const project = await keepExample(deps, null, {
    display_name: 'Sink',
    from_email: 'hello@shop.test',
    from_name: 'Shop',
    reply_to: null,
    ...sink.settings,
  });
  const other = await createProject(deps, 'other');
  const worker = await startWorker({ ...deps, resources: new Resources() }, () => {});
  const api = await openApi(deps, { isDraining: false }, true);
  try {
    const call = callsOf(api.port, project);
    await mailAndSilence(call, project, sink);
    await linkAndUndo(call);
    await fillAndErase(call);
    const strange = callsOf(api.port, other);
    expect((await strange('GET', '/v1/profiles/external_id:ann')).status).toBe(404);
    expect((await strange('GET', '/v1/sends')).body.items).toEqual([]);
  } finally {
    await api.close();
    await worker.stop();
    await resources.close();
  }
};
