// What became of Amazon SNS topics stays two years, as the audit log does.
import { expect, test } from 'vitest';
import forgetJob from '../../tasks/feedback/forget_topic_changes.ts';
import { inProject } from '../../src/base/db.ts';
import { FIRST_ID } from '../../src/base/ids.ts';
import {
  FORGOTTEN_CHANGES_MAX,
  forgetTopicChanges,
  TOPIC_CHANGES_MONTHS,
} from '../../src/feedback/topics/forget_changes.ts';
import { createProject } from '../../src/projects/projects.ts';
import { connectTo } from '../base/connections.ts';
import { testDatabase } from '../support/database.ts';
import { asWorker } from '../support/work_on.ts';

const database = testDatabase();
const AGO = `now() - interval '${TOPIC_CHANGES_MONTHS} months'`;

const makeProject = async (): Promise<string> =>
  (await createProject(database.deps, 'topics')).project_id;
const note = (projectId: string, topic: string, at: string, copies = 1) =>
  database.owner.query(
    `insert into feedback.topic_changes (project_id, change_id, topic_arn, change, changed_at)
    select $1, gen_random_uuid(), $2, 'confirmed', ${at} from generate_series(1, $3)`,
    [projectId, topic, copies],
  );
const listed = async (projectId: string): Promise<string[]> =>
  (
    await database.owner.query<{ topic_arn: string }>(
      'select topic_arn from feedback.topic_changes where project_id = $1 order by 1',
      [projectId],
    )
  ).rows.map(({ topic_arn }) => topic_arn);
const forget = (projectId: string) =>
  inProject(database.deps, projectId, (scope) => forgetTopicChanges(scope, FIRST_ID));

test('changes of topics stay two years, and go then, in every project', async () => {
  const projects = [await makeProject(), await makeProject()];
  for (const projectId of projects) {
    await note(projectId, 'old', `${AGO} - interval '1 hour'`);
    await note(projectId, 'young', `${AGO} + interval '1 hour'`);
  }
  await forgetJob(asWorker(database))({}, undefined as never);
  for (const projectId of projects) expect(await listed(projectId)).toEqual(['young']);
});

test('one transaction forgets a bounded number of one project, and says that more may be left', async () => {
  const [projectId, other] = [await makeProject(), await makeProject()];
  await note(projectId, 'old', `${AGO} - interval '1 hour'`, FORGOTTEN_CHANGES_MAX + 1);
  await note(other, 'old', `${AGO} - interval '1 hour'`);
  expect(await forget(projectId)).toEqual({ pruned: FORGOTTEN_CHANGES_MAX, after: FIRST_ID });
  expect(await forget(projectId)).toEqual({ pruned: 1, after: null });
  expect(await listed(other)).toEqual(['old']);
});

test('whatever is asked for, two years of them stay', async () => {
  const projectId = await makeProject();
  await note(projectId, 'young', `${AGO} + interval '1 hour'`);
  const client = await connectTo(database, projectId);
  const ask = (id: string) =>
    client.query<{ forgotten: number }>(
      'select feedback.forget_topic_changes(project_id => $1, before => now(), rows_max => 10) as forgotten',
      [id],
    );
  expect((await ask(projectId)).rows).toEqual([{ forgotten: 0 }]);
  await expect(ask(await makeProject())).rejects.toThrow('only the project of the transaction');
});
