import { inProject } from '../../src/base/db.ts';
import type { Scope } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { newId } from '../../src/base/ids.ts';
import * as delivery from '../../src/delivery/delivery.ts';
import { insertProfiles } from '../../src/profiles/queries.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import { saveSink } from './mail_steps.ts';
import type { SmtpSink } from './smtp_sink.ts';

type Intent = delivery.Intent;

/** What a send is made of: a record of a relay, a template, and a profile. */
export type Mail = { providerId: string; templateId: string; profileId: string };

export const makeMail = async (
  deps: Deps,
  projectId: string,
  sink: SmtpSink,
  fromEmail = 'hello@shop.test',
): Promise<Mail> => {
  const providerId = await saveSink(deps, projectId, sink, fromEmail);
  return inProject(deps, projectId, async (scope) => {
    const text = { name: 'x', subject: 'Hello', html: '<p>Hello</p>', text: null };
    const [templateId, profileId] = [await saveTemplate(scope, text), newId()];
    await insertProfiles(scope, [profileId], null);
    return { providerId, templateId, profileId };
  });
};

/** One send to each of them, all of one profile and one automation: a new one, if none is given. */
export const planSends = async (
  scope: Scope,
  mail: Mail,
  recipients: readonly string[],
  given: Partial<Pick<Intent, 'category' | 'automationId' | 'limits'>> = {},
): Promise<void> => {
  const automationId = newId();
  await delivery.plan(
    scope,
    recipients.map((recipient) => ({
      automationId,
      runId: newId(),
      stepId: 'x',
      identityId: null,
      ...mail,
      templateVersion: 1,
      eventId: newId(),
      eventOccurredAt: new Date(),
      recipient,
      ...given,
    })),
  );
};
