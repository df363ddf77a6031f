import type { Scope } from '../../src/base/db.ts';
import type { Deps } from '../../src/base/deps.ts';
import { saveProvider } from '../../src/providers/providers.ts';
import { saveTemplate } from '../../src/rendering/rendering.ts';
import type { SmtpSink } from './smtp_sink.ts';

/** Saves a provider that sends to a scripted relay, and returns its id. */
export const saveSink = (
  deps: Deps,
  projectId: string,
  { settings }: SmtpSink,
  fromEmail: string,
): Promise<string> =>
  saveProvider(deps, projectId, {
    display_name: 'Sink',
    from_email: fromEmail,
    from_name: null,
    reply_to: null,
    ...settings,
  });

/** Saves a template, and returns a step that sends it. */
export const saveMailStep = async (
  scope: Scope,
  providerId: string,
  {
    subject,
    name = subject,
    next = null,
  }: { subject: string; name?: string; next?: string | null },
) => ({
  kind: 'send_email' as const,
  provider_id: providerId,
  template_id: await saveTemplate(scope, { name, subject, html: '<p>Hello</p>', text: null }),
  template_version: 1,
  next,
});
