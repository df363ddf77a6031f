import { alertLimits, alertRoutes } from '../alerts/routes.ts';
import * as automations from '../automations/automations.ts';
import { automationLimits, automationRoutes, sendExplainRoutes } from '../automations/routes.ts';
import type { Limit, Route } from '../base/route.ts';
import { tokenLookupsOf } from '../base/token_lookups.ts';
import * as delivery from '../delivery/delivery.ts';
import {
  deliveryRoutes,
  retentionLimits,
  retentionRoutes,
  sendingLimitRoutes,
  sendingLimits,
} from '../delivery/routes.ts';
import * as feedback from '../feedback/feedback.ts';
import * as ingest from '../ingest/ingest.ts';
import {
  feedbackLimits,
  feedbackRoutes,
  settingLimits,
  settingRoutes,
} from '../feedback/routes.ts';
import { ingestLimits, ingestRoutes } from '../ingest/routes.ts';
import * as profiles from '../profiles/profiles.ts';
import { personRoutes, profileLimits, profileRoutes } from '../profiles/routes.ts';
import * as quotas from '../quotas/quotas.ts';
import { findCaller, findProject } from '../projects/projects.ts';
import {
  exists,
  findReady,
  listOutside,
  relocate,
  openCredential,
  sealCredential,
} from '../providers/providers.ts';
import { providerLimits, providerRoutes } from '../providers/routes.ts';
import * as segments from '../segments/segments.ts';
import { segmentLimits, segmentRoutes } from '../segments/routes.ts';
import { isUsable, listEventVariables } from '../rendering/rendering.ts';
import { templateLimits, templateRoutes } from '../rendering/routes.ts';
import {
  segmentLimits as doorLimits,
  segmentRoutes as doorRoutes,
} from '../segment_door/routes.ts';
import { suppressionLimits, suppressionRoutes } from '../suppression/routes.ts';
import * as suppression from '../suppression/suppression.ts';

/** The endpoints of a room, as the documents put them together. */
export type Section = {
  tag: string;
  about: string;
  routes: readonly Route[];
  limits?: readonly Limit[];
};

/** What feedback is handed of rooms that it does not ask. */
const feedbackDoors: Parameters<typeof feedbackRoutes>[0] = {
  findCaller,
  isProject: async (deps, projectId, address) => {
    const find = () => findProject(deps.db, projectId);
    const lookup = { kind: 'project', digest: projectId, address } as const;
    return (await tokenLookupsOf(deps).find(lookup, find)) !== null;
  },
  vault: { seal: sealCredential, open: openCredential },
};

/** The same for suppression. */
const suppressionDoors: Parameters<typeof suppressionRoutes>[0] = {
  changeAddresses: profiles.changeAddresses,
  observeUnsubscribed: feedback.observeUnsubscribed,
  wake: ingest.wake,
};

/** What automations are handed of rooms that they do not ask. */
const automationDoors: Parameters<typeof automationRoutes>[0] = {
  hasProvider: exists,
  isProviderReady: async (scope, providerId) => (await findReady(scope, providerId)) !== null,
  listOutside,
  relocate,
  hasTemplate: isUsable,
  listEventVariables,
  vault: feedbackDoors.vault,
};

/** What templates are handed of rooms that they do not ask. */
const templateDoors: Parameters<typeof templateRoutes>[0] = {
  listUsers: automations.listTemplateUsers,
  findPerson: async (scope, ref) => {
    const external = profiles.readExternalId(ref);
    const [person] = await profiles.listProfiles(
      scope,
      external === null ? { by: 'id', value: ref } : { by: 'external', value: external },
    );
    return person ? profiles.findForEmail(scope, person.id) : null;
  },
  findProjectName: async ({ db }, projectId) => (await findProject(db, projectId))?.name ?? '',
};

/** Every endpoint of the public API. What is not in this list does not exist. */
export const sections: readonly Section[] = [
  {
    tag: 'Events',
    about: 'What people did, as your product saw it. Everything else follows from events.',
    routes: ingestRoutes(quotas.admit),
    limits: [...ingestLimits, ...quotas.quotaLimits],
  },
  {
    tag: 'Profiles',
    about: 'Who is who, what is known of a person, and their timeline.',
    routes: [
      ...profileRoutes(automations.followLink, automations.listInProgress),
      ...personRoutes({
        sections: [
          segments.memberSection,
          segments.historySection,
          automations.runSection,
          automations.enrollmentSection,
          delivery.sendSection,
          feedback.noticeSection,
        ],
        erasers: [delivery.eraser],
      }),
    ],
    limits: profileLimits,
  },
  {
    tag: 'Segments',
    about: 'Who is alike: people by what is known of them and what they did, kept up to date.',
    routes: segmentRoutes(automations.listSegmentUsers),
    limits: segmentLimits,
  },
  {
    tag: 'Automations',
    about:
      'What should follow when something happens: triggers, steps, and people on their way through them.',
    routes: automationRoutes(automationDoors),
    limits: automationLimits,
  },
  {
    tag: 'Templates',
    about:
      'What mails say: versions that never change, tried when they are kept, shown before they are sent.',
    routes: templateRoutes(templateDoors),
    limits: templateLimits,
  },
  {
    tag: 'Email providers',
    about: 'Through whom a project sends, each with a from-address of its own.',
    routes: providerRoutes({
      isStopped: suppression.mustBeLeftAlone,
      releaseRamped: delivery.releaseRamped,
    }),
    limits: providerLimits,
  },
  {
    tag: 'Sends',
    about: 'The send log: every message that was meant for somebody, and what became of it.',
    routes: [...deliveryRoutes, ...sendingLimitRoutes, ...retentionRoutes, ...sendExplainRoutes],
    limits: [...sendingLimits, ...retentionLimits],
  },
  {
    tag: 'Suppressions',
    about: 'Addresses that must be left alone, and why.',
    routes: suppressionRoutes(suppressionDoors),
    limits: suppressionLimits,
  },
  {
    tag: 'Webhooks',
    about: 'Where your e-mail provider reports bounces, complaints and deliveries.',
    routes: [...feedbackRoutes(feedbackDoors), ...settingRoutes(feedbackDoors.vault)],
    limits: [...feedbackLimits, ...settingLimits],
  },
  {
    tag: 'Alerts',
    about: 'Conditions that the owner of a project has to act on.',
    routes: alertRoutes,
    limits: alertLimits,
  },
  {
    tag: 'Segment-compatible',
    about:
      "For Segment's and RudderStack's own libraries, with another host: their calls, translated into ours.",
    routes: doorRoutes(automations.followLink),
    limits: doorLimits,
  },
];

export const routes: readonly Route[] = sections.flatMap((section) => section.routes);
