import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { hint } from '../base/hints.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, liveProcedure, projectProcedure } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { getPersonId, listRuns, pageById, retryRuns, startPerson, tryPerson } from './acts.ts';
import { explain } from './explain.ts';
import { explainSend } from './explain_send.ts';
import { withPeople } from './overview.ts';
import { getNamed, OfAutomation } from './named.ts';
import { cancelSegmentStart, segmentStartHint, startSegment } from './segment_start.ts';
import { findSegmentStart } from './segment_start_queries.ts';
import { pageStarts, showStart } from './segment_start_routes.ts';
import { TestRun, toRun } from './shown.ts';
import { simulate } from './simulate.ts';
import { simulateLive } from './simulate_live.ts';
import { SIMULATION_DAYS_MAX } from './simulation.ts';

const OfPerson = OfAutomation.extend({ profileId: z.uuid() });
const Simulated = OfAutomation.extend({
  days: z.int().min(1).max(SIMULATION_DAYS_MAX).default(30),
  version: z.int().min(1).optional(),
});
const Trial = OfPerson.extend({
  to: TestRun.shape.to,
  callWebhooks: TestRun.shape.call_webhooks,
});

/** What has to do with people on their way through automations. */
export const runProcedures = {
  /** The runs of an automation, newest first, with whom they are of. */
  runs: projectProcedure
    .input(OfAutomation.extend({ profileId: z.uuid().optional() }))
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        const { automationId, profileId: person } = input;
        await getNamed(scope, automationId);
        const page = await pageById(
          input,
          (asked) => listRuns(scope, automationId, { ...asked, person }),
          { item: (row) => row, id: ({ run_id }) => run_id },
        );
        return { ...page, items: await withPeople(scope, page.items) };
      }),
    ),

  /** Why somebody was, or was not, sent what the automation sends. */
  explain: projectProcedure
    .input(OfPerson.extend({ runId: z.uuid().optional() }))
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        const profileId = await getPersonId(scope, input.profileId);
        const kept = await getNamed(scope, input.automationId);
        return explain(scope, kept, { profileId, runId: input.runId });
      }),
    ),

  /** Every decision behind one mail, and the first that stopped it. */
  explainSend: projectProcedure
    .input(z.object({ sendId: z.uuid() }))
    .query(({ ctx, input: { projectId, sendId } }) =>
      inProject(ctx.deps, projectId, (scope) => explainSend(scope, sendId)),
    ),

  /** What a version would have done with the last days. */
  simulate: projectProcedure.input(Simulated).query(async ({ ctx: { deps }, input }) => {
    const { projectId, automationId, days } = input;
    const kept = await inProject(deps, projectId, (scope) => getNamed(scope, automationId));
    return simulate(deps, projectId, kept, { days, version: input.version ?? kept.latest_version });
  }),

  /** The same, told as it goes: how many were followed, and the result at the end. */
  simulation: liveProcedure.input(Simulated).subscription(async function* ({ ctx, input }) {
    const { projectId, automationId, days } = input;
    const kept = await inProject(ctx.deps, projectId, (scope) => getNamed(scope, automationId));
    const version = input.version ?? kept.latest_version;
    yield* simulateLive(ctx.deps, projectId, kept, { days, version, over: ctx.over });
  }),

  /** Starts a run for one person by hand. */
  start: editorProcedure.input(OfPerson).mutation(async ({ ctx: { deps }, input }) => {
    const { projectId, automationId, profileId: person } = input;
    const kept = await inProject(deps, projectId, (scope) => getNamed(scope, automationId));
    return toRun(await startPerson({ deps, projectId }, kept, { runId: newId(), person }));
  }),

  /** Tries the latest version now, for one person, to an address of somebody else. */
  test: editorProcedure.input(Trial).mutation(async ({ ctx: { deps }, input }) => {
    const { projectId, automationId, profileId: person, to, callWebhooks: mayCall } = input;
    const kept = await inProject(deps, projectId, (scope) => getNamed(scope, automationId));
    return toRun(
      await tryPerson({ deps, projectId }, kept, { runId: newId(), person, to, mayCall }),
    );
  }),

  /** Has runs that failed go on: one, or all. */
  retry: editorProcedure
    .input(OfAutomation.extend({ runId: z.uuid().optional() }))
    .mutation(({ ctx: { deps }, input: { projectId, automationId, runId = null } }) =>
      retryRuns({ deps, projectId }, automationId, runId),
    ),

  /** The starts for everybody in a segment, newest first. */
  segmentStarts: projectProcedure
    .input(OfAutomation)
    .input(listInput)
    .query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, async (scope) => {
        await getNamed(scope, input.automationId);
        return pageStarts(scope, input.automationId, input);
      }),
    ),

  /** Starts a run for everybody in a segment by hand. */
  startSegment: editorProcedure
    .input(OfAutomation.extend({ segmentId: z.uuid() }))
    .mutation(async ({ ctx: { deps }, input: { projectId, automationId, segmentId } }) => {
      const asked = { startId: newId(), segmentId };
      const shown = await inProject(deps, projectId, async (scope) =>
        showStart(scope, await startSegment(scope, await getNamed(scope, automationId), asked)),
      );
      await hint(deps, segmentStartHint(projectId, shown.id));
      return shown;
    }),

  /** Starts nobody more. */
  cancelSegmentStart: editorProcedure
    .input(z.object({ startId: z.uuid() }))
    .mutation(({ ctx, input: { projectId, startId } }) =>
      inProject(ctx.deps, projectId, async (scope) => {
        if ((await findSegmentStart(scope, startId)) === null) throw new Refusal('not_found');
        return showStart(scope, await cancelSegmentStart(scope, startId));
      }),
    ),
};
