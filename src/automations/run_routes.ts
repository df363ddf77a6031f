import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { newId } from '../base/ids.ts';
import { pageOf, pageQuery } from '../base/page.ts';
import { route } from '../base/route.ts';
import { UNITS } from '../base/work_units.ts';
import { getPersonId, listRuns, pageById, retryRuns, startPerson, tryPerson } from './acts.ts';
import { ofAutomation } from './addressed.ts';
import { explain } from './explain.ts';
import { Explanation } from './explanation.ts';
import { PersonRef } from './person_ref.ts';
import { Run, RUN_SHOWN, StartRun, TestRun, toRun } from './shown.ts';
import { Simulation, SIMULATION_DAYS_MAX } from './simulation.ts';
import { simulate } from './simulate.ts';

const wholeNumber = (most: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : text),
    z.int('must be a whole number, in digits').min(1, 'at least 1').max(most, `at most ${most}`),
  );

const listRoutes = [
  route({
    ...ofAutomation,
    method: 'GET',
    path: '/v1/automations/:id/runs',
    summary: 'The runs of an automation, newest first.',
    query: z.strictObject({
      ...pageQuery,
      profile_id: PersonRef.optional().meta({
        description: 'Only those of one person: the profile’s id, or `external_id:<your id>`.',
      }),
      status: z.literal('failed').optional().meta({
        description: 'Only those that failed: `retry` has them go on.',
      }),
    }),
    status: 200,
    answer: pageOf(Run),
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) =>
        pageById(
          query,
          (page) =>
            listRuns(scope, found.automation_id, {
              ...page,
              person: query.profile_id,
              isFailed: query.status !== undefined,
            }),
          { item: toRun, id: ({ run_id }) => run_id },
        ),
      ),
  }),
];

const startRoutes = [
  route({
    ...ofAutomation,
    method: 'POST',
    path: '/v1/automations/:id/runs',
    summary: 'Start a run for one person by hand.',
    description: 'For active automations whose trigger is `manual`, as often as `re_entry` allows.',
    body: StartRun,
    status: 201,
    answer: Run,
    refusals: ['automation_state'],
    handle: async ({ deps, caller: { projectId }, found, body, repetitionId }) => {
      const asked = { runId: repetitionId ?? newId(), person: body.profile_id };
      return toRun(await startPerson({ deps, projectId }, found, asked));
    },
  }),
  route({
    ...ofAutomation,
    method: 'POST',
    path: '/v1/automations/:id/test',
    example: { ...RUN_SHOWN, is_test: true, trigger_event_id: RUN_SHOWN.id },
    summary: 'Try the latest version now, for one profile, to an address of your own.',
    description:
      'As by the last event of theirs that would have started it. Every wait takes five seconds, quiet hours and ' +
      'caps do not hold, all mail goes to `to`, and the profile is told nothing. Follow it as a run; explain with ' +
      'its `run_id` says what it decided. A test counts one test email for each `send_email` step; 429 ' +
      '`rate_limited` says when there is room again.',
    body: TestRun,
    workOf: () => [{ units: UNITS.render }],
    status: 201,
    answer: Run,
    refusals: ['automation_state'],
    handle: async ({ deps, caller: { projectId }, found, body, repetitionId }) => {
      const runId = repetitionId ?? newId();
      const { profile_id: person, to, call_webhooks: mayCall } = body;
      return toRun(await tryPerson({ deps, projectId }, found, { runId, person, to, mayCall }));
    },
  }),
];

const RetryFailed = z
  .strictObject({
    run_id: z.uuid().optional().meta({ description: 'Only this one; all, if it is left out.' }),
  })
  .meta({ examples: [{}] });
const Retried = z
  .strictObject({
    failed: z.int().nonnegative().meta({ description: 'How many of its runs are failed yet.' }),
  })
  .meta({ examples: [{ failed: 0 }] });

const retryRoutes = [
  route({
    ...ofAutomation,
    method: 'POST',
    path: '/v1/automations/:id/retry',
    summary: 'Have runs go on that failed, each at the step where it is: one, or all.',
    description:
      'What they had done stays done and is not done again. A step that was due longer ago than `expires_after` ' +
      'expires, as after a pause. Whoever has not failed is left as they are.',
    body: RetryFailed,
    isBodyOptional: true,
    status: 200,
    answer: Retried,
    refusals: ['automation_state'],
    handle: ({ deps, caller: { projectId }, found, body }) =>
      retryRuns({ deps, projectId }, found.automation_id, body.run_id ?? null),
  }),
];

const lookRoutes = [
  route({
    ...ofAutomation,
    method: 'GET',
    path: '/v1/automations/:id/explain',
    summary: 'Why somebody was, or was not, sent what the automation sends.',
    description:
      'Every decision in order, and the first that stopped the person the last time that they came. ' +
      'Tests are left out.',
    query: z.strictObject({
      profile_id: PersonRef,
      run_id: z.uuid().optional().meta({ description: 'Only this run of theirs, also a test.' }),
    }),
    status: 200,
    answer: Explanation,
    handle: ({ deps, caller, found, query }) =>
      inProject(deps, caller.projectId, (scope) =>
        getPersonId(scope, query.profile_id).then((profileId) =>
          explain(scope, found, { profileId, runId: query.run_id }),
        ),
      ),
  }),
  route({
    ...ofAutomation,
    method: 'GET',
    path: '/v1/automations/:id/simulation',
    summary: 'What a version would have done with the last days of this project.',
    description:
      'Runs the steps themselves over the timeline, with its time instead of the clock, in a snapshot that nothing ' +
      'can be written to. Nobody is mailed. People, links, segments and suppressions are those of then; `assumed` ' +
      'says what is not known of the past. An event counts from when it was received, and one that came more than ' +
      'a day late, as of an import, from when it occurred.',
    workOf: () => [{ units: UNITS.scan }],
    query: z.strictObject({
      days: wholeNumber(SIMULATION_DAYS_MAX)
        .default(30)
        .meta({ description: 'How many days back it begins.', default: 30 }),
      version: wholeNumber(9_999)
        .optional()
        .meta({ description: 'The latest, if it is left out.' }),
    }),
    status: 200,
    answer: Simulation,
    handle: ({ deps, caller, found, query }) =>
      simulate(deps, caller.projectId, found, {
        days: query.days,
        version: query.version ?? found.latest_version,
      }),
  }),
];

/** What has to do with people on their way through automations. */
export const runRoutes = [...listRoutes, ...startRoutes, ...retryRoutes, ...lookRoutes];
