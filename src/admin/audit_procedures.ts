import { adminProcedure, ownerProcedure, router } from '../base/procedure.ts';
import { AuditQuery, pageAudit, pageInstallationAudit } from './audit_log.ts';

export const auditProcedures = router({
  /** What was changed in the project, the newest first. */
  list: ownerProcedure
    .input(AuditQuery)
    .query(({ ctx, input: { projectId, ...query } }) => pageAudit(ctx.deps, projectId, query)),

  /** What was changed of the installation: people, and who was let in. */
  ofInstallation: adminProcedure
    .input(AuditQuery)
    .query(({ ctx, input }) => pageInstallationAudit(ctx.deps, input)),
});
