import { z } from 'zod';
import { inProject } from '../base/db.ts';
import { listInput } from '../base/page.ts';
import { ownerProcedure, projectProcedure, router } from '../base/procedure.ts';
import { AlertSettings, readAlertSettings, writeAlertSettings } from './settings.ts';
import { ListedAlerts, pageAlerts } from './shown.ts';

export const alertProcedures = router({
  /** The project's alerts, the newest first. */
  list: projectProcedure
    .input(z.object({ status: ListedAlerts }))
    .input(listInput)
    .query(({ ctx, input: { projectId, ...wanted } }) =>
      inProject(ctx.deps, projectId, (scope) => pageAlerts(scope, wanted)),
    ),

  /** Which rates alert the owner. */
  settings: projectProcedure.query(({ ctx, input: { projectId } }) =>
    inProject(ctx.deps, projectId, readAlertSettings),
  ),

  changeSettings: ownerProcedure
    .input(z.object(AlertSettings.shape))
    .mutation(({ ctx, input: { projectId, ...settings } }) =>
      inProject(ctx.deps, projectId, (scope) => writeAlertSettings(scope, settings)),
    ),
});
