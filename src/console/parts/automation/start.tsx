import { Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Profile } from '../../api.ts';
import { segmentStarts } from '../../automation_queries.ts';
import type { Automation } from '../../automation_queries.ts';
import { useChange } from '../../changes.ts';
import { ForRole } from '../for_role.tsx';
import { PersonPicker } from '../person_picker.tsx';
import { Refused } from '../refused.tsx';
import { When } from '../when.tsx';
import { SegmentChoice } from './choice.tsx';
import { localTimeInWords } from './words.ts';

type Props = { projectId: string; kept: Automation };

const OnePerson = ({ projectId, kept }: Props) => {
  const [profile, setProfile] = useState<Profile | null>(null);
  const start = useChange(projectId, ['runs', 'automations'], (profileId: string) =>
    api.automations.start.mutate({ projectId, automationId: kept.id, profileId }),
  );
  return (
    <Stack gap="xs">
      <PersonPicker projectId={projectId} label="One person" onPick={setProfile} />
      <Button
        style={{ alignSelf: 'flex-start' }}
        variant="default"
        disabled={profile === null}
        loading={start.isPending}
        onClick={() => profile && start.mutate(profile.id)}
      >
        Start it for them
      </Button>
      {start.isSuccess && (
        <Alert color="teal" role="status">
          They are in.
        </Alert>
      )}
      <Refused error={start.error} />
    </Stack>
  );
};

const Everybody = ({ projectId, kept }: Props) => {
  const [segmentId, setSegmentId] = useState('');
  const [isSure, setIsSure] = useState(false);
  const names = ['segment_starts', 'runs'];
  const start = useChange(projectId, names, () =>
    api.automations.startSegment.mutate({ projectId, automationId: kept.id, segmentId }),
  );
  const press = (): void => {
    if (!isSure) return setIsSure(true);
    start.mutate(undefined);
    setIsSure(false);
  };
  return (
    <Stack gap="xs">
      <SegmentChoice
        projectId={projectId}
        label="Everybody in a segment"
        value={segmentId}
        onChange={setSegmentId}
      />
      <Button
        style={{ alignSelf: 'flex-start' }}
        variant={isSure ? 'filled' : 'default'}
        disabled={segmentId === ''}
        loading={start.isPending}
        onClick={press}
      >
        {isSure ? 'Yes, start it for everybody in it' : 'Start it for everybody in it'}
      </Button>
      <Refused error={start.error} />
    </Stack>
  );
};

const Starts = ({ projectId, kept }: Props) => {
  const { data } = useInfiniteQuery(segmentStarts(projectId, kept.id));
  const cancel = useChange(projectId, ['segment_starts'], (startId: string) =>
    api.automations.cancelSegmentStart.mutate({ projectId, startId }),
  );
  return (data?.pages.flatMap(({ items }) => items) ?? []).map((one) => (
    <Group key={one.id} gap="xs">
      {one.occurrence !== null && <Text size="sm">{localTimeInWords(one.occurrence)}</Text>}
      <Text size="sm">
        {one.reason === null ? one.status : 'too late'}: {one.examined.toLocaleString()} looked at,{' '}
        {one.started.toLocaleString()} started, {one.kept_out.toLocaleString()} kept out
      </Text>
      <When at={one.requested_at} />
      {one.ends_at !== null && (
        <Text size="sm" c="dimmed" component="span">
          done by <When at={one.ends_at} />
        </Text>
      )}
      {one.status === 'running' && (
        <ForRole projectId={projectId} role="editor">
          <Button size="compact-xs" variant="default" onClick={() => cancel.mutate(one.id)}>
            Stop starting people
          </Button>
        </ForRole>
      )}
    </Group>
  ));
};

/** Starts an automation by hand. */
export const Start = (props: Props) => (
  <Paper withBorder p="md" component="section">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Start it by hand
      </Title>
      {props.kept.status !== 'active' && (
        <Text size="sm" c="dimmed">
          Activate it first.
        </Text>
      )}
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <OnePerson {...props} />
        <Everybody {...props} />
      </Group>
      <Starts {...props} />
    </Stack>
  </Paper>
);

/** When a schedule starts people next, and what came of the times before. */
export const Occurrences = (props: Props) => (
  <Paper withBorder p="md" component="section">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Its schedule
      </Title>
      <Text size="sm" c="dimmed">
        {props.kept.occurrences.length === 0
          ? 'No time is to come.'
          : `Next: ${props.kept.occurrences.map(({ occurrence }) => localTimeInWords(occurrence)).join(', ')}`}
      </Text>
      <Starts {...props} />
    </Stack>
  </Paper>
);
