import { z } from 'zod';
import { inProject } from '../base/db.ts';
import type { Scope } from '../base/db.ts';
import { editorProcedure, ownerProcedure, projectProcedure, router } from '../base/procedure.ts';
import * as delivery from '../delivery/delivery.ts';
import { describeWithSetUp } from './describe_webhooks.ts';
import { listNoticesOf } from './notice_queries.ts';
import { SIGNED_SOURCES } from './dialects/dialects.ts';
import { SigningKey, SoftBounces } from './setting_routes.ts';
import {
  approve,
  decideSoftBounces,
  keepSigningKey,
  reject,
  rejectSeveral,
  remove,
  removeSigningKey,
} from './settings.ts';
import { RejectedTopics } from './topics/topic_routes.ts';
import type { Vault } from './signing_keys.ts';

const OfTopic = z.object({ topicId: z.uuid() });
const Signed = z.enum(SIGNED_SOURCES);
const OfSend = z.object({ sendId: z.uuid() });

/** Everything that its provider told of a send, the newest first. Of an erased one nobody knows what was told. */
const readNotices = async (scope: Scope, sendId: string) => {
  const trace = { sendId, messageIds: [], addressKey: Buffer.alloc(0), occurredAt: new Date() };
  const [send] = await delivery.findSentTo(scope, [trace]);
  if (!send?.isById || send.address_key === null) return [];
  const notices = await listNoticesOf(scope, send.address_key, sendId);
  return notices.map(({ occurred_at, received_at, ...notice }) => ({
    ...notice,
    occurred_at: occurred_at.toISOString(),
    received_at: received_at.toISOString(),
  }));
};

export const feedbackProcedures = router({
  ofSend: projectProcedure.input(OfSend).query(({ ctx, input }) =>
    inProject(ctx.deps, input.projectId, async (scope) => ({
      items: await readNotices(scope, input.sendId),
    })),
  ),
});

/** What a project decides about its webhooks. Where secrets are kept, the door hands in. */
export const webhookProcedures = (vault: Vault) =>
  router({
    read: projectProcedure.query(({ ctx, input }) =>
      inProject(ctx.deps, input.projectId, describeWithSetUp),
    ),

    /** Decides after how many soft bounces in a row an address is suppressed. */
    decide: editorProcedure
      .input(z.object(SoftBounces.shape))
      .mutation(({ ctx: { deps }, input }) =>
        decideSoftBounces({ deps, projectId: input.projectId }, input.soft_bounces_max),
      ),

    /** Sets whose signatures count: for owners, as every decision about that. */
    setSigningKey: ownerProcedure
      .input(z.object({ ...SigningKey.shape, slug: Signed }))
      .mutation(({ ctx: { deps }, input: { projectId, slug, signing_key } }) =>
        keepSigningKey({ deps, projectId }, vault, { source: slug, key: signing_key }),
      ),

    removeSigningKey: ownerProcedure
      .input(z.object({ slug: Signed }))
      .mutation(({ ctx: { deps }, input: { projectId, slug } }) =>
        removeSigningKey({ deps, projectId }, slug),
      ),

    approveTopic: ownerProcedure
      .input(OfTopic)
      .mutation(({ ctx: { deps }, input: { projectId, topicId } }) =>
        approve({ deps, projectId }, topicId),
      ),

    rejectTopic: ownerProcedure
      .input(OfTopic)
      .mutation(({ ctx: { deps }, input: { projectId, topicId } }) =>
        reject({ deps, projectId }, topicId),
      ),

    rejectTopics: ownerProcedure
      .input(z.object(RejectedTopics.shape))
      .mutation(({ ctx: { deps }, input: { projectId, topic_ids } }) =>
        rejectSeveral({ deps, projectId }, topic_ids),
      ),

    removeTopic: ownerProcedure
      .input(OfTopic)
      .mutation(({ ctx: { deps }, input: { projectId, topicId } }) =>
        remove({ deps, projectId }, topicId),
      ),
  });
