import { Anchor, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isNotFound } from '../api.ts';
import type { SendDetail } from '../api.ts';
import { automation } from '../automation_queries.ts';
import { profile, provider } from '../queries.ts';
import { AutomationLink, ProviderLink } from './object_links.tsx';
import { nameOf } from './profile_name.ts';
import { When } from './when.tsx';

type Props = { projectId: string; send: SendDetail };

const Line = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th scope="row" fw={400} c="dimmed">
      {name}
    </Table.Th>
    <Table.Td className="breaks">{children}</Table.Td>
  </Table.Tr>
);

const policies: Record<string, string> = {
  hold: 'it waits until you say what became of it',
  resend: 'it is sent again, so it may arrive twice',
};

/** States of which the outcome may still be unknown in the end. */
const OPEN: SendDetail['status'][] = ['queued', 'handing_off', 'unknown'];

/** Names are read once: this page tells of a send, not of who has to do with it. */
const ONCE = { refetchInterval: false } as const;

const Person = ({ projectId, send: { profile_id: profileId } }: Props) => {
  const { data, error } = useQuery({ ...profile(projectId, profileId), ...ONCE });
  if (isNotFound(error)) return 'somebody who was erased';
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/p/$projectId/profiles/$profileId" params={{ projectId, profileId }} />
      )}
    >
      {data ? nameOf(data) : 'this profile'}
    </Anchor>
  );
};

/** Leads to why whoever it is for got it. */
const Automation = ({
  projectId,
  send: { profile_id: person, step_id },
  automationId,
}: Props & { automationId: string }) => {
  const { data, error } = useQuery({ ...automation(projectId, automationId), ...ONCE });
  if (isNotFound(error)) return 'an automation that was deleted';
  return (
    <>
      <AutomationLink projectId={projectId} automationId={automationId} person={person}>
        {data?.name ?? 'this automation'}, and why they got it
      </AutomationLink>
      {step_id !== null && ` · step ${step_id}`}
    </>
  );
};

const Provider = ({ projectId, send: { provider_id: providerId } }: Props) => {
  const { data, error } = useQuery({ ...provider(projectId, providerId), ...ONCE });
  if (isNotFound(error)) return 'a provider that was deleted';
  return (
    <ProviderLink projectId={projectId} providerId={providerId}>
      {data?.display_name ?? 'this provider'}
    </ProviderLink>
  );
};

/** When a queued send is tried next, at the end of what it waits for; null where it is due, or unknown. */
const nextTryOf = ({ status, due_at, waits_for }: SendDetail): string | null => {
  if (status !== 'queued' || due_at === null) return null;
  if (waits_for !== null && waits_for.until === null) return null;
  const until = waits_for?.until ?? due_at;
  const at = until > due_at ? until : due_at;
  return Date.parse(at) > Date.now() ? at : null;
};

/** What was decided about a send when it was planned. */
export const SendDecided = ({ projectId, send }: Props) => {
  const nextTry = nextTryOf(send);
  return (
    <Table>
      <Table.Tbody>
        <Line name="For">
          <Person projectId={projectId} send={send} />
        </Line>
        {send.automation_id !== null && (
          <Line name="Of">
            <Automation projectId={projectId} send={send} automationId={send.automation_id} />
          </Line>
        )}
        <Line name="Planned">
          <When at={send.queued_at} />
        </Line>
        {send.event_occurred_at !== null && (
          <Line name="Because of an event of">
            <When at={send.event_occurred_at} />
          </Line>
        )}
        <Line name="Through">
          <Provider projectId={projectId} send={send} />
        </Line>
        <Line name="Category">{send.category}</Line>
        {nextTry !== null && (
          <Line name="Tried next">
            <When at={nextTry} />
          </Line>
        )}
        <Line name="Not after">
          <When at={send.expires_at} />
        </Line>
        {OPEN.includes(send.status) && (
          <Line name="If its outcome stays unknown">
            {policies[send.on_unknown] ?? send.on_unknown}
          </Line>
        )}
      </Table.Tbody>
    </Table>
  );
};
