// Whatever a definition names has to be there when it is saved, and to be what the trigger can give.
import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { SHOWN_ID } from '../http/as_shown.ts';
import { testDatabase } from '../support/database.ts';
import { automationsThroughApi, mailShown } from './through_api.ts';

const database = testDatabase();
const { api, ask, make } = automationsThroughApi(database);
const projectOf = (): string => api.project.project_id;

const entered = { kind: 'segment_entered' as const, segment_id: SHOWN_ID };
const refused = async (definition: object): Promise<{ path: string; message: string }[]> => {
  const { status, body } = await ask('POST', '/v1/automations', { name: 'a', definition });
  expect(status).toBe(400);
  return body.issues;
};

test('a segment, in a trigger, a goal or a branch', async () => {
  const segment_id = newId();
  const where = { kind: 'not', of: { kind: 'segment', segment_id } };
  const message = `there is no segment ${segment_id}: make it, or name another`;
  expect(
    await refused({
      trigger: { ...entered, segment_id },
      settings: { goal: { segment_id } },
      entry: 'ask',
      steps: {
        ask: {
          kind: 'branch',
          branches: [{ when: where, next: null }],
          otherwise: null,
        },
      },
    }),
  ).toEqual([
    { path: '/definition/trigger/segment_id', message },
    { path: '/definition/settings/goal/segment_id', message },
    { path: '/definition/steps/ask/branches/0/when/of/segment_id', message },
  ]);
});

test('an endpoint of a webhook step', async () => {
  const steps = { tell: { kind: 'webhook', endpoint_id: newId(), next: null } };
  expect(await refused({ trigger: { kind: 'manual' }, entry: 'tell', steps })).toEqual([
    {
      path: '/definition/steps/tell/endpoint_id',
      message: 'the step "tell" names an endpoint that is not there: make it, or name another',
    },
  ]);
});

test('no template that needs an event where none begins the run, and the refusal says which variable', async () => {
  const mailing = async (html: string) => {
    const template = { name: 'Plan', subject: 'Your plan', html };
    const { status, body } = await ask('POST', `/v1/projects/${projectOf()}/templates`, template);
    expect(status).toBe(201);
    const mail = { ...mailShown(), template_id: body.id, template_version: 1 };
    return { trigger: entered, entry: 'mail', steps: { mail } };
  };
  const asking = await mailing('You are on {{ event.plan }}');
  expect(await refused(asking)).toEqual([
    {
      path: '/definition/steps/mail/template_id',
      message:
        'the step "mail" names a template that says event.plan, and this trigger has no event: ' +
        'take a template without, or another trigger',
    },
  ]);
  await make({ ...asking, trigger: { kind: 'event', event: 'plan_changed' } });
  for (const html of [
    'Hello {{ profile.first_name | default: "you" }}',
    '{% if event.plan %}You are on {{ event.plan }}{% endif %}',
    'You are on {{ event.plan | default: "a plan" }}',
  ])
    await make(await mailing(html));
});
