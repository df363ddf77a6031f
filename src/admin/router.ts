import { automationProcedures } from '../automations/admin.ts';
import { router } from '../base/procedure.ts';
import { sendProcedures } from '../delivery/admin.ts';
import * as delivery from '../delivery/delivery.ts';
import { eventProcedures } from '../ingest/admin.ts';
import { feedbackProcedures, webhookProcedures } from '../feedback/admin.ts';
import * as feedback from '../feedback/feedback.ts';
import * as ingest from '../ingest/ingest.ts';
import { profileProcedures } from '../profiles/admin.ts';
import * as profiles from '../profiles/profiles.ts';
import { keyProcedures, webhookTokenProcedures } from '../projects/admin.ts';
import { providerProcedures } from '../providers/admin.ts';
import { openCredential, sealCredential } from '../providers/providers.ts';
import { suppressionProcedures } from '../suppression/admin.ts';
import * as suppression from '../suppression/suppression.ts';
import { accessProcedures } from './access_procedures.ts';
import { accountProcedures } from './account_procedures.ts';
import { auditProcedures } from './audit_procedures.ts';
import { invitationProcedures } from './invitation_procedures.ts';
import { memberProcedures } from './member_procedures.ts';
import { overviewProcedures } from './overview.ts';
import { peopleProcedures } from './people_procedures.ts';
import { projectProcedures } from './project_procedures.ts';
import { sessionProcedures } from './session_procedures.ts';

/** Every procedure of the admin API. What is not in here does not exist. */
export const appRouter = router({
  session: sessionProcedures,
  account: accountProcedures,
  access: accessProcedures,
  people: peopleProcedures,
  projects: projectProcedures,
  members: memberProcedures,
  invitations: invitationProcedures,
  audit: auditProcedures,
  keys: keyProcedures,
  overview: overviewProcedures,
  events: eventProcedures,
  sends: sendProcedures,
  feedback: feedbackProcedures,
  profiles: profileProcedures,
  suppressions: suppressionProcedures({
    changeAddresses: profiles.changeAddresses,
    observeUnsubscribed: feedback.observeUnsubscribed,
    wake: ingest.wake,
  }),
  automations: automationProcedures,
  providers: providerProcedures({
    isStopped: suppression.mustBeLeftAlone,
    releaseRamped: delivery.releaseRamped,
  }),
  webhooks: webhookProcedures({ seal: sealCredential, open: openCredential }),
  webhookTokens: webhookTokenProcedures,
});

export type AppRouter = typeof appRouter;
