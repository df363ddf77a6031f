import { z } from 'zod';
import { inInstallation, inProject } from '../base/db.ts';
import type { Deps } from '../base/deps.ts';
import { EmailAddress } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { listInput, readCursor, toPage } from '../base/page.ts';
import { adminProcedure, MEMBER_ROLES, openProcedure, router } from '../base/procedure.ts';
import type { MemberRole } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { isStorable, NOT_STORABLE } from '../base/text.ts';
import { findProject, makeProject, ProjectName } from '../projects/projects.ts';
import { ACCESS_STATUSES, decideRequest, insertRequest, listRequests } from './access_queries.ts';
import { countAccessRequest } from './access_throttle.ts';
import { inviteMember } from './invitations.ts';

export const NAME_CHARS_MAX = 200;
export const PURPOSE_CHARS_MAX = 2_000;
/** More than so many are not kept: nobody could decide about them. Whoever asks is not told. */
export const REQUESTS_WAITING_MAX = 1_000;

const textOf = (charsMax: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(charsMax, `at most ${charsMax} characters`)
    .refine(isStorable, NOT_STORABLE);

const NewRequest = z.strictObject({
  email: EmailAddress,
  name: textOf(NAME_CHARS_MAX),
  purpose: textOf(PURPOSE_CHARS_MAX),
});
const OfRequest = z.object({ accessRequestId: z.uuid() });
/** A project that is there, or the name of one to be made. */
const Place = z
  .object({ projectId: z.uuid().optional(), newProject: ProjectName.optional() })
  .refine(
    ({ projectId, newProject }) => (projectId === undefined) !== (newProject === undefined),
    'choose a project, or name a new one',
  );

const NONE = 'No such request waits: it was decided already, or there is none.';

type Approval = {
  requestId: string;
  projectId: string | undefined;
  newProject: string | undefined;
  role: MemberRole;
  decidedBy: string;
};

/** Decides, makes the project where it is a new one, and invites: all of it or nothing. */
const approve = async (
  deps: Deps,
  { requestId, projectId, newProject, role, decidedBy }: Approval,
) => {
  const place = projectId ?? newId();
  if (newProject === undefined && !(await findProject(deps.db, place)))
    throw new Refusal('not_found', { detail: 'There is no such project.' });
  return inProject(deps, place, async (scope) => {
    if (newProject !== undefined) await makeProject(scope, newProject);
    const decision = { requestId, status: 'approved', decidedBy, projectId: place } as const;
    const email = await decideRequest(scope.tx, decision);
    if (email === null) throw new Refusal('not_found', { detail: NONE });
    const { path } = await inviteMember(scope, { email, role, invitedBy: decidedBy });
    return { project_id: place, path };
  });
};

/** The private beta: who asks to be let in, and who lets them. */
export const accessProcedures = router({
  /** Keeps a request. The answer is the same for known and unknown addresses. */
  request: openProcedure.input(NewRequest).mutation(async ({ ctx, input }) => {
    await countAccessRequest(ctx.deps, { email: input.email, address: ctx.address });
    await insertRequest(ctx.deps.db, { requestId: newId(), ...input }, REQUESTS_WAITING_MAX);
    return { received: true };
  }),

  /** The requests, the newest first; decided ones stay. */
  list: adminProcedure
    .input(z.object({ status: z.enum(ACCESS_STATUSES).optional() }))
    .input(listInput)
    .query(async ({ ctx, input: { status = null, limit, cursor } }) => {
      const beforeId = readCursor(z.tuple([z.uuid()]), cursor)?.[0] ?? null;
      const rows = await listRequests(ctx.deps.db, { status, limit: limit + 1, beforeId });
      return toPage(rows, limit, {
        item: ({ access_request_id, requested_at, decided_at, ...request }) => ({
          id: access_request_id,
          ...request,
          requested_at: requested_at.toISOString(),
          decided_at: decided_at?.toISOString() ?? null,
        }),
        position: (row) => [row.access_request_id],
      });
    }),

  /** Lets somebody in: answers the link of their invitation, which is shown here and never again. */
  approve: adminProcedure
    .input(OfRequest.extend({ role: z.enum(MEMBER_ROLES) }))
    .input(Place)
    .mutation(({ ctx, input: { accessRequestId: requestId, projectId, newProject, role } }) => {
      const decidedBy = ctx.person.person_id;
      return approve(ctx.deps, { requestId, projectId, newProject, role, decidedBy });
    }),

  refuse: adminProcedure
    .input(OfRequest)
    .mutation(({ ctx, input: { accessRequestId: requestId } }) =>
      inInstallation(ctx.deps, async (tx) => {
        const decidedBy = ctx.person.person_id;
        const decision = { requestId, status: 'refused', decidedBy, projectId: null } as const;
        if ((await decideRequest(tx, decision)) === null)
          throw new Refusal('not_found', { detail: NONE });
        return { id: requestId };
      }),
    ),
});
