// What a template says of an event is found in a thread when it is saved, and never read again in the process's own.
import { expect, test } from 'vitest';
import { SHOWN_ID } from '../http/as_shown.ts';
import { automationsThroughApi, mailShown } from '../automations/through_api.ts';
import { testDatabase } from '../support/database.ts';
import { longestHold } from '../support/processor.ts';

const database = testDatabase();
const { api, ask } = automationsThroughApi(database);

/** One look at all of them takes twice as long as may be held up: the time grows with the square of their number. */
const VARIABLES = 4_000;
const HELD_MS_MAX = 200;

test('attack: automations with a template of thousands of variables do not hold up the process', async () => {
  const template = { name: 'Many', subject: 's', html: '{{event.a}}'.repeat(VARIABLES), text: 'x' };
  const path = `/v1/projects/${api.project.project_id}/templates`;
  const saved = await ask('POST', path, template);
  expect(saved.status, JSON.stringify(saved.body).slice(0, 500)).toBe(201);
  const mail = { ...mailShown(), template_id: saved.body.id, template_version: 1 };
  const definition = {
    trigger: { kind: 'segment_entered', segment_id: SHOWN_ID },
    entry: 'mail',
    steps: { mail },
  };
  let answer = { status: 0, body: { issues: [] as { message: string }[] } };
  const held = await longestHold(async () => {
    answer = await ask('POST', '/v1/automations', { name: 'a', definition });
  });
  expect(answer.status).toBe(400);
  expect(answer.body.issues[0]?.message).toContain('names a template that says event.a');
  expect(held).toBeLessThan(HELD_MS_MAX);
});
