import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { EMAIL_CHARS_MAX } from '../base/email_address.ts';
import { newId } from '../base/ids.ts';
import { listInput } from '../base/page.ts';
import { editorProcedure, projectProcedure, router } from '../base/procedure.ts';
import { Refusal } from '../base/refusal.ts';
import { changesOf } from './changes.ts';
import type { Others } from './changes.ts';
import { readImport } from './import_list.ts';
import { pageSuppressions, pageUnsubscribes, readAddressState } from './listing.ts';
import { NewImport, NewLift, NewSuppression } from './schema.ts';
import { listImportedEmails } from './suppression.ts';

/** Changes of addresses by people in the Console. */
const source = 'console';

const Named = z.object({ email: z.string().min(1).max(EMAIL_CHARS_MAX) });
const Search = Named.partial();
const Said = z.object(NewSuppression.shape);
const Lifted = z.object({ ...Said.pick({ email: true }).shape, ...NewLift.shape });
const OfImport = z.object({ importId: z.uuid() });

const noteOf = (note: string | undefined) => (note === undefined ? {} : { note });

/** Each by what other rooms do about it, as for the routes. */
export const suppressionProcedures = (others: Others) => {
  const changes = changesOf(others);
  return router({
    /** Suppressed addresses, newest first. */
    list: projectProcedure
      .input(Search)
      .input(listInput)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, (scope) => pageSuppressions(scope, input)),
      ),

    /** Addresses that want no more marketing mail, the latest first. */
    unsubscribes: projectProcedure
      .input(Search)
      .input(listInput)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, (scope) => pageUnsubscribes(scope, input)),
      ),

    /** How an address stands, and what was done about it; nothing, when nobody ever mentioned it. */
    read: projectProcedure
      .input(Named)
      .query(({ ctx, input }) =>
        inProject(ctx.deps, input.projectId, (scope) => readAddressState(scope, input.email)),
      ),

    suppress: editorProcedure.input(Said).mutation(({ ctx: { deps }, input }) => {
      const { projectId, email, note } = input;
      return changes.suppress({ deps, projectId }, { email, source, ...noteOf(note) });
    }),

    lift: editorProcedure.input(Lifted).mutation(({ ctx: { deps }, input }) => {
      const { projectId, email, reason: note, lift_complaint: liftsComplaints } = input;
      return changes.lift({ deps, projectId }, { email, source, note, liftsComplaints });
    }),

    unsubscribe: editorProcedure.input(Said).mutation(({ ctx: { deps }, input }) => {
      const { projectId, email, note } = input;
      return changes.unsubscribe({ deps, projectId }, { email, source, ...noteOf(note) });
    }),

    resubscribe: editorProcedure.input(Said).mutation(({ ctx: { deps }, input }) => {
      const { projectId, email, note } = input;
      return changes.resubscribe({ deps, projectId }, { email, source, ...noteOf(note) });
    }),

    /** Takes a list in; answers what of it could not be read, and the id by which it is taken back. */
    import: editorProcedure
      .input(z.object({ list: NewImport }))
      .mutation(async ({ ctx: { deps }, input: { projectId, list } }) => {
        const { items, errors } = readImport(list);
        const told = { importId: newId(), source: 'import', note: list.note ?? null };
        const added = await changes.addImport({ deps, projectId }, told, items);
        return { import_id: told.importId, addresses: items.length, added, errors };
      }),

    undoImport: editorProcedure
      .input(OfImport)
      .mutation(async ({ ctx: { deps }, input: { projectId, importId } }) => {
        const { count } = await inProject(deps, projectId, (scope) =>
          listImportedEmails(scope, importId, 1),
        );
        if (count === 0) throw new Refusal('not_found', { detail: 'There is no such import.' });
        return { released: await changes.undoImport({ deps, projectId }, { importId, source }) };
      }),
  });
};
