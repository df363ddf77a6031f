import { alertProcedures } from '../alerts/admin.ts';
import { automationProcedures, endpointProcedures } from '../automations/admin.ts';
import * as automations from '../automations/automations.ts';
import { router } from '../base/procedure.ts';
import { sendingLimitProcedures, sendProcedures } from '../delivery/admin.ts';
import * as delivery from '../delivery/delivery.ts';
import { eventProcedures } from '../ingest/admin.ts';
import { feedbackProcedures, webhookProcedures } from '../feedback/admin.ts';
import * as feedback from '../feedback/feedback.ts';
import * as ingest from '../ingest/ingest.ts';
import { linkProcedures, profileProcedures } from '../profiles/admin.ts';
import * as profiles from '../profiles/profiles.ts';
import { keyProcedures, webhookTokenProcedures } from '../projects/admin.ts';
import { quotaProcedures } from '../quotas/admin.ts';
import { findProject } from '../projects/projects.ts';
import { providerProcedures, sendTestMail } from '../providers/admin.ts';
import {
  exists,
  findReady,
  listOutside,
  relocate,
  openCredential,
  sealCredential,
} from '../providers/providers.ts';
import { templateProcedures } from '../rendering/admin.ts';
import { isUsable, listEventVariables } from '../rendering/rendering.ts';
import { segmentProcedures } from '../segments/admin.ts';
import { suppressionProcedures } from '../suppression/admin.ts';
import * as suppression from '../suppression/suppression.ts';
import { accessProcedures } from './access_procedures.ts';
import { accountProcedures } from './account_procedures.ts';
import { auditProcedures } from './audit_procedures.ts';
import { folderProcedures } from './folder_procedures.ts';
import { installationProcedures } from './installation_procedures.ts';
import { invitationProcedures } from './invitation_procedures.ts';
import { libraryProcedures } from './library_procedures.ts';
import { memberProcedures } from './member_procedures.ts';
import { overviewProcedures } from './overview.ts';
import { previewProcedures } from './preview.ts';
import { peopleProcedures } from './people_procedures.ts';
import { projectProcedures } from './project_procedures.ts';
import { retentionProcedures } from './retention.ts';
import { sessionProcedures } from './session_procedures.ts';

/** Every procedure of the admin API. What is not in here does not exist. */
export const appRouter = router({
  session: sessionProcedures,
  account: accountProcedures,
  access: accessProcedures,
  people: peopleProcedures,
  installation: installationProcedures,
  projects: projectProcedures,
  members: memberProcedures,
  invitations: invitationProcedures,
  audit: auditProcedures,
  alerts: alertProcedures,
  retention: retentionProcedures,
  sendingLimits: sendingLimitProcedures,
  keys: keyProcedures,
  quotas: quotaProcedures,
  overview: overviewProcedures,
  events: eventProcedures,
  sends: sendProcedures,
  previews: previewProcedures,
  feedback: feedbackProcedures,
  profiles: profileProcedures,
  links: linkProcedures(automations.followLink, automations.listInProgress),
  suppressions: suppressionProcedures({
    changeAddresses: profiles.changeAddresses,
    observeUnsubscribed: feedback.observeUnsubscribed,
    wake: ingest.wake,
  }),
  readyMade: libraryProcedures,
  folder: folderProcedures,
  automations: automationProcedures({
    hasProvider: exists,
    isProviderReady: async (scope, providerId) => (await findReady(scope, providerId)) !== null,
    listOutside,
    relocate,
    hasTemplate: isUsable,
    listEventVariables,
  }),
  endpoints: endpointProcedures({ seal: sealCredential, open: openCredential }),
  templates: templateProcedures({
    listUsers: automations.listTemplateUsers,
    findPerson: async (scope, ref) => {
      const [found] = await profiles.listProfiles(scope, { by: 'id', value: ref });
      return found ? profiles.findForEmail(scope, found.id) : null;
    },
    findProjectName: async ({ db }, projectId) => (await findProject(db, projectId))?.name ?? '',
    sendTest: (deps, projectId, test) =>
      sendTestMail({ deps, projectId }, { ...test, isStopped: suppression.mustBeLeftAlone }),
  }),
  segments: segmentProcedures(automations.listSegmentUsers),
  providers: providerProcedures({
    isStopped: suppression.mustBeLeftAlone,
    releaseRamped: delivery.releaseRamped,
  }),
  webhooks: webhookProcedures({ seal: sealCredential, open: openCredential }),
  webhookTokens: webhookTokenProcedures,
});

export type AppRouter = typeof appRouter;
