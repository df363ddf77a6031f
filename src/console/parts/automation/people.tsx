import {
  Alert,
  Anchor,
  Badge,
  Button,
  Group,
  Paper,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import type { Profile } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { runs } from '../../automation_queries.ts';
import type { Automation, Run } from '../../automation_queries.ts';
import { useAskedAbout } from '../asked_about.tsx';
import { Empty } from '../empty.tsx';
import { ForRole } from '../for_role.tsx';
import { Paged } from '../paged.tsx';
import { PersonLink } from '../person_link.tsx';
import { PersonPicker } from '../person_picker.tsx';
import { nameOf } from '../profile_name.ts';
import { When } from '../when.tsx';
import { Occurrences, Start } from './start.tsx';
import { Try } from './try.tsx';
import { Why } from './why.tsx';

const outcomeOf = ({ status, outcome }: Run): { word: string; color: string } => {
  if (status === 'active') return { word: 'On their way', color: 'cyan' };
  if (status === 'paused') return { word: 'Frozen', color: 'orange' };
  if (status === 'failed') return { word: 'Failed', color: 'red' };
  if (outcome === 'converted') return { word: 'Goal reached', color: 'teal' };
  return { word: (outcome ?? 'ended').replaceAll('_', ' '), color: 'gray' };
};

const What = ({ projectId, run, id }: { projectId: string; run: Run; id: string }) => (
  <Table.Tr>
    <Table.Td colSpan={5}>
      <Why projectId={projectId} automationId={run.automation_id} profileId={id} runId={run.id} />
    </Table.Td>
  </Table.Tr>
);

const At = ({ run: { step_id, wake_at } }: { run: Run }) => (
  <>
    <Text size="sm">{step_id ?? '–'}</Text>
    {wake_at !== null && step_id !== null && (
      <Group gap={4}>
        <Text size="xs" c="dimmed">
          until
        </Text>
        <When at={wake_at} />
      </Group>
    )}
  </>
);

const GoOn = ({ projectId, run }: { projectId: string; run: Run }) => {
  const retry = useChange(projectId, ['runs', 'automations'], () =>
    api.automations.retry.mutate({ projectId, automationId: run.automation_id, runId: run.id }),
  );
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={retry.isPending}
      onClick={() => retry.mutate(undefined)}
    >
      Have it go on
    </Button>
  );
};

const RunRow = ({ projectId, run }: { projectId: string; run: Run }) => {
  const [isOpen, setIsOpen] = useState(false);
  const { word, color } = outcomeOf(run);
  const { person, started_at, is_test } = run;
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <Group gap="xs">
            <PersonLink projectId={projectId} person={person} />
            {is_test && (
              <Badge size="sm" variant="outline">
                test
              </Badge>
            )}
          </Group>
          <Group gap="xs" hiddenFrom="sm">
            <Badge variant="light" color={color}>
              {word}
            </Badge>
            <When at={started_at} />
          </Group>
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <Badge variant="light" color={color}>
            {word}
          </Badge>
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <At run={run} />
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <When at={started_at} />
        </Table.Td>
        <Table.Td ta="right">
          {run.status === 'failed' && (
            <ForRole projectId={projectId} role="editor">
              <GoOn projectId={projectId} run={run} />
            </ForRole>
          )}
          {person !== null && (
            <Button
              size="compact-sm"
              variant="default"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              {isOpen ? 'Close' : 'What happened'}
            </Button>
          )}
        </Table.Td>
      </Table.Tr>
      {isOpen && person !== null && <What projectId={projectId} run={run} id={person.profile_id} />}
    </>
  );
};

const Runs = ({ projectId, kept, profile }: Props & { profile: Profile | null }) => {
  const list = useInfiniteQuery(runs(projectId, kept.id, profile?.id));
  return (
    <Paged
      list={list}
      empty={
        <Empty title={profile ? 'They were never in it' : 'Nobody came by yet'}>
          {profile
            ? 'Above is why.'
            : 'Whoever starts it once it is active is listed here, with every step and why.'}
        </Empty>
      }
    >
      {(items) => (
        <Table verticalSpacing="xs" withTableBorder>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Person</Table.Th>
              <Table.Th visibleFrom="sm">Where they stand</Table.Th>
              <Table.Th visibleFrom="sm">Step</Table.Th>
              <Table.Th visibleFrom="sm">Began</Table.Th>
              <Table.Th aria-label="What happened" />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map((run) => (
              <RunRow key={run.id} projectId={projectId} run={run} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Paged>
  );
};

type Props = { projectId: string; kept: Automation };
type PeopleProps = Props & {
  /** Whom the address asks about. */
  personId: string | undefined;
  onPerson: (person: Profile | null) => void;
};

/** Who is in it, who was, and why somebody did or did not get something. */
export const People = ({ projectId, kept, personId, onPerson }: PeopleProps) => {
  const profile = useAskedAbout(projectId, personId);
  return (
    <Stack>
      <Paper withBorder p="md" component="section">
        <Stack gap="sm">
          <Title order={2} size="h4">
            Why did they get it, or not?
          </Title>
          <PersonPicker
            key={profile?.id ?? 'nobody'}
            projectId={projectId}
            label="Person"
            picked={profile}
            onPick={onPerson}
            clearable
          />
          {profile !== null && (
            <>
              <Alert color="gray" p="xs">
                {nameOf(profile)} in this automation, the last time that they came:
              </Alert>
              <Why projectId={projectId} automationId={kept.id} profileId={profile.id} />
            </>
          )}
        </Stack>
      </Paper>
      {kept.definition?.trigger.kind === 'schedule' && (
        <Occurrences projectId={projectId} kept={kept} />
      )}
      <ForRole projectId={projectId} role="editor">
        {kept.definition?.trigger.kind === 'manual' && <Start projectId={projectId} kept={kept} />}
        <Try projectId={projectId} kept={kept} />
      </ForRole>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {profile === null ? 'Everybody, the last first' : `Runs of ${nameOf(profile)}`}
        </Title>
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link
              {...props}
              to="/p/$projectId/sends"
              params={{ projectId }}
              search={{ automation: kept.id }}
            />
          )}
        >
          All its mails
        </Anchor>
      </Group>
      <Runs projectId={projectId} kept={kept} profile={profile} />
    </Stack>
  );
};
