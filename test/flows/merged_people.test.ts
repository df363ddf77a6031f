// A person is enrolled as a visitor and as a customer. The two are merged before the trigger, between the trigger and
// the first email, while their runs wait, and after emails; and each merge is undone. The service runs as processes,
// with a mail server: which emails each address receives, and what the API says of both runs.
import { beforeAll, describe, expect, test } from 'vitest';
import * as automations from '../../src/automations/automations.ts';
import { inProject } from '../../src/base/db.ts';
import * as profiles from '../../src/profiles/profiles.ts';
import type { Service } from '../../src/runtime/start_service.ts';
import { askService, callService } from '../support/ask_service.ts';
import { saveMailStep, saveSink } from '../support/mail_steps.ts';
import { until } from '../support/until.ts';
import { testWorld } from '../support/world.ts';

const TEST_TIMEOUT_MS = 120_000;
const world = testWorld();
let service: Service;
let providerId: string;
let stories = 0;

beforeAll(async () => {
  const { deps, project, sink } = world;
  providerId = await saveSink(deps, project.project_id, sink, 'series@shop.test');
  service = await world.start('all');
  await world.start('worker');
}, TEST_TIMEOUT_MS);

const ask = (method: string, path: string, body?: object) =>
  askService(service, method, path, { key: world.project.server_key, body });
const call = (method: string, path: string, body?: object) =>
  callService(service, method, path, { key: world.project.server_key, body });

type Who = 'visitor' | 'customer';
const WAITS = 'active at ready';
const WAITS_ON = 'active at go_on';

/** An automation of two emails, each behind an event, and the two identities of one story. */
const beginStory = async () => {
  const name = `story_${(stories += 1)}`;
  const ids = { visitor: `${name}-browser`, customer: `${name}-user` };
  const emails = { visitor: `${name}-v@people.test`, customer: `${name}-c@people.test` };
  const automationId = await inProject(world.deps, world.project.project_id, async (scope) => {
    const mail = (subject: string, next: string | null) =>
      saveMailStep(scope, providerId, { name: `${name} ${subject}`, subject, next });
    const wait = (event: string, next: string) => ({
      kind: 'wait_for_event' as const,
      event: `${name}_${event}`,
      where: [],
      timeout: 'P1D',
      next,
      on_timeout: null,
    });
    return automations.createActive(scope, name, {
      trigger: { kind: 'event', event: `${name}_began` },
      settings: { re_entry: 'once' },
      entry: 'ready',
      steps: {
        ready: wait('first', 'one'),
        one: await mail('One', 'go_on'),
        go_on: wait('second', 'two'),
        two: await mail('Two', null),
      },
    });
  });
  for (const who of ['visitor', 'customer'] as const)
    await call('POST', '/v1/events', {
      event: 'seen',
      ...(who === 'visitor' ? { anonymous_id: ids.visitor } : { external_id: ids.customer }),
    });
  await call('POST', '/v1/identify', {
    external_id: ids.customer,
    traits: { email: emails.customer },
  });

  const tell = (who: Who, event: 'began' | 'first' | 'second') =>
    call('POST', '/v1/events', {
      event: `${name}_${event}`,
      ...(who === 'visitor' ? { anonymous_id: ids.visitor } : { external_id: ids.customer }),
    });
  const merge = async (): Promise<string> => {
    const pair = { anonymous_id: ids.visitor, external_id: ids.customer };
    return (await call('POST', '/v1/identify/alias', pair)).link.id;
  };
  const undo = (linkId: string) => call('POST', `/v1/identity-links/${linkId}/undo`);
  const stand = ({ status, outcome, step_id }: Record<string, string>) =>
    status === 'ended' ? outcome : `${status} at ${step_id}`;
  /** Waits until the runs stand so, the oldest first. */
  const stands = (...expected: string[]) =>
    until(`${name}: ${expected.join(', ')}`, async () => {
      const { items } = await call('GET', `/v1/automations/${automationId}/runs`);
      const told = items.toReversed().map(stand);
      return JSON.stringify(told) === JSON.stringify(expected) ? items.toReversed() : null;
    });
  /** Starts a run of one of the two, and then one of the other. */
  const beginBoth = async (first: Who, second: Who): Promise<void> => {
    await tell(first, 'began');
    await stands(WAITS);
    await tell(second, 'began');
    await stands(WAITS, WAITS);
  };
  /** Waits until no email of the story is on its way, and returns who received which. */
  const received = () =>
    until(`${name}: all email handed over`, async () => {
      const { items } = await call('GET', `/v1/sends?automation_id=${automationId}`);
      const isOpen = ({ status }: { status: string }) =>
        status === 'queued' || status === 'handing_off';
      if (items.some(isOpen)) return null;
      return world.sink.mails
        .filter(({ to }) => Object.values(emails).some((email) => to.includes(email)))
        .map(
          ({ to, subject }) =>
            `${subject} to ${to[0] === emails.customer ? 'customer' : 'visitor'}`,
        )
        .toSorted();
    });
  const explained = async (runId: string): Promise<string[]> => {
    const { items } = await call('GET', `/v1/profiles?external_id=${ids.customer}`);
    const visitor = await call('GET', `/v1/profiles?anonymous_id=${ids.visitor}`);
    const profileIds = [...items, ...visitor.items].map(({ id }: { id: string }) => id);
    for (const id of profileIds) {
      const path = `/v1/automations/${automationId}/explain?profile_id=${id}&run_id=${runId}`;
      const { status, body } = await ask('GET', path);
      if (status !== 200) continue;
      type Entry = { decision: string; detail: { reason?: string } };
      const { decisions } = body as { decisions: Entry[] };
      return decisions.map(({ decision, detail }) =>
        detail.reason === undefined ? decision : `${decision} ${detail.reason}`,
      );
    }
    throw new Error(`no person has run ${runId}`);
  };
  const visitorHas = (email: string) =>
    inProject(world.deps, world.project.project_id, async (scope) => {
      const [known] = await profiles.listIdentities(scope, [
        { kind: 'anonymous', value: ids.visitor },
      ]);
      if (!known) throw new Error('the visitor is not known yet');
      await profiles.changeTraits(scope, {
        identityId: known.identity_id,
        traits: { email },
        setAt: new Date(Date.now() - 60_000),
        authority: 'server',
      });
    });
  await until('both are known', async () => {
    const { items } = await call('GET', `/v1/profiles?anonymous_id=${ids.visitor}`);
    return items.length === 1 ? items : null;
  });
  await visitorHas(emails.visitor);
  return { tell, beginBoth, merge, undo, stands, received, explained };
};

describe.concurrent('two identities of one person', { timeout: TEST_TIMEOUT_MS }, () => {
  test('merged before the trigger: one run, and each email once', async () => {
    const { tell, merge, stands, received } = await beginStory();
    await merge();
    await tell('visitor', 'began');
    await tell('customer', 'began');
    await stands(WAITS);
    await tell('customer', 'first');
    await stands(WAITS_ON);
    await tell('visitor', 'second');
    await stands('completed');
    expect(await received()).toEqual(['One to customer', 'Two to customer']);
  });

  test('merged between the trigger and the first email: the older run continues alone', async () => {
    const { tell, beginBoth, merge, stands, received, explained } = await beginStory();
    await beginBoth('visitor', 'customer');
    await merge();
    const [, younger] = await stands(WAITS, 'merged');
    await tell('customer', 'first');
    await stands(WAITS_ON, 'merged');
    await tell('customer', 'second');
    await stands('completed', 'merged');
    expect(await received()).toEqual(['One to customer', 'Two to customer']);
    expect(await explained(younger.id)).toEqual(['entered', 'waits_for_event', 'merged']);
  });

  test('merged and undone before the first email: each receives what is theirs', async () => {
    const { tell, beginBoth, merge, undo, stands, received, explained } = await beginStory();
    await beginBoth('visitor', 'customer');
    const linkId = await merge();
    const [, younger] = await stands(WAITS, 'merged');
    await undo(linkId);
    await stands(WAITS, WAITS);
    for (const event of ['first', 'second'] as const)
      for (const who of ['visitor', 'customer'] as const) await tell(who, event);
    await stands('completed', 'completed');
    expect(await received()).toEqual([
      'One to customer',
      'One to visitor',
      'Two to customer',
      'Two to visitor',
    ]);
    expect((await explained(younger.id)).slice(0, 4)).toEqual([
      'entered',
      'waits_for_event',
      'merged',
      'restored',
    ]);
  });

  test('merged after the first email of the younger: the older leaves it out, and sends the second', async () => {
    const { tell, beginBoth, merge, stands, received } = await beginStory();
    await beginBoth('customer', 'visitor');
    await tell('visitor', 'first');
    await stands(WAITS, WAITS_ON);
    expect(await received()).toEqual(['One to visitor']);
    await merge();
    await stands(WAITS_ON, 'merged');
    await tell('customer', 'second');
    await stands('completed', 'merged');
    expect(await received()).toEqual(['One to visitor', 'Two to customer']);
  });

  test('merged after the first email of both, and undone: each receives the second', async () => {
    const { tell, beginBoth, merge, undo, stands, received } = await beginStory();
    await beginBoth('customer', 'visitor');
    await tell('visitor', 'first');
    await tell('customer', 'first');
    await stands(WAITS_ON, WAITS_ON);
    // An email that still waited would be cancelled.
    expect(await received()).toEqual(['One to customer', 'One to visitor']);
    const linkId = await merge();
    await stands(WAITS_ON, 'merged');
    await undo(linkId);
    await stands(WAITS_ON, WAITS_ON);
    await tell('visitor', 'second');
    await stands(WAITS_ON, 'completed');
    await tell('customer', 'second');
    await stands('completed', 'completed');
    expect(await received()).toEqual([
      'One to customer',
      'One to visitor',
      'Two to customer',
      'Two to visitor',
    ]);
  });

  test('undone after an email of the merge: it stays sent, and the other run says that it left it out', async () => {
    const { tell, beginBoth, merge, undo, stands, received, explained } = await beginStory();
    await beginBoth('customer', 'visitor');
    await tell('visitor', 'first');
    await stands(WAITS, WAITS_ON);
    const linkId = await merge();
    const [older] = await stands(WAITS_ON, 'merged');
    await undo(linkId);
    await stands(WAITS_ON, WAITS_ON);
    await until('the explanation shows the undo', async () =>
      (await explained(older.id)).includes('not_restored email_left_out') ? true : null,
    );
    await tell('customer', 'second');
    await tell('visitor', 'second');
    await stands('completed', 'completed');
    expect(await received()).toEqual(['One to visitor', 'Two to customer', 'Two to visitor']);
  });

  test('merged after both have ended: nothing more comes', async () => {
    const { tell, merge, stands, received } = await beginStory();
    await tell('customer', 'began');
    await stands(WAITS);
    await tell('customer', 'first');
    await stands(WAITS_ON);
    await tell('customer', 'second');
    await stands('completed');
    await tell('visitor', 'began');
    await stands('completed', WAITS);
    await merge();
    await stands('completed', 'merged');
    await tell('visitor', 'first');
    await tell('visitor', 'began');
    expect(await received()).toEqual(['One to customer', 'Two to customer']);
    await stands('completed', 'merged');
  });
});
