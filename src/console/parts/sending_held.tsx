import { Alert, Anchor, Button, Code, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPause } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { partOf } from '../load.ts';
import type { Resumed, Sending } from '../api.ts';
import { sending, session } from '../queries.ts';

const ResumeSending = partOf(() => import('./resume_sending.tsx'));

const reasons: Record<NonNullable<Sending['why']>, string> = {
  restored:
    'The database was restored from a backup, or a standby took its place, and does not know what was sent meanwhile.',
  by_hand: 'Somebody held sending, with make hold-sending.',
};

const since = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const wayOf = (why: Sending['why'], isAdmin: boolean): string => {
  if (!isAdmin) return 'An operator resumes it with';
  return why === 'restored' ? 'Then resume it here, or with' : 'Resume it here, or with';
};

/** What an operator does, by the way that is open to whoever reads it. */
const WhatToDo = ({ why, isAdmin }: { why: Sending['why']; isAdmin: boolean }) => (
  <Text size="sm">
    {why === 'restored' && (
      <>
        After a backup, first have those go again who were erased since:{' '}
        <Code className="unbroken">make erasures-replay</Code>.{' '}
      </>
    )}
    {wayOf(why, isAdmin)} <Code className="unbroken">make resume-sending</Code>.
  </Text>
);

const titleOf = ({ held_at }: Sending): string =>
  held_at === null ? 'Nothing is sent' : `Nothing is sent since ${since.format(new Date(held_at))}`;

const Held = ({ state, isAdmin, onResume }: HeldProps) => (
  <Alert
    color="orange"
    variant="light"
    role="status"
    icon={<IconPlayerPause />}
    title={titleOf(state)}
    mb="md"
  >
    <Stack gap={6} align="flex-start">
      <Text size="sm">
        {state.why !== null && reasons[state.why]} Events are taken as always; mail and automations
        wait.
      </Text>
      <WhatToDo why={state.why} isAdmin={isAdmin} />
      {isAdmin && (
        <Button size="xs" mt={4} onClick={onResume}>
          Resume sending
        </Button>
      )}
    </Stack>
  </Alert>
);
type HeldProps = { state: Sending; isAdmin: boolean; onResume: () => void };

const count = new Intl.NumberFormat();

/** What came of resuming, until it is read. */
const GoesOn = ({ resumed, projectId, onRead }: GoesOnProps) => (
  <Alert
    color="green"
    variant="light"
    role="status"
    title="Sending goes on"
    mb="md"
    withCloseButton
    closeButtonLabel="Close"
    onClose={onRead}
  >
    {resumed.unknown === 0 ? (
      'Nothing that waited is in doubt.'
    ) : (
      <Text size="sm">
        {resumed.unknown === 1
          ? 'One send that waited is unknown now'
          : `${count.format(resumed.unknown)} sends that waited are unknown now`}
        , over all projects: look for them at the provider, and say what became of them.{' '}
        {projectId !== undefined && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/p/$projectId/sends"
                params={{ projectId }}
                search={{ status: 'unknown' }}
              />
            )}
          >
            Those of this project
          </Anchor>
        )}
      </Text>
    )}
  </Alert>
);
type GoesOnProps = { resumed: Resumed; projectId: string | undefined; onRead: () => void };

/** Says on every page that nothing is sent, as long as that is so, why, and what to do about it. */
export const SendingHeld = ({ projectId }: { projectId?: string }) => {
  const person = useQuery(session).data?.person;
  const { data } = useQuery({ ...sending, enabled: person != null });
  const [isAsked, asked] = useDisclosure();
  const [resumed, setResumed] = useState<Resumed | null>(null);
  const isAdmin = person?.is_admin === true;
  return (
    <>
      {data?.is_held === true && <Held state={data} isAdmin={isAdmin} onResume={asked.open} />}
      {data?.is_held === false && resumed && (
        <GoesOn resumed={resumed} projectId={projectId} onRead={() => setResumed(null)} />
      )}
      {isAsked && (
        <Suspense>
          <ResumeSending why={data?.why ?? null} onClose={asked.close} onResumed={setResumed} />
        </Suspense>
      )}
    </>
  );
};
