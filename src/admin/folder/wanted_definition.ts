import * as automations from '../../automations/automations.ts';
import type { Definition } from '../../automations/automations.ts';
import { listChanges } from '../list_changes.ts';
import type { AutomationFile } from './automation_file.ts';
import { chooseSender } from './senders.ts';
import type { Sender } from './senders.ts';

/** Which version of which template a key stands for. */
type Mails = ReadonlyMap<string, { templateId: string; version: number }>;

/** Who sends each step now. */
const sendersOf = (definition: Definition | null): Map<string, string> =>
  new Map(
    Object.entries(definition?.steps ?? {}).flatMap(([id, step]) =>
      step.kind === 'send_email' ? [[id, step.provider_id]] : [],
    ),
  );

type Sending = {
  mails: Mails;
  senders: readonly Sender[];
  said: string | undefined;
  /** The provider of each step as it is. */
  now: ReadonlyMap<string, string>;
};

const toDefinition = (file: AutomationFile, { mails, senders, said, now }: Sending): Definition => {
  const steps: Record<string, unknown> = {};
  for (const [id, { template, provider: named, ...step }] of Object.entries(
    file.definition.steps,
  )) {
    const mail = template === undefined ? undefined : mails.get(template);
    const wish = { by: file.name, named, said, now: now.get(id) };
    steps[id] = mail
      ? {
          ...step,
          provider_id: chooseSender(senders, wish),
          template_id: mail.templateId,
          template_version: mail.version,
        }
      : step;
  }
  return automations.Definition.parse({ ...file.definition, steps });
};

/** The definition that a file asks for, of the templates that are kept and the providers that there are. */
export const toWanted = (
  file: AutomationFile,
  known: Definition | null,
  sending: Omit<Sending, 'now'>,
): Definition => {
  const all = sendersOf(known);
  const there = new Set(sending.senders.map(({ provider_id }) => provider_id));
  const living = new Map([...all].filter(([, id]) => there.has(id)));
  // A file cannot name a provider that is gone: without another change that one stays.
  const unchanged = all.size > living.size && known && toDefinition(file, { ...sending, now: all });
  return unchanged && listChanges(known, unchanged).length === 0
    ? unchanged
    : toDefinition(file, { ...sending, now: living });
};
